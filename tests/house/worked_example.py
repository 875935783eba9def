"""The ledger in `docs/worked-example`: made with fixed keys, a fixed clock and fixed chance, so that it can be made again.

python -m tests.house.worked_example      writes the files anew, after a change of the format was decided
"""

import sys
from collections.abc import Callable
from hashlib import shake_256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from tallystick.app.replies import ReplyChecks
from tallystick.app.wiring import Parts
from tallystick.gate.decide.policy import Policy
from tallystick.gate.record.bundle import make_bundle
from tallystick.gate.record.canonical import canonical
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.session import LOCAL_OWNER, Caller, Session
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.settings import Settings, parse_settings
from tallystick.storage.keys import new_log_key, new_secret
from tallystick.storage.ledger import audit_folder, open_ledger
from tests.house.sources import ROOT

FOLDER = ROOT / "docs" / "worked-example"
SECRET = bytes(range(32))
SEED = bytes(range(32, 64))
START_NS = 1_767_323_045_678_901_000
"""2026-01-02T03:04:05.678901Z."""
STORY = "# One\n\nThe keeper climbed the stairs at dusk,\nas she had done every evening.\n"
QUOTE = "climbed the stairs at dusk, as she had done"
WHERE = Session(session_id="s1", agent_id="chief", turn_id="turn_1", caller=LOCAL_OWNER)


class StepClock:
    """A clock that goes on by a millisecond whenever it is looked at."""

    def __init__(self) -> None:
        self._looks = count()

    def wall_ns(self) -> int:
        return START_NS + next(self._looks) * 1_000_000

    def monotonic_ns(self) -> int:
        # In step with the wall clock: no jump is seen.
        return 0


def same_chance() -> Callable[[int], bytes]:
    """Bytes that look random and are the same every time."""
    calls = count()
    return lambda length: shake_256(b"tallystick worked example %d" % next(calls)).digest(length)


def make(workspace: Path) -> dict[str, bytes]:
    """Make the ledger in an empty folder; the files of the example by name."""
    settings = parse_settings({"ledger": {"durability": "os", "mirror": "off"}, "policy": {"write": "allow"}})
    audit = audit_folder(workspace)
    audit.mkdir(parents=True)
    _put_keys(audit)
    (workspace / "Story").mkdir()
    (workspace / "Story" / "one.md").write_text(STORY, encoding="utf-8")
    ledger = open_ledger(workspace, settings, http=PinnedHttpClient(), clock=StepClock(), random=same_chance())
    try:
        files = _fill(ledger, workspace, settings)
    finally:
        ledger.close()
    return files | {
        "secret.key": (audit / "secret.key").read_bytes(),
        "log.key": (audit / "log.key").read_bytes(),
        "000000.log": (audit / "journal" / "000000.log").read_bytes(),
        "checkpoints": (audit / "journal" / "checkpoints").read_bytes(),
        "head.hex": _as_hex((audit / "journal" / "head").read_bytes()),
        "tool_receipts.jsonl": (audit / "sessions" / "s1" / "tool_receipts.jsonl").read_bytes(),
    }


def _put_keys(audit: Path) -> None:
    for name, data in (("secret.key", new_secret(lambda _: SECRET)), ("log.key", new_log_key(lambda _: SEED))):
        path = audit / name
        path.touch(mode=0o600)
        path.write_bytes(data)


def _fill(ledger: Ledger, workspace: Path, settings: Settings) -> dict[str, bytes]:
    policy = Policy.from_settings(settings)
    ran = ledger.record_sync(
        Draft(
            kind="outcome",
            session=WHERE,
            tool_id="word_count",
            tool_version="5c" * 32,
            outcome={"status": "accepted"},
            context={"limits": {"steps": 6}, "counters": {"elapsed_ms": 12}},
            policy_digest=policy.digest,
            duration_us=184,
            inputs=orjson.dumps({"tool": "word_count", "args": {"path": "Story/one.md"}}),
            outputs=b"14",
        )
    )
    refused = ledger.record_sync(
        Draft(
            kind="outcome",
            session=WHERE,
            outcome={
                "status": "rejected", "fault": "format", "reason": "extra text around the object",
                "code": "INVALID_PAYLOAD", "call_code": "tool_call_invalid_format", "category": "validation_error",
            },
            policy_digest=policy.digest,
            duration_us=31,
            inputs=orjson.dumps({"text": "Sure! Here is what I found about Ms. Lind."}),
        )
    )  # fmt: skip
    parts = Parts(
        workspace=workspace, settings=settings, ledger=ledger, policy=policy, observer=None,
        redactor=Redactor(key=bytes(32), names=()),
    )  # fmt: skip
    reply = (
        "The keeper's evening is a habit, and the scene has 14 words.\n\n"
        f'Evidence: "{QUOTE}" Story/one.md:L3-L4; receipt {ran.receipt_id}'
    )
    findings = ReplyChecks(parts).check(reply, WHERE, tool_names=("word_count",))
    if not findings.ok:
        raise ValueError(f"the example's reply does not hold: {findings.reason}")
    erased_by = Session(session_id="s1", caller=Caller(subject="ada", channel="terminal"))
    ledger.erase(refused.receipt_id, session=erased_by, reason="names a person")
    proof = ledger.prove(ran.receipt_id)
    if proof is None:
        raise ValueError("the example's first receipt cannot be proved")
    return {
        "proof.json": canonical(proof.as_dict()) + b"\n",
        "bundle.json": make_bundle(ledger, reply, findings.receipt_id),
    }


def _as_hex(head: bytes) -> bytes:
    """Sixteen bytes a line; the file is short of its second stride's end, as it is on disk."""
    return b"".join(head[at : at + 16].hex(" ").encode() + b"\n" for at in range(0, len(head), 16))


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        FOLDER.mkdir(exist_ok=True)
        for name, data in make(Path(scratch) / "example").items():
            (FOLDER / name).write_bytes(data)
            sys.stdout.write(f"{name}: {len(data)} bytes\n")
