"""A segment rolls over while others write: nobody adds to a file that the log has left, whatever sizes they were set to."""

import errno
import os
from pathlib import Path

import pytest

from tallystick.errors import LedgerUnwritable
from tallystick.storage.journal import disk
from tallystick.storage.journal.segments import CHECK_VALID_NS
from tests.faults.injected import injected
from tests.ledgers import Workspace, fill

SMALL = 4096
SEALED = 0o400


@pytest.fixture(params=["os", "fsync"])
def small(tmp_path: Path, request: pytest.FixtureRequest) -> Workspace:
    return Workspace(tmp_path, segment_bytes=SMALL, durability=request.param)


@pytest.fixture
def large(small: Workspace, tmp_path: Path) -> Workspace:
    """The same journal under another setting."""
    return Workspace(tmp_path, durability=small.ledger["durability"])


def stored(log: Path) -> int:
    """Bytes of records in it, without the room behind them."""
    return len(log.read_bytes().rstrip(b"\0"))


def segments(workspace: Workspace) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in sorted(workspace.journal.glob("*.log"))}


@pytest.mark.promise("record.roll-seen")
def test_a_glance_from_before_a_roll_does_not_let_a_record_into_the_old_segment(
    small: Workspace, large: Workspace
) -> None:
    with small.opened() as rolls, large.opened() as stays:
        for _ in range(4):
            while stored(small.log) < SMALL and len(segments(small)) == 1:
                fill(rolls, 1)
            fill(stays, 1)
            last = max(small.journal.glob("*.log"))
            while stored(last) < SMALL:
                fill(rolls, 1)
            fill(stays, 1)
            stays.ready()  # just before it writes
            before = stored(last)
            fill(rolls, 1)  # rolls over
            fill(stays, 1)
            assert stored(last) == before
        size = rolls.size()
    assert len(segments(small)) >= 4
    report = small.verify()
    assert report.ok
    assert report.size == size


@pytest.mark.promise("record.roll-seen")
def test_a_segment_that_a_crash_left_open_is_sealed_by_whoever_goes_on(small: Workspace, large: Workspace) -> None:
    with large.opened() as first:
        fill(first, 2)
        (small.journal / "000001.log").touch(mode=0o600)  # begun, and its process died before it sealed the one before
        with large.opened() as second:
            first.ready()
            fill(second, 2)
            fill(first, 2)
            fill(second, 1)
    assert segments(small)["000000.log"] == SEALED
    report = small.verify()
    assert report.ok
    assert report.size == 7


@pytest.mark.promise("record.roll-seen")
@pytest.mark.parametrize("name", ["fchmod", "open_file", "fsync"])
def test_a_roll_that_fails_leaves_everybody_in_the_old_segment(small: Workspace, large: Workspace, name: str) -> None:
    if name == "fsync" and small.ledger["durability"] == "os":
        name = "fchmod"
    with small.opened() as rolls, large.opened() as stays:
        while stored(small.log) < SMALL:
            fill(rolls, 1)
        size = rolls.size()
        with injected(name, nth=1, code=errno.EIO), pytest.raises(LedgerUnwritable):
            fill(rolls, 1)
        fill(stays, 1)
        fill(rolls, 2)
        fill(stays, 1)
        assert rolls.size() == size + 4
    assert small.verify().ok
    assert segments(small)["000000.log"] == SEALED


def test_a_seal_waits_until_no_glance_from_before_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("tallystick.storage.journal.segments.sleep", waited.append)
    with Workspace(tmp_path, segment_bytes=SMALL).opened() as ledger:
        while not waited:
            fill(ledger, 1)
    assert waited == [CHECK_VALID_NS / 1e9]
    assert disk.SEALED_MODE == SEALED


@pytest.mark.promise("record.rest")
def test_pages_of_a_segment_that_the_log_has_left_may_go(small: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(os, "posix_fadvise", lambda fd, *_: told.append(os.fstat(fd).st_ino), raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    with small.opened() as ledger:
        while len(segments(small)) < 3:
            fill(ledger, 1)
        size = ledger.size()
        view = next(small.root.rglob("tool_receipts.jsonl")).stat().st_ino
        first, second, _ = (path.stat().st_ino for path in sorted(small.journal.glob("*.log")))
    # Not the one that is written to, and none when the journal is closed.
    assert told == [first, view, second, view]
    assert small.verify().size == size


@pytest.mark.promise("record.rest")
def test_a_system_that_cannot_be_told_so_rolls_all_the_same(small: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    with small.opened() as ledger:
        while len(segments(small)) < 2:
            fill(ledger, 1)
    assert small.verify().ok
