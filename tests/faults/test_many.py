"""Many at once: threads, tasks, processes; one chain."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from tests.faults.processes import acked, start, wait_for
from tests.ledgers import Workspace, draft, fill
from tests.sizes import size

EACH = size(200, 1_000)


@pytest.mark.promise("record.one-chain")
def test_four_threads_make_one_chain(either: Workspace) -> None:
    number = EACH if either.ledger["durability"] == "os" else EACH // 4
    with either.opened() as ledger:
        threads = [threading.Thread(target=fill, args=(ledger, number), kwargs={"session": "one"}) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.size() == 4 * number
    check(either, 4 * number)


@pytest.mark.promise("record.one-chain")
def test_sixty_four_tasks_make_one_chain(either: Workspace) -> None:
    number = max(1, EACH // 64) * 4

    async def task(at: int) -> list[str]:
        return [(await ledger.record(draft(at, session="one"))).receipt_id for _ in range(number)]

    async def main() -> list[list[str]]:
        return await asyncio.gather(*map(task, range(64)))

    with either.opened() as ledger:
        ids = [receipt_id for made in asyncio.run(main()) for receipt_id in made]
        assert len(set(ids)) == 64 * number
    check(either, 64 * number)


@pytest.mark.promise("record.one-chain")
@pytest.mark.parametrize(("processes", "number", "sessions"), [(2, EACH, 1), (8, size(300, 5_000), 8)])
def test_processes_make_one_chain(tmp_path: Path, processes: int, number: int, sessions: int) -> None:
    workspace = Workspace(tmp_path, segment_bytes=1_000_000, checkpoint_every=64)
    acks = [tmp_path / f"acks-{at}" for at in range(processes)]
    started = [start(workspace, path, session=f"s{at % sessions}", number=number) for at, path in enumerate(acks)]
    wait_for(started, acks, processes * number, within_s=600)
    assert [process.wait(60) for process in started] == [0] * processes
    ids = [receipt_id for path in acks for receipt_id in acked(path)]
    assert len(set(ids)) == processes * number
    check(workspace, processes * number)
    with workspace.opened() as ledger:
        assert sorted(ids) == [receipt.receipt_id for receipt in ledger.read()]


def check(workspace: Workspace, number: int) -> None:
    report = workspace.verify()
    assert report.ok, report.problems
    assert report.size == number
    assert not report.notes


@pytest.mark.promise("record.one-chain")
def test_two_ledgers_in_one_process_take_turns(either: Workspace) -> None:
    with either.opened() as first, either.opened() as second:
        for turn in range(40):
            fill((first, second)[turn % 2], 1 + turn % 3, session=f"s{turn % 5}")
        assert first.size() == second.size() == sum(1 + turn % 3 for turn in range(40))
        assert first.find(next(second.read()).receipt_id) is not None
    assert either.verify().ok


@pytest.mark.promise("record.one-chain")
def test_a_forked_child_appends_to_the_same_chain(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        begun = ledger.record_sync(draft(kind="started"))
        children = []
        for number in range(3):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    fill(ledger, 50, session=f"child{number}")
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        fill(ledger, 50, session="parent")
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
        assert ledger.size() == 201
        assert len({receipt.receipt_id[-12:] for receipt in ledger.read()}) == 201  # no chance was used twice
        ledger.record_sync(draft(links={"started": begun.receipt_id}))
    assert workspace.verify().ok


@pytest.mark.promise("record.segments", "record.one-chain")
@pytest.mark.parametrize("seen", ["before", "after", "not at all"])
def test_a_segment_that_another_process_began_is_noticed_whenever_one_looked_last(tmp_path: Path, seen: str) -> None:
    workspace = Workspace(tmp_path, segment_bytes=4096)
    with workspace.opened() as one, workspace.opened() as other:
        while workspace.log.stat().st_size < 4096:
            fill(other, 1)
        if seen == "before":
            other.ready()
        fill(one, 1)  # the first to find it full begins the next
        if seen == "after":
            other.ready()
        elif seen == "not at all":
            workspace.log.chmod(0o600)  # as a crash may leave it: the next was begun, this one not yet closed
        fill(other, 1)
        fill(one, 1)
    report = workspace.verify()
    assert report.ok, report.problems


@pytest.mark.promise("record.segments")
def test_segments_roll_over_for_everybody_who_has_the_journal_open(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, segment_bytes=4096, checkpoint_every=7)
    with workspace.opened() as first, workspace.opened() as second:
        ids = [receipt_id for turn in range(60) for receipt_id in fill((first, second)[turn % 2], 1)]
        assert len(list(workspace.journal.glob("*.log"))) > 10
        for ledger in (first, second):
            assert [receipt.receipt_id for receipt in ledger.read()] == ids
            assert [receipt.receipt_id for receipt in ledger.read(41)] == ids[41:]
            assert all(ledger.find(receipt_id) for receipt_id in ids)
            assert ledger.prove(ids[3]) is not None
    sealed = sorted(workspace.journal.glob("*.log"))[:-1]
    assert {path.stat().st_mode & 0o777 for path in sealed} == {0o400}
    assert workspace.verify().ok
    with workspace.opened() as ledger:
        fill(ledger, 1)
        assert ledger.size() == 61
    assert workspace.verify().ok
