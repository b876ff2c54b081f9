"""A phone and its Relay that share no code with sayso: opens what the binary seals with libsodium
(`pip install pynacl==1.6.2`), and answers.

    SAYSO=/path/to/sayso python3 tests/sdk/phone.py
"""

import base64
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

from nacl.bindings import (
    crypto_aead_xchacha20poly1305_ietf_decrypt,
    crypto_aead_xchacha20poly1305_ietf_encrypt,
    crypto_scalarmult,
    crypto_scalarmult_base,
)
from nacl.exceptions import CryptoError

SAYSO = os.path.realpath(os.environ["SAYSO"])
FIXTURE = Path(__file__).resolve().parent.parent / "fixtures/relay-seal.json"
DEADLINE = 20
PARTS = ("envelope_version", "sender_id", "device_id", "key_id", "client_event_id", "expires_at")
MEMBERS = [
    "id", "key", "agent", "agent_instance", "project", "session_id", "kind", "prompt", "choices",
    "text_max_length", "status", "request_digest", "nonce", "created_at", "expires_at",
]


def decode(text):
    assert "=" not in text and "+" not in text and "/" not in text, "not base64url without padding"
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unseal(secret, sealed, aad):
    data = decode(sealed)
    nonce, ephemeral, rest = data[:24], data[24:56], data[56:]
    key = crypto_scalarmult(secret, ephemeral)
    return crypto_aead_xchacha20poly1305_ietf_decrypt(rest, aad.encode(), nonce, key)


def refuses(secret, sealed, aad):
    try:
        unseal(secret, sealed, aad)
    except (CryptoError, RuntimeError):
        return True
    return False


def vectors():
    """Both published vectors, opened and made again; nothing that was changed opens."""
    found = json.loads(FIXTURE.read_text())["vectors"]
    assert len(found) == 2
    for vector in found:
        secret, aad, sealed = decode(vector["recipient_private"]), vector["aad"], vector["sealed"]
        assert crypto_scalarmult_base(secret) == decode(vector["recipient_public"])
        plain = vector["plaintext"].encode()
        assert unseal(secret, sealed, aad) == plain
        ephemeral, nonce = decode(vector["ephemeral_private"]), decode(vector["nonce"])
        key = crypto_scalarmult(ephemeral, decode(vector["recipient_public"]))
        made = crypto_aead_xchacha20poly1305_ietf_encrypt(plain, aad.encode(), nonce, key)
        assert encode(nonce + crypto_scalarmult_base(ephemeral) + made) == sealed
        nothing_changed_opens(secret, sealed, aad)
    print("ok   vectors")


def nothing_changed_opens(secret, sealed, aad):
    fields = aad.split("|")
    assert len(fields) == len(PARTS), aad
    for at, name in enumerate(PARTS):
        changed = "|".join(field + "x" if n == at else field for n, field in enumerate(fields))
        assert refuses(secret, sealed, changed), name
    data = decode(sealed)
    for at in (0, 24, 56, len(data) - 1):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert refuses(secret, encode(changed), aad), f"byte {at}"


class Phone:
    def __init__(self, name):
        self.name = name
        self.secret = os.urandom(32)

    def listed(self):
        public = encode(crypto_scalarmult_base(self.secret))
        return {"device_id": self.name, "key_id": f"key-{self.name}", "public_key": public}

    def read(self, envelope):
        (mine,) = (r for r in envelope["recipients"] if r["device_id"] == self.name)
        assert mine["key_id"] == f"key-{self.name}", mine
        aad = "|".join({**envelope, **mine}[part] for part in PARTS)
        nothing_changed_opens(self.secret, mine["ciphertext"], aad)
        return json.loads(unseal(self.secret, mine["ciphertext"], aad))

    def answer(self, envelope, question, **answer):
        return {
            "contract_version": "1",
            "response_id": os.urandom(8).hex(),
            "interaction_id": question["id"],
            "request_digest": question["request_digest"],
            "nonce": question["nonce"],
            "installation_id": envelope["sender_id"],
            "device_id": self.name,
            **answer,
        }


