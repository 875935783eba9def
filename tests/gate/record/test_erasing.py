"""What was ordered to be erased is gone wherever it stood, for whoever owns the files, and a failure can be repeated."""

import errno
import os
import tempfile
from pathlib import Path

import orjson
import pytest

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.ledger import Ledger
from tallystick.storage.journal import disk
from tests.faults.injected import injected
from tests.ledgers import AUDITOR, Workspace, draft, fill

NOBODY = 65534


def one_call(ledger: Ledger, secret: str) -> tuple[str, str]:
    """A call that may change something: the record of its beginning, and its outcome, both with the arguments."""
    asked = orjson.dumps({"tool": "send", "args": {"to": secret}})
    began = ledger.record_sync(draft(kind="started", outcome=None, outputs=None, inputs=asked)).receipt_id
    ended = ledger.record_sync(draft(inputs=asked, links={"started": began})).receipt_id
    return began, ended


@pytest.mark.promise("record.erasure")
@pytest.mark.parametrize("asked_for", [0, 1])
@pytest.mark.parametrize("length", [1, 90_000])
def test_erasing_a_call_erases_its_arguments_wherever_they_stand(
    workspace: Workspace, asked_for: int, length: int
) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        call = one_call(ledger, "Ms. Lind" + "x" * length)
        other = one_call(ledger, "somebody else")
        said = ledger.erase(call[asked_for], session=AUDITOR, reason="asked")
        assert said.header["links"] == {"erased": call[asked_for]}
        assert [found is not None and found.erased for found in map(ledger.find, (*call, *other))] == [1, 1, 0, 0]
    assert not [path for path in workspace.root.rglob("*") if path.is_file() and b"Ms. Lind" in path.read_bytes()]
    report = workspace.verify()
    assert report.ok, report.problems
    assert [(note.code, note.receipt_id) for note in report.notes] == [("payload_erased", one) for one in call]


def closed_to_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk refuse what it refuses everybody but root."""
    real = disk.open_file

    def as_anybody(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_ACCMODE != os.O_RDONLY and path.exists() and not path.stat().st_mode & 0o200:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, mode)

    monkeypatch.setattr(disk, "open_file", as_anybody)


@pytest.mark.promise("record.erasure")
def test_a_payload_in_a_full_segment_is_erased_by_its_owner_and_the_segment_stays_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed_to_writing(monkeypatch)
    workspace = Workspace(tmp_path, segment_bytes=4096)
    with workspace.opened() as ledger:
        ids = fill(ledger, 20)
        assert workspace.log.stat().st_mode & 0o777 == 0o400
        ledger.erase(ids[0], session=AUDITOR, reason="asked")
        assert workspace.log.stat().st_mode & 0o777 == 0o400
        fill(ledger, 3)
    assert workspace.lines()[0].split(b"\t")[1].rstrip(b" ") == b"~"
    assert workspace.verify().ok


@pytest.mark.skipif(os.geteuid() != 0, reason="anybody but root is kept out of closed files by the system itself")
def test_an_owner_who_is_not_root_erases_in_a_full_segment() -> None:
    # Not below pytest's own folder, which is closed to everybody else.
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        workspace = Workspace(Path(folder), segment_bytes=4096)
        os.seteuid(NOBODY)
        try:
            with workspace.opened() as ledger:
                ids = fill(ledger, 20)
                ledger.erase(ids[0], session=AUDITOR, reason="asked")
            assert workspace.verify().ok
        finally:
            os.seteuid(0)
        assert workspace.lines()[0].split(b"\t")[1].rstrip(b" ") == b"~"


@pytest.mark.promise("record.erasure")
@pytest.mark.parametrize("name", ["open_file", "pwrite", "fsync", "unlink", "replace", "fchmod"])
def test_an_erasure_that_the_disk_does_not_let_through_says_so_and_can_be_repeated(tmp_path: Path, name: str) -> None:
    workspace = Workspace(tmp_path, segment_bytes=200_000, inline_bytes=2_000)
    with workspace.opened() as ledger:
        asked_for = ledger.record_sync(draft(inputs=orjson.dumps("Ms. Lind" + "x" * 4_000))).receipt_id
        fill(ledger, 300)
        for nth in range(1, 12):
            with pytest.MonkeyPatch.context() as patch:
                closed_to_writing(patch)
                error = erase_while_failing(ledger, asked_for, name, nth)
            if error is None:
                break
            assert error.code in {"erasure_unfinished", "ledger_unwritable"}
        else:
            pytest.fail("it never came to its end")
        ledger.finish_erasure(asked_for)
    assert not [path for path in workspace.root.rglob("*") if path.is_file() and b"Ms. Lind" in path.read_bytes()]
    assert workspace.verify().ok


def erase_while_failing(ledger: Ledger, receipt_id: str, name: str, nth: int) -> LedgerUnwritable | None:
    """Erase while the n-th call of one kind fails; what was said, or None if all went well."""
    with injected(name, nth=nth):
        try:
            ledger.erase(receipt_id, session=AUDITOR, reason="asked")
        except LedgerUnwritable as error:
            return error
    return None


@pytest.mark.promise("record.erasure")
def test_a_payload_that_is_erased_in_part_shows(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 2)
        ledger.erase(ids[0], session=AUDITOR, reason="asked")
    lines = workspace.lines()
    workspace.write_lines([lines[0].replace(b"~   ", b"~  x", 1), *lines[1:]])
    assert "payload_differs" in workspace.codes()
    with workspace.opened() as ledger:
        ledger.finish_erasure(ids[0])
    assert workspace.verify().ok
