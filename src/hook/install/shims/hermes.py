"""An approval transport that asks through sayso.

Hermes decides what needs approval; this only carries the question and the answer. Whatever goes wrong
raises, so that Hermes applies its own fallback: nothing is ever allowed because of a failure.
"""

import json
import logging
import subprocess

SAYSO = "@PROGRAM@"
EXTRA = "@EXTRA@"

LABELS = {
    "once": "Allow once",
    "session": "Allow for this session",
    "always": "Always allow",
    "deny": "Deny",
}

logger = logging.getLogger(__name__)


def present(request):
    choices = [choice for choice in request.allowed_choices if choice in LABELS]
    if "deny" not in choices or len(choices) < 2:
        raise ValueError("the request offers nothing to choose from")
    # Shorter than the host's own limit, so that the question is withdrawn before the host gives up.
    wait = int(min(request.timeout_seconds, 3600)) - 2
    if wait < 1:
        raise TimeoutError("the request leaves no time to ask")
    shown = {"command": request.command, "description": request.description}
    argv = [SAYSO, "ask", "--kind", "permission", "--no-prompt", "--timeout", str(wait)]
    argv += ["--prompt", "Hermes wants to run a command", "--tool", "terminal"]
    argv += ["--input", json.dumps(shown), "--native-request", request.request_id]
    for choice in choices:
        effect = "deny" if choice == "deny" else "allow"
        argv += ["--choice", f"{choice}:{LABELS[choice]}", "--effect", f"{choice}={effect}"]
    done = subprocess.run(
        argv + EXTRA,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=wait + 1,
        check=False,
    )
    answer = done.stdout.decode("utf-8").strip()
    # Exit code 0 is an allowing choice, 10 a denying one; anything else is no answer.
    if (done.returncode, answer == "deny") not in ((0, False), (10, True)):
        raise RuntimeError("sayso gave no answer")
    if answer not in choices:
        raise RuntimeError("sayso gave an answer that was not offered")
    return request.respond(answer)


def register(ctx):
    transport = getattr(ctx, "register_approval_transport", None)
    if transport is None:
        logger.warning("this Hermes has no approval transports; sayso is not used")
        return
    transport("sayso", present)
