"""`tally audit verify` names each way of changing a workspace's record, seen by whoever runs the command."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally

Harm = Callable[[Path, Path], None]
"""Changes the audit folder or the mirror's folder."""


def _spoil(name: str, old: bytes, new: bytes) -> Harm:
    def harm(audit: Path, _mirror: Path) -> None:
        found = [path for path in audit.glob(name) if old in path.read_bytes()]
        assert found
        for path in found:
            path.write_bytes(path.read_bytes().replace(old, new, 1))

    return harm


def _delete(name: str) -> Harm:
    return lambda audit, mirror: [path.unlink() for path in [*audit.glob(name), *mirror.glob(name)]]  # type: ignore[return-value]


def _cut(audit: Path, _mirror: Path) -> None:
    [log] = audit.glob("journal/*.log")
    lines = log.read_bytes().rstrip(b"\0").splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))


HARMS: dict[str, tuple[Harm, set[str]]] = {
    "another tool in a header": (_spoil("journal/*.log", b'"tool_id":"loud"', b'"tool_id":"mild"'), {"signature_invalid"}),
    "another argument": (_spoil("journal/*.log", b"first words", b"other words"), {"payload_differs"}),
    "a changed session view": (_spoil("sessions/s1/*.jsonl", b"loud", b"mild"), {"view_differs"}),
    "a deleted session view": (_delete("sessions/s1/*.jsonl"), {"view_differs"}),
    "the last record cut off": (_cut, {"rolled_back"}),
    "the head blanked": (_delete("journal/head"), {"head_missing"}),
    "the mirror deleted": (_delete("*.head"), {"mirror_missing"}),
    "the checkpoints deleted": (_delete("journal/checkpoints"), {"checkpoint_missing"}),
    "a checkpoint changed": (_spoil("journal/checkpoints", b"\n\n", b"\n=\n"), {"checkpoint_invalid"}),
    "the policies deleted": (_delete("policies/*.toml"), {"policy_missing"}),
    "a policy eased": (_spoil("policies/*.toml", b'external = "ask"', b'external = "allow"'), {"policy_differs"}),
    "a tool's definition deleted": (_delete("tools/*.json"), {"tool_missing"}),
    "a tool's definition changed": (_spoil("tools/*.json", b'"effect":"read"', b'"effect":"write"'), {"tool_differs"}),
}  # fmt: skip


@pytest.mark.promise(
    "record.tamper-header",
    "record.tamper-payload",
    "record.tamper-view",
    "record.tamper-checkpoint",
    "record.head",
    "record.definitions",
)
@pytest.mark.parametrize("name", HARMS)
def test_each_change_is_named(tally: Tally, workspace: Path, name: str) -> None:
    for args in ('{"text":"first words"}', '{"text":"second"}'):
        assert tally("call", "word_count", args, "-s", "s1").code == 0
    assert tally("call", "loud", "{}", "-s", "s1").code == 0
    assert tally("audit", "head").code == 0
    assert tally("audit", "verify").code == 0
    harm, codes = HARMS[name]
    harm(workspace / ".control-room" / "audit", Path(os.environ["TALLY_STATE_DIR"]) / "heads")
    found = tally("--json", "audit", "verify")
    assert found.code == 1
    assert codes <= {problem["code"] for problem in json.loads(found.out)["problems"]}


@pytest.mark.promise("record.tamper-key")
def test_another_key_in_the_place_of_ours_is_refused(tally: Tally, workspace: Path) -> None:
    assert tally("call", "loud", "{}").code == 0
    other = workspace.parent / "other"
    shutil.copytree(workspace, other, ignore=shutil.ignore_patterns(".control-room"))
    assert tally("call", "loud", "{}", "--workspace", str(other)).code == 0
    for key in (other / ".control-room" / "audit").rglob("secret.key"):
        shutil.copy(key, workspace / key.relative_to(other))
    found = tally("--json", "audit", "verify")
    assert (found.code, "key_unknown" in found.out or "signature_invalid" in found.out) == (1, True)


@pytest.mark.promise("record.mirror-alarm")
def test_a_rolled_back_journal_without_its_mirror_is_an_alarm_until_a_person_accepts_it(
    tally: Tally, workspace: Path, token: str
) -> None:
    audit, kept = workspace / ".control-room" / "audit", workspace.parent / "kept"
    assert tally("call", "loud", "{}").code == 0
    shutil.copytree(audit, kept)
    assert tally("call", "word_count", '{"text":"what should be forgotten"}').code == 0
    shutil.rmtree(audit)
    shutil.copytree(kept, audit)
    shutil.rmtree(Path(os.environ["TALLY_STATE_DIR"]) / "heads")
    assert tally("call", "loud", "{}").code == 0
    for _ in range(2):
        found = tally("--json", "audit", "verify")
        assert found.code == 1
        assert [problem["code"] for problem in json.loads(found.out)["problems"]] == ["mirror_missing"]
        assert tally("call", "loud", "{}").code == 0
    refused = tally("audit", "accept-loss", "--reason", "x", "--yes")
    assert refused.code != 0
    accepted = tally("audit", "accept-loss", "--reason", "a new disk", "--yes", "--token", token)
    assert accepted.code == 0, accepted.err
    assert tally("audit", "verify").code == 0