class Relay(http.server.ThreadingHTTPServer):
    """The three endpoints of a paired installation."""

    token = "inst_" + encode(os.urandom(32))
    installation = "installation-python"

    def __init__(self, phones):
        super().__init__(("127.0.0.1", 0), Endpoint)
        self.phones, self.envelopes, self.responses = phones, [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Endpoint(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin(self):
        assert self.headers["authorization"] == f"Bearer {self.server.token}"
        assert self.server.token not in self.path

    def do_GET(self):
        self.begin()
        path, _, query = self.path.partition("?")
        if path == "/v1/devices":
            return self.reply({"devices": [phone.listed() for phone in self.server.phones]})
        assert path == "/v1/interaction-responses", path
        asked = urllib.parse.parse_qs(query, keep_blank_values=True, strict_parsing=True)
        assert asked["installation_id"] == [self.server.installation], asked
        start = int(asked["since"][0] or 0)
        found = self.server.responses
        self.reply({"responses": found[start:], "next_cursor": str(len(found))})

    def do_POST(self):
        self.begin()
        assert self.path == "/v1/envelopes", self.path
        envelope = json.loads(self.rfile.read(int(self.headers["content-length"])))
        outbox = f"interaction:{envelope['client_event_id']}:python"
        assert self.headers["idempotency-key"] == self.headers["x-correlation-id"] == outbox
        assert set(envelope) - {"sender_name"} == {
            "envelope_version", "client_event_id", "expires_at", "recipients", "sender_id"
        }, envelope
        assert envelope["expires_at"].endswith("Z") and None not in envelope.values()
        self.server.envelopes.append(envelope)
        self.reply({"envelope_id": f"e{len(self.server.envelopes)}"})


class World:
    """A fresh home, a repository, and a configuration that names the Relay."""

    def __init__(self, root, relay):
        self.root, self.relay = Path(root), relay
        self.repo = self.root / "shop"
        for part in ("objects", "refs"):
            (self.repo / ".git" / part).mkdir(parents=True)
        (self.repo / ".git/HEAD").write_text("ref: refs/heads/main\n")
        config, private = self.root / ".config/sayso", self.root / "store/relay/python"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(
            f'[[relay]]\nprovider_id = "python"\nbase_url = "http://127.0.0.1:{relay.server_port}"\n'
            "allow_private = true\n[[relay.route]]\nenabled = true\ninclude_message = true\n"
        )
        os.umask(0o077)
        private.mkdir(parents=True)
        credentials = {"installation_id": relay.installation, "token": relay.token}
        (private / "credentials.json").write_text(json.dumps(credentials))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(root), "SAYSO_HOME": str(self.root / "store")}

    def run(self, *args):
        ran = subprocess.run([SAYSO, *args, "--json"], cwd=self.repo, env=self.env, capture_output=True)
        assert ran.returncode == 0, ran
        return json.loads(ran.stdout)["data"]


def expected(record):
    """The payload that a record must have become."""
    choices = [
        {"id": c["id"], "label": c["label"], "detail": c.get("detail")} for c in record.get("choices", [])
    ]
    members = {name: record.get(name) for name in MEMBERS}
    members["choices"] = choices
    # Both are there whatever the kind.
    members["text_max_length"] = record.get("text_max_length", 500)
    # A phone is shown safe text: what could hide or turn something is visible.
    for hidden in "\u202e\u200b\x1b":
        members["prompt"] = members["prompt"].replace(hidden, f"\\u{{{ord(hidden):x}}}")
    return {"payload_kind": "interaction-request", "contract_version": "1", "interaction": members}


def round_trip(world, phone, request, answer):
    """Asks, reads on the phone, answers there, fetches the answer."""
    before = len(world.relay.envelopes)
    record = world.run("request", *request)
    assert len(world.relay.envelopes) == before + 1, "not sent before the verb returned"
    envelope = world.relay.envelopes[-1]
    assert envelope["client_event_id"] == record["id"]
    payload = phone.read(envelope)
    kept = world.run("get", record["id"])
    assert payload == expected(kept), (payload, kept)
    assert list(payload["interaction"]) == MEMBERS, payload
    world.relay.responses.append(phone.answer(envelope, payload["interaction"], **answer))
    (polled,) = world.run("relay", "poll")
    assert (polled["provider_id"], polled["applied"], polled["fetched"]) == ("python", 1, 1), polled
    settled = world.run("get", record["id"])
    assert settled["status"] == "answered" and settled["response"]["source"] == "relay", settled
    assert settled["response"].items() >= {**answer, "device_id": phone.name}.items(), settled


def waiting(world, phone):
    """The process that waits fetches the answer itself."""
    before = len(world.relay.envelopes)
    ask = subprocess.Popen(
        [SAYSO, "ask", "Deploy?"], cwd=world.repo, env=world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + DEADLINE
    while len(world.relay.envelopes) == before and time.monotonic() < end:
        time.sleep(0.02)
    envelope = world.relay.envelopes[before]
    question = phone.read(envelope)["interaction"]
    world.relay.responses.append(phone.answer(envelope, question, choice_id="deny"))
    out, err = ask.communicate(timeout=DEADLINE)
    assert (out, ask.returncode) == (b"deny\n", 10), (out, err, ask.returncode)


def main():
    vectors()
    phones = [Phone("pixel"), Phone("old one")]
    relay = Relay(phones)
    with tempfile.TemporaryDirectory() as root:
        world = World(root, relay)
        hostile = "Deploy \u202e\u200b é \x1b[2J 🚀?"
        round_trip(world, phones[0], [hostile, "--key", "k", "--session", "s"], {"choice_id": "allow-once"})
        choices = ["--choice", "a:A", "--choice", "b:B", "--choice-detail", "b:the other"]
        kind = ["--kind", "single-choice"]
        round_trip(world, phones[1], ["Which?", *kind, *choices], {"choice_id": "b"})
        text = ["Name?", "--kind", "text", "--text-max", "20", "--agent-instance", "i"]
        round_trip(world, phones[0], text, {"text": "naïve 🚀"})
        print("ok   request, read by libsodium, answered, polled")
        waiting(world, phones[1])
        print("ok   ask, answered from the phone")


if __name__ == "__main__":
    sys.exit(main())
