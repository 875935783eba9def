"""Power cuts, flipped bits and exhausted memory: what was acknowledged is there, or the damage is named."""

import contextlib
import random
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from tallystick.errors import TallyError
from tallystick.gate.record.record_verifier import MIRROR_ALARMS
from tallystick.storage.journal import disk
from tests.faults.power import unreliable
from tests.ledgers import AUDITOR, Workspace, draft, fill
from tests.sizes import FULL, size

linux = pytest.mark.skipif(sys.platform != "linux", reason="left out: /proc, which Linux has")


@linux
@pytest.mark.promise("record.power-cut")
@pytest.mark.parametrize("seed", range(size(12, 400)))
def test_after_a_power_cut_all_that_was_acknowledged_is_there_and_verifies(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    before = Workspace(tmp_path / "before", durability="fsync", segment_bytes=4096, checkpoint_every=5)
    with unreliable() as noted:
        ledger = before.open()
        told = fill(ledger, source.randint(1, 25))
        after = Workspace(tmp_path / "after", durability="fsync", segment_bytes=4096, checkpoint_every=5)
        noted.cut(tmp_path / "before", source)
        shutil.copytree(before.root, after.root)
        after.ledger["mirror"] = str(tmp_path / "after" / "mirror.head")
        shutil.copy(before.mirror, tmp_path / "after" / "mirror.head")
    with after.opened() as again:
        assert [one for one in told if again.find(one) is None] == []
        fill(again, 2, start=90)
        # Views are derived and not waited for.
        again.rebuild_views()
    report = after.verify()
    assert {problem.code for problem in report.problems} <= MIRROR_ALARMS, report.problems
    with after.opened() as again:
        for name in report.losses:
            again.accept_loss(name, session=AUDITOR, reason="the power failed")
    assert after.verify().ok


@pytest.mark.promise("record.bit-flips")
@pytest.mark.parametrize("seed", range(size(25, 1000)))
def test_a_bit_flipped_anywhere_in_the_journal_is_named_or_refused(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    workspace = Workspace(tmp_path)
    with workspace.opened() as ledger:
        told = fill(ledger, 20)
    data = bytearray(workspace.stored())
    place = source.randrange(len(data))
    data[place] ^= 1 << source.randrange(8)
    workspace.log.write_bytes(bytes(data))
    assert not workspace.verify().ok
    try:
        with workspace.opened() as ledger:
            read = [receipt for one in told if (receipt := ledger.find(one)) is not None]
    except TallyError:
        return
    # What is still given out is what was recorded.
    assert all(receipt.inputs is None or receipt.inputs["n"] == told.index(receipt.receipt_id) for receipt in read)


@pytest.mark.promise("record.bit-flips")
@pytest.mark.parametrize("seed", range(size(6, 100)))
def test_a_corrupt_database_is_an_error_of_ours_and_the_log_still_verifies(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    workspace = Workspace(tmp_path)
    with workspace.opened() as ledger:
        fill(ledger, 3)
    database = workspace.root / ".control-room" / "tallystick.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.executemany("INSERT INTO alembic_version VALUES (?)", [(str(number) * 40,) for number in range(200)])
    connection.close()
    data = bytearray(database.read_bytes())
    for _ in range(50):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
    database.write_bytes(bytes(data))
    assert workspace.verify().ok


@pytest.mark.promise("record.memory-exhausted")
@pytest.mark.parametrize("name", ["write", "pwrite", "fdatasync"])
def test_memory_that_runs_out_in_the_ledger_loses_nothing_that_was_acknowledged(tmp_path: Path, name: str) -> None:
    nth = 1
    while True:
        workspace = Workspace(tmp_path / str(nth), durability="fsync")
        told, hit = _out_of_memory(workspace, name, nth)
        with workspace.opened() as ledger:
            assert [one for one in told if ledger.find(one) is None] == []
            fill(ledger, 1, start=50)
        assert {problem.code for problem in workspace.verify().problems} <= MIRROR_ALARMS
        if not hit:
            assert len(told) == 8
            return
        nth += 1 if FULL else 3


def _out_of_memory(workspace: Workspace, name: str, nth: int) -> tuple[list[str], bool]:
    real, calls, told = getattr(disk, name), 0, list[str]()

    def fail(*args: object) -> object:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise MemoryError
        return real(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, name, fail)
        ledger = None
        try:
            ledger = workspace.open()
            for number in range(8):
                told.append(ledger.record_sync(draft(number)).receipt_id)
        except (MemoryError, TallyError):
            pass
        finally:
            if ledger is not None:
                with contextlib.suppress(MemoryError, TallyError, OSError):
                    ledger.close()
    return told, calls >= nth
