"""A caller that is told when its record is durable: view and head follow, whoever comes between and whatever fails."""

import asyncio
import errno
from pathlib import Path

import orjson
import pytest

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.commit import append_one
from tallystick.gate.record.ledger import Ledger
from tests.faults.injected import injected
from tests.faults.processes import acked, start, wait_for
from tests.ledgers import AUDITOR, Workspace, draft, fill


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, durability="fsync")


def early(ledger: Ledger, number: int = 0, session: str = "s1") -> str:
    """Store a record as for a caller that does not wait for the rest; its id."""
    seal = ledger._prepare(draft(number, session=session))[1]
    return append_one(ledger._journal, seal, early=True).receipt_id


def view(workspace: Workspace, session: str = "s1") -> list[int]:
    path = workspace.audit / "sessions" / session / "tool_receipts.jsonl"
    return [orjson.loads(line)["seq"] for line in path.read_bytes().splitlines()]


def notes(workspace: Workspace) -> list[str]:
    report = workspace.verify()
    assert report.ok, report.problems
    return [note.code for note in report.notes]


@pytest.mark.promise("record.told-early")
def test_the_record_is_there_at_once_and_view_and_head_when_it_is_settled(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        found = early(ledger)
        assert view(workspace) == [0]
        assert notes(workspace) == ["beyond_head"]
        assert ledger.find(found) is not None
        ledger._journal.settle()
        ledger._journal.settle()
        assert view(workspace) == [0, 1]
        assert notes(workspace) == []


@pytest.mark.promise("record.told-early")
def test_whoever_reads_or_writes_next_in_this_process_settles_first(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        found = [early(ledger)]
        assert [receipt.receipt_id for receipt in ledger.session("s1")][1:] == found
        early(ledger)
        early(ledger)  # finds the one before still owed
        assert view(workspace) == [0, 1, 2, 3]
        early(ledger)
        fill(ledger, 1)
        assert view(workspace) == [0, 1, 2, 3, 4, 5]
        early(ledger)
        ledger.checkpoint()
        assert notes(workspace) == []
        early(ledger)
        assert ledger.size() == 8
        assert notes(workspace) == []
        ledger.erase(early(ledger), session=AUDITOR, reason="asked")
        early(ledger)
    assert view(workspace) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert notes(workspace) == ["payload_erased"]


@pytest.mark.promise("record.told-early", "record.adopted")
def test_a_process_that_dies_before_it_settles_loses_nothing(workspace: Workspace, tmp_path: Path) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
        found = early(ledger)
        died = workspace.copy(tmp_path / "died")
    with died.opened() as ledger:
        assert ledger.find(found) is not None
        assert view(died) == [0, 1, 2, 3]
        fill(ledger, 1)
    assert notes(died) == []


@pytest.mark.promise("record.told-early", "record.one-chain")
@pytest.mark.parametrize(
    "does", ["reads", "writes", "notes", "opens", "rotates", "erases", "writes thrice", "noted before"]
)
def test_another_process_that_comes_between_takes_the_record_over(workspace: Workspace, does: str) -> None:
    with workspace.opened() as ledger, workspace.opened() as other:
        fill(ledger, 2)
        fill(other, 1)
        fill(ledger, 1)
        if does == "noted before":  # a head that says nothing of the record, and that this process has not seen
            other.checkpoint()
        found = early(ledger)
        if does == "reads":
            assert other.find(found) is not None
        elif does == "writes":
            fill(other, 1)
        elif does == "writes thrice":  # so that both slots of the head are another's
            fill(other, 3)
        elif does == "notes":
            other.checkpoint()
        elif does == "opens":
            with workspace.opened() as third:
                assert third.size() == 5
        elif does == "rotates":
            other.rotate(session=AUDITOR)
        elif does == "erases":
            other.erase(found, session=AUDITOR, reason="asked")
        ledger._journal.settle()
        assert view(workspace)[:5] == [0, 1, 2, 3, 4]
        early(ledger)
        ledger._journal.settle()
        fill(other, 1)
        early(ledger)
    seqs = view(workspace)
    assert seqs == sorted(set(seqs))
    assert notes(workspace) == {"rotates": ["key_rotated"], "erases": ["payload_erased"]}.get(does, [])


@pytest.mark.promise("record.told-early")
def test_a_head_that_cannot_be_written_is_owed_and_stops_the_next_record(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        found = early(ledger)
        with injected("pwrite", nth=1, for_ever=True, code=errno.ENOSPC):
            ledger._journal.settle()
            with pytest.raises(LedgerUnwritable):
                early(ledger)
            with pytest.raises(LedgerError):
                ledger.size()
        assert notes(workspace) == ["beyond_head"]
        fill(ledger, 1)
        assert ledger.find(found) is not None
        assert view(workspace) == [0, 1, 2]
    assert notes(workspace) == []


@pytest.mark.promise("record.told-early")
@pytest.mark.parametrize("short", [False, True])
def test_a_view_that_cannot_be_written_holds_nothing_up_and_is_mended(workspace: Workspace, short: bool) -> None:  # noqa: FBT001
    with workspace.opened() as ledger:
        fill(ledger, 1)
        early(ledger)
        with injected("write", nth=1, code=errno.ENOSPC, short=short):
            ledger._journal.settle()
        fill(ledger, 1)
    with workspace.opened() as ledger:
        assert len(list(ledger.session("s1"))) == 3
    assert view(workspace) == [0, 1, 2]
    assert notes(workspace) == []


@pytest.mark.promise("record.told-early")
def test_an_fsync_that_fails_is_told_to_the_caller_and_nothing_more_is_taken(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        early(ledger)
        ledger._journal.settle()
        with injected("fdatasync", nth=1), pytest.raises(LedgerUnwritable) as error:
            early(ledger)
        assert error.value.code == "ledger_fsync_failed"
        with pytest.raises(LedgerUnwritable):
            early(ledger)


@pytest.mark.promise("record.told-early")
def test_a_caller_in_a_loop_is_told_before_the_head_and_the_next_round_writes_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.gate.record.commit.FAST_COMMIT_S", 60.0)  # whatever the disk does just now

    async def main() -> None:
        ledger.ack_after_fsync()
        await ledger.record(draft())
        while not (ledger._group and ledger._group._waiting):  # noqa: ASYNC110 - the thread tells nobody that it sleeps
            await asyncio.sleep(0.001)
        await ledger.record(draft())  # opens the view
        await asyncio.sleep(0)
        for number in range(20):
            told = notes(workspace)
            await ledger.record(draft(number))
            beyond = notes(workspace)
            await asyncio.sleep(0)
            assert (told, beyond, notes(workspace)) == ([], ["beyond_head"], [])

    with workspace.opened() as ledger:
        asyncio.run(main())
    assert view(workspace) == list(range(22))


@pytest.mark.promise("record.told-early", "record.one-chain")
def test_processes_that_are_told_early_and_others_make_one_chain(workspace: Workspace, tmp_path: Path) -> None:
    acks = [tmp_path / f"acks-{at}" for at in range(4)]
    started = [
        start(workspace, path, session=f"s{at % 2}", number=100, early=at % 2 == 0) for at, path in enumerate(acks)
    ]
    wait_for(started, acks, 400)
    assert [process.wait(60) for process in started] == [0] * 4
    assert len({receipt_id for path in acks for receipt_id in acked(path)}) == 400
    assert notes(workspace) == []
    assert sorted(view(workspace, "s0") + view(workspace, "s1")) == list(range(400))


@pytest.mark.promise("record.told-early", "record.replaced")
@pytest.mark.parametrize("how", ["deleted", "replaced", "cut", "read-only"])
def test_a_log_that_is_not_what_it_was_is_noticed_while_calls_go_on(workspace: Workspace, how: str) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        found = [early(ledger)]
        if how == "cut":
            workspace.log.write_bytes(workspace.lines()[0])
        elif how == "read-only":
            workspace.log.chmod(0o400)
        else:
            aside = workspace.log.rename(workspace.root / "aside")
            if how == "replaced":
                workspace.log.write_bytes(aside.read_bytes())
        with pytest.raises(LedgerError) as error:
            found.extend(
                early(ledger) for _ in range(10_000)
            )  # a look holds for some milliseconds; a cut shows at once
        assert error.value.code in {"journal_missing", "journal_replaced", "journal_truncated", "ledger_read_only"}
        assert len(found) < 1_000
        assert how != "cut" or len(found) == 1


@pytest.mark.promise("record.told-early")
def test_a_view_that_another_process_wrote_anew_gets_what_is_owed(workspace: Workspace) -> None:
    with workspace.opened() as ledger, workspace.opened() as other:
        fill(ledger, 2)
        other.rebuild_views()
        for _ in range(3):
            early(ledger)
            other.rebuild_views()
            ledger._journal.settle()
            early(ledger)
            ledger._journal.settle()
        assert view(workspace) == list(range(8))
    assert notes(workspace) == []
