import os
from pathlib import Path

import pytest

from tallystick.gate.record.proof import proof_fault
from tallystick.storage.journal import disk
from tests.ledgers import AUDITOR, Workspace, fill


@pytest.mark.promise("record.rotation")
def test_old_receipts_verify_by_their_key_after_it_was_rotated(either: Workspace) -> None:
    with either.opened() as ledger:
        before = fill(ledger, 3)
        old, old_log = ledger.keys.active().key_id, ledger.keys.log_signer().verifier
        said = ledger.rotate(session=AUDITOR)
        after = fill(ledger, 3)
        assert said.header["key_id"] == old
        assert said.header["context"]["new_key"] == ledger.keys.active().key_id != old
        assert ledger.keys.log_signer().verifier != old_log
        assert all(ledger.find(receipt_id) for receipt_id in before + after)
        proof = ledger.prove(before[0])
        assert proof is not None
        assert proof_fault(proof, ledger.keys.log_signer().verifier) is None
    report = either.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["key_rotated"]
    with either.opened() as ledger:
        ledger.rotate(session=AUDITOR)
        fill(ledger, 1)
        assert all(ledger.find(receipt_id) for receipt_id in before + after)
    assert either.verify().ok


@pytest.mark.promise("record.rotation")
def test_a_retired_key_cannot_sign_new_records(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        retired = ledger.keys.active()
        ledger.rotate(session=AUDITOR)
        fill(ledger, 1)
        ledger._keys.active = lambda: retired  # type: ignore[method-assign]
        fill(ledger, 1)
    problem = workspace.verify().problems[0]
    assert (problem.code, problem.seq) == ("key_retired", 4)


@pytest.mark.promise("record.rotation")
def test_without_its_old_key_what_it_signed_is_unverifiable_and_never_valid(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 2)
        old = ledger.keys.active().key_id
        ledger.rotate(session=AUDITOR)
        late = fill(ledger, 1)
    (workspace.audit / "keys" / f"{old}.key").unlink()
    problem = workspace.verify().problems[0]
    assert (problem.code, problem.seq) == ("key_unknown", 0)
    with workspace.opened() as ledger:
        assert ledger.find(ids[0]) is None
        assert ledger.find(late[0]) is not None


@pytest.mark.promise("record.rotation")
def test_a_process_that_was_open_signs_with_the_new_key_too(either: Workspace) -> None:
    with either.opened() as first, either.opened() as second:
        fill(first, 2)
        fill(second, 2)
        first.rotate(session=AUDITOR)
        fill(second, 2)
        second.rotate(session=AUDITOR)
        fill(first, 2)
        fill(second, 2)
    assert either.verify().ok


@pytest.mark.parametrize("step", ["record", "secret", "log", "clean"])
@pytest.mark.promise("record.rotation")
def test_a_rotation_cut_off_at_any_step_is_finished_or_never_happened(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        keys = ledger.keys
        if step == "record":
            keys.begin_rotation(2)
        else:
            cut_off(monkeypatch, {"secret": 0, "log": 2, "clean": 4}[step], ledger, keys)
    monkeypatch.undo()
    with workspace.opened() as ledger:
        assert ledger.keys.pending_rotation() is None
        fill(ledger, 2)
        assert len({receipt.header["key_id"] for receipt in ledger.read()}) == (1 if step == "record" else 2)
    assert workspace.verify().ok
    assert not list((workspace.audit / "keys").glob("next*"))


def cut_off(monkeypatch: pytest.MonkeyPatch, after: int, ledger: object, keys: object) -> None:
    """Let the process die while it puts the new keys in force, after so many files."""
    real, left = disk.write_whole, [after]

    def dies(path: Path, data: bytes, *, durable: bool = True) -> None:
        if path.parent.name == "audit" or (path.suffix in {".key", ".vkey"} and "next" not in path.name):
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
        real(path, data, durable=durable)

    if after == 4:
        monkeypatch.setattr(keys, "abandon_rotation", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    else:
        monkeypatch.setattr(disk, "write_whole", dies)
    with pytest.raises(KeyboardInterrupt):
        ledger.rotate(session=AUDITOR)  # type: ignore[attr-defined]


def test_a_checkpoint_signed_with_a_retired_key_shows(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        retired = ledger.keys.log_signer()
        ledger.rotate(session=AUDITOR)
        fill(ledger, 1)
        ledger._keys.log_signer = lambda: retired  # type: ignore[method-assign]
        ledger.checkpoint()
    assert "checkpoint_key_retired" in workspace.codes()


def test_a_head_with_the_mac_of_a_retired_key_shows(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        retired = ledger.keys.active()
        ledger.rotate(session=AUDITOR)
        assert workspace.verify().ok  # the hand-over itself is the last thing that happened
        fill(ledger, 1)
        ledger._keys.active = lambda: retired  # type: ignore[method-assign]
        for _ in range(2):
            ledger._journal._writer.put_head()
        os.truncate(workspace.mirror, 0)
        assert "head_key_retired" in workspace.codes()
