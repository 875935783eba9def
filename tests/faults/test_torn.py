"""A last record that was never finished."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tallystick.errors import LedgerDamaged
from tallystick.storage.journal.segments import ROOM
from tests.faults.test_disk import full_disk
from tests.ledgers import Workspace, draft, fill
from tests.sizes import size


@pytest.mark.promise("record.torn-tail")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_a_log_cut_at_every_byte_of_a_record_nobody_was_told_of_goes_on(tmp_path: Path, durability: str) -> None:
    workspace = Workspace(tmp_path, durability=durability)
    with workspace.opened() as ledger:
        ids = fill(ledger, 3)
        shutil.copytree(workspace.root, tmp_path / "before")
        shutil.copytree(workspace.state, tmp_path / "state-before")
        fill(ledger, 1, start=3)
    whole = workspace.log.read_bytes()
    kept = sum(map(len, workspace.lines()[:3]))
    step = size(31, 1) if durability == "os" else size(101, 37)
    for cut in {*range(kept, len(whole) + 1, step), kept + 1, len(whole) - 1, len(whole)}:
        shutil.rmtree(workspace.root)
        shutil.copytree(tmp_path / "before", workspace.root)
        shutil.rmtree(workspace.state)
        shutil.copytree(tmp_path / "state-before", workspace.state)
        workspace.log.write_bytes(whole[:cut])
        assert workspace.verify().ok
        with workspace.opened() as ledger:
            assert all(ledger.find(receipt_id) for receipt_id in ids)
            fill(ledger, 1, start=9)
        report = workspace.verify()
        assert report.ok
        torn = cut not in {kept, len(whole)}
        assert ("torn_tail" in {note.code for note in report.notes}) is torn
        if torn:
            assert [path.read_bytes() for path in (workspace.journal / "torn").iterdir()] == [whole[kept:cut]]
        # Three, the one that was whole or the report, one more; each on a line of its own.
        assert len(workspace.lines()) == 4 + (cut != kept)


@pytest.mark.promise("record.torn-tail")
@pytest.mark.parametrize(
    "junk", [b"junk", b"junk\n", b"\n", b"{}\t\t\n", bytes(4096) + b"junk", b"\xff" * 100 + b"\n", b"\t\t\n\t\t\n"]
)
def test_whatever_a_crash_left_behind_the_last_record_is_set_aside(workspace: Workspace, junk: bytes) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 3)
    with workspace.log.open("ab") as file:
        file.write(junk)
    assert [note.code for note in workspace.verify().notes] == ["torn_tail"]
    with workspace.opened() as ledger:
        fill(ledger, 2)
        assert all(ledger.find(receipt_id) for receipt_id in ids)
    report = workspace.verify()
    assert report.ok
    assert [(note.code, note.seq) for note in report.notes] == [("torn_tail", 3)]
    assert [path.read_bytes() for path in (workspace.journal / "torn").iterdir()] == [junk]


@pytest.mark.promise("record.room")
def test_the_room_that_a_crash_left_is_neither_record_nor_damage_and_is_used_again(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    with workspace.opened() as ledger, workspace.opened() as other:
        ids = fill(ledger, 3) + fill(other, 2)
        assert workspace.log.stat().st_size > len(workspace.stored())
        assert workspace.verify().size == 5  # beside those who write
        left = workspace.copy(tmp_path / "killed")
    assert workspace.log.stat().st_size == len(workspace.stored())
    before = left.log.stat().st_size
    report = left.verify()
    assert report.ok
    assert not report.notes
    assert report.size == 5
    with left.opened() as ledger:
        ids += fill(ledger, 2)
        assert left.log.stat().st_size == before  # the records went into it
        assert all(ledger.find(receipt_id) for receipt_id in ids)
    assert left.log.stat().st_size == len(left.stored())
    report = left.verify()
    assert report.ok
    assert not report.notes


@pytest.mark.promise("record.room")
def test_whoever_closes_takes_no_room_with_records_of_others_in_it(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    first, second = workspace.open(), workspace.open()
    fill(first, 2)
    fill(second, 3)
    first.close()
    fill(second, 3)
    second.close()
    report = workspace.verify()
    assert report.ok
    assert report.size == 8


@pytest.mark.promise("record.room")
def test_behind_a_batch_that_is_longer_than_the_room_none_is_kept(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    many = 2 * len(ROOM) // 500

    async def together() -> None:
        await asyncio.gather(*(ledger.record(draft(at)) for at in range(many)))

    with workspace.opened() as ledger:
        asyncio.run(together())
        # One may have been stored before the others came.
        assert workspace.log.stat().st_size > len(ROOM)
        assert workspace.log.read_bytes()[-1:] == b"\n"
        ledger.record_sync(draft(many))
        assert workspace.log.read_bytes().endswith(ROOM)
        ledger.record_sync(draft(many + 1))
        assert ledger.size() == many + 2
    assert workspace.verify().ok


@pytest.mark.promise("record.room", "record.full-disk")
def test_on_a_disk_with_room_for_the_record_alone_it_is_stored(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    with workspace.opened() as ledger:
        fill(ledger, 1)
    with workspace.opened() as ledger:
        with full_disk(len(workspace.stored()) + 4096):
            fill(ledger, 2)
        assert workspace.log.stat().st_size < len(workspace.stored()) + 4096
        fill(ledger, 2)
    assert workspace.verify().ok


@pytest.mark.promise("record.torn-tail")
def test_a_torn_tail_that_another_process_left_is_set_aside_by_one_that_lives(workspace: Workspace) -> None:
    with workspace.opened() as first, workspace.opened() as second:
        fill(first, 2)
        with workspace.log.open("ab") as file:
            file.write(b'{"agent_id":"cut off')
        fill(second, 2)
        fill(first, 2)
    report = workspace.verify()
    assert report.ok
    assert report.size == 7
    assert [(note.code, note.seq) for note in report.notes] == [("torn_tail", 2)]


@pytest.mark.promise("record.adopted")
def test_whole_records_beyond_the_head_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
        head, mirror = (workspace.journal / "head").read_bytes(), workspace.mirror.read_bytes()
        late = fill(ledger, 2, session="s7", start=3)
        views = workspace.audit / "sessions" / "s7"
        shutil.copytree(workspace.root, tmp_path / "copy" / "work")
        assert views.exists()
    copy = Workspace(tmp_path / "copy", mirror=str(tmp_path / "copy.head"))
    (copy.journal / "head").write_bytes(head)
    (tmp_path / "copy.head").write_bytes(mirror)
    shutil.rmtree(copy.audit / "sessions" / "s7")
    assert "beyond_head" in {note.code for note in copy.verify().notes}
    with copy.opened() as ledger:
        assert all(ledger.find(receipt_id) for receipt_id in late)
        assert [receipt.receipt_id for receipt in ledger.session("s7")] == late
        fill(ledger, 1)
    assert copy.verify().ok


@pytest.mark.promise("record.damage-stops")
def test_damage_before_the_tail_stops_the_journal(workspace: Workspace) -> None:
    ledger = workspace.open()
    fill(ledger, 5)
    lines = workspace.lines()
    workspace.write_lines([*lines[:2], lines[2].replace(b"word_count", b"word_mount"), *lines[3:]])
    # Nothing was closed, so there is no checkpoint, and the whole log is read again.
    with pytest.raises(LedgerDamaged) as error:
        workspace.open()
    assert error.value.code == "journal_damaged"
    assert workspace.verify().problems[0].seq == 2


def test_a_torn_first_record_of_a_new_segment_is_set_aside(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, segment_bytes=4096)
    with workspace.opened() as ledger:
        while not (workspace.journal / "000001.log").exists():
            fill(ledger, 1)
        number = ledger.size()
    second = workspace.journal / "000001.log"
    lines = second.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1
    # As if the process had died before the head was written: the record before is the last that counts.
    with Workspace(tmp_path / "again", segment_bytes=4096).opened() as ledger:
        fill(ledger, number - 1)
    again = Workspace(tmp_path / "again", segment_bytes=4096)
    (again.journal / "000001.log").write_bytes(b'{"agent_id":')
    with again.opened() as ledger:
        ledger.record_sync(draft())
    report = again.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["torn_tail"]
    assert (again.journal / "000001.log").exists()
