"""Asks for a permission as the hooks of the older client did: request, wait, print the host's decision.

    older_hook.py PROGRAM SECONDS [--ttl SECONDS] < payload.json

PROGRAM is what stands on PATH in that client's place, under whatever name. Where there is no decision,
nothing is printed; the exit code is 0 either way, so that the host asks by itself.
"""

import json
import subprocess
import sys

SLICE = 120


def run(program, arguments, limit):
    """What the program printed as JSON; None where it failed, hung or printed anything else."""
    try:
        done = subprocess.run([program, *arguments], timeout=limit, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        told = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return told if isinstance(told, dict) else None


def ask(program, payload, ttl):
    session = payload["session_id"]
    what = " ".join((payload["tool_name"], payload["tool_input"]["command"]))
    project = payload["cwd"].rstrip("/").rpartition("/")[2]
    return run(
        program,
        [
            "interactions", "request", "--kind", "permission", "--prompt", "Codex approval: " + what,
            "--choice", "allow:Allow once", "--choice", "deny:Deny", "--agent", "codex", "--project", project,
            "--session", session, "--key", f"{project}-{session[:8]}-ask", "--ttl", ttl,
        ],
        15,
    )


def wait(program, asked, seconds):
    """The record once it is settled; None if it still is not when the time is up."""
    while seconds > 0:
        part = min(SLICE, seconds)
        record = run(program, ["interactions", "wait", asked["id"], "--timeout", str(part)], part + 30)
        if record is None or record["status"] != "pending":
            return record
        seconds -= part
    return None


def decision(record):
    if record is None or record["status"] != "answered":
        return None
    behavior = record["response"]["choice_id"]
    if behavior not in ("allow", "deny"):
        return None
    told = {"behavior": behavior}
    if behavior == "deny":
        told["message"] = "denied by the operator"
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": told}}


def main(program, seconds, *rest):
    payload = json.load(sys.stdin)
    ttl = rest[1] if rest[:1] == ("--ttl",) else str(max(60, int(seconds) + 60))
    asked = ask(program, payload, ttl)
    if asked is None or asked["status"] != "pending" or not asked["id"] or not asked["request_digest"]:
        return
    # That client told its notices too, and did not look at what became of it.
    subprocess.run([program, "send", "--title", "waiting"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    told = decision(wait(program, asked, int(seconds)))
    if told is not None:
        print(json.dumps(told), flush=True)


main(*sys.argv[1:])
