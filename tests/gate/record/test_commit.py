import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.commit import GroupCommit
from tallystick.gate.record.journal import Place, RecordFactory, SignedRecord
from tests.ledgers import Workspace, draft


def sealed(place: Place) -> SignedRecord:
    return SignedRecord(b"{}", b"", b"", bytes(32), f"rcpt_{place[0]}", "s", b"{}\n")


class Store:
    """Keeps what it is given, and can be made to wait or fail."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.size = self.taken = 0
        self.gate = threading.Event()
        self.gate.set()
        self.fails: Exception | None = None
        self.idled = threading.Event()

    def append(self, seals: Sequence[RecordFactory]) -> list[SignedRecord]:
        self.taken += len(seals)
        self.gate.wait(10)
        if self.fails is not None:
            raise self.fails
        done = [seal((self.size + at, bytes(32))) for at, seal in enumerate(seals)]
        self.size += len(done)
        self.batches.append(len(done))
        return done

    def group(self, idle_s: float = 60) -> GroupCommit:
        return GroupCommit(self.append, lambda seal: self.append([seal])[0], idle=self.idled.set, idle_s=idle_s)


@pytest.mark.promise("record.group-commit")
def test_callers_that_wait_together_share_a_commit() -> None:
    store = Store()
    group = store.group()

    async def main() -> list[SignedRecord]:
        store.gate.clear()
        first = asyncio.ensure_future(group.store_async(sealed))
        await asyncio.sleep(0)
        rest = [asyncio.ensure_future(group.store_async(sealed)) for _ in range(63)]
        await asyncio.sleep(0)
        store.gate.set()
        return await asyncio.gather(first, *rest)

    done = asyncio.run(main())
    group.close()
    assert len({record.receipt_id for record in done}) == 64
    assert sum(store.batches) == 64
    assert len(store.batches) <= 2


def test_threads_and_loops_share_the_same_commits() -> None:
    store = Store()
    group = store.group()
    found: list[SignedRecord] = []
    threads = [threading.Thread(target=lambda: found.append(group.store(sealed))) for _ in range(8)]

    async def main() -> None:
        found.extend(await asyncio.gather(*(group.store_async(sealed) for _ in range(8))))

    for thread in threads:
        thread.start()
    asyncio.run(main())
    for thread in threads:
        thread.join(10)
    group.close()
    assert len({record.receipt_id for record in found}) == 16


@pytest.mark.promise("record.cancelled-wait")
def test_a_wait_that_is_cancelled_takes_nothing_back() -> None:
    store = Store()
    group = store.group()

    async def main() -> None:
        async def wait() -> SignedRecord:
            return await group.store_async(sealed)

        store.gate.clear()
        waiting = asyncio.ensure_future(wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.sleep(0)
        assert not waiting.done()
        store.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await group.store_async(sealed)

    asyncio.run(main())
    group.close()
    assert store.size == 2


def test_a_loop_that_is_gone_does_not_hold_up_the_others() -> None:
    store = Store()
    group = store.group()
    store.gate.clear()

    async def leave() -> None:
        task = asyncio.ensure_future(group.store_async(sealed))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    store.gate.set()
    assert group.store(sealed).receipt_id == "rcpt_1"
    group.close()


def test_what_a_loop_never_handed_over_is_stored_at_the_end() -> None:
    store = Store()
    group = store.group()
    loop = asyncio.new_event_loop()

    def ask() -> None:
        group.store_async(sealed)
        loop.stop()

    loop.call_soon(ask)
    loop.run_forever()
    loop.close()
    assert store.size == 0
    group.close()
    assert store.size == 1


@pytest.mark.promise("record.group-commit")
def test_callers_who_come_together_share_commits_although_the_first_never_waits() -> None:
    store = Store()
    group = store.group()

    async def caller() -> None:
        for _ in range(400):
            _ = group.store_inline(sealed) or await group.store_async(sealed)

    async def main() -> None:
        # The first commit shows that the disk is quick; from then on one alone would store at once.
        await group.store_async(sealed)
        await asyncio.gather(*(caller() for _ in range(8)))

    asyncio.run(main())
    group.close()
    assert store.size == 1 + 8 * 400
    assert len(store.batches) < store.size // 5


def test_an_error_reaches_everybody_who_waited_for_that_commit() -> None:
    store = Store()
    group = store.group()
    store.fails = LedgerUnwritable("full")

    async def main() -> list[object]:
        return await asyncio.gather(*(group.store_async(sealed) for _ in range(5)), return_exceptions=True)

    assert {type(error) for error in asyncio.run(main())} == {LedgerUnwritable}
    store.fails = None
    assert group.store(sealed).receipt_id == "rcpt_0"
    group.close()


def test_a_record_that_cannot_be_sealed_harms_only_itself() -> None:
    store = Store()
    group = store.group()

    def broken(place: Place) -> SignedRecord:
        raise TypeError("a float")

    async def main() -> list[object]:
        seals = [sealed, broken, sealed]
        store.gate.clear()
        waiting = [asyncio.ensure_future(group.store_async(seal)) for seal in seals]
        await asyncio.sleep(0)
        store.gate.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    done = asyncio.run(main())
    assert [type(item) for item in done] == [SignedRecord, TypeError, SignedRecord]
    group.close()


def test_what_is_queued_is_stored_before_it_closes_and_nothing_after() -> None:
    store = Store()
    group = store.group()
    store.gate.clear()
    found: list[SignedRecord] = []
    threads = [threading.Thread(target=lambda: found.append(group.store(sealed))) for _ in range(4)]
    for thread in threads:
        thread.start()
    while store.taken + len(group._queue) < 4:
        threading.Event().wait(0.001)
    store.gate.set()
    group.close()
    for thread in threads:
        thread.join(10)
    assert len(found) == store.size == 4
    with pytest.raises(LedgerError) as error:
        group.store(sealed)
    assert error.value.code == "ledger_closed"
    group.close()


@pytest.mark.promise("record.checkpoint-often")
def test_after_the_last_record_of_a_while_there_is_time_for_a_checkpoint() -> None:
    store = Store()
    group = store.group(idle_s=0.01)
    group.store(sealed)
    assert store.idled.wait(10)
    group.close()


@pytest.mark.promise("record.cancelled-wait")
def test_a_ledger_whose_caller_left_has_the_record(tmp_path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")

    async def main() -> None:
        waiting = asyncio.ensure_future(ledger.record(draft(kind="started")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await ledger.record(draft())

    with workspace.opened() as ledger:
        asyncio.run(main())
        assert ledger.size() == 2
    with workspace.opened() as ledger:
        assert len(ledger.recover()) == 1  # nobody was told that it had begun, so nobody said how it ended
    assert workspace.verify().ok


async def _settled(group: GroupCommit) -> None:
    """One record goes through the thread, so that it is known how quick the disk is and the thread sleeps again."""
    await group.store_async(sealed)
    while not group._waiting:  # noqa: ASYNC110 - the thread tells nobody that it sleeps
        await asyncio.sleep(0.001)


async def _stored(group: GroupCommit) -> SignedRecord:
    """As the ledger does it."""
    return group.store_inline(sealed) or await group.store_async(sealed)


@pytest.mark.promise("record.group-commit")
@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.booleans(), max_size=20), min_size=1, max_size=5))
def test_records_stored_in_the_loop_are_those_that_the_thread_would_have_stored(tasks: list[list[bool]]) -> None:
    def stored(*, in_loop: bool) -> list[list[int]]:
        group = Store().group()

        async def caller(yields: list[bool]) -> list[int]:
            places: list[int] = []
            for give_way in yields:
                record = (group.store_inline(sealed) if in_loop else None) or await group.store_async(sealed)
                places.append(int(record.receipt_id.removeprefix("rcpt_")))
                if give_way:
                    await asyncio.sleep(0)
            return places

        async def main() -> list[list[int]]:
            await _settled(group)
            return await asyncio.gather(*map(caller, tasks))

        places = asyncio.run(main())
        group.close()
        return places

    either, general = stored(in_loop=True), stored(in_loop=False)
    for places in (either, general):
        # Each record once and without a gap, and those of one caller in the order of its calls.
        assert sorted(place for own in places for place in own) == list(range(1, 1 + sum(map(len, tasks))))
        assert all(own == sorted(own) for own in places)
    assert [len(own) for own in either] == [len(own) for own in general]


def test_one_caller_alone_on_a_quick_disk_waits_for_nobody() -> None:
    store = Store()
    group = store.group()

    async def main() -> list[str]:
        await _settled(group)
        order: list[str] = []
        asyncio.get_running_loop().call_soon(order.append, "the loop went round")
        for _ in range(3):
            assert group.store_inline(sealed) is not None
            order.append("stored")
        return order

    order = asyncio.run(main())
    group.close()
    assert order[:3] == ["stored"] * 3
    assert store.batches == [1, 1, 1, 1]


@pytest.mark.promise("record.group-commit")
def test_many_callers_on_a_quick_disk_share_commits_after_the_first_look() -> None:
    store = Store()
    group = store.group()

    async def main() -> None:
        await _settled(group)
        for _ in range(4):
            await asyncio.gather(*(_stored(group) for _ in range(64)))

    asyncio.run(main())
    group.close()
    assert sum(store.batches) == 1 + 4 * 64
    # One alone at first, then its 63 companions; after that whole rounds.
    assert len(store.batches) <= 10


def test_who_is_told_early_goes_on_before_the_rest_is_written_and_that_follows_in_the_next_round() -> None:
    store = Store()
    group = store.group()
    happened: list[str] = []

    def early(seal: RecordFactory) -> SignedRecord:
        happened.append("stored")
        return store.append([seal])[0]

    async def main() -> None:
        await _settled(group)
        group.ack_after_fsync(early, lambda: happened.append("settled"))
        assert group.store_inline(sealed) is not None
        happened.append("told")
        await asyncio.sleep(0)
        assert happened == ["stored", "told", "settled"]
        await asyncio.gather(*(_stored(group) for _ in range(8)))

    asyncio.run(main())
    group.close()
    assert happened.count("stored") == 2  # one of the eight; the others went together, and were told at the end
    assert sum(store.batches) == 1 + 1 + 8
