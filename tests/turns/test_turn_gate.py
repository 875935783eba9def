"""The turn gate: one at a time per endpoint, in order, whoever leaves and whenever."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.turns.turn_gate import AgentTurnGate, QueuePlace

KEYS = ("offline||", "local||small")
moves = st.lists(
    st.one_of(
        st.tuples(st.just("join"), st.sampled_from(KEYS)),
        st.tuples(st.sampled_from(["cancel", "leave"]), st.integers(0, 30)),
    ),
    max_size=40,
)


class Turn:
    """A task that queues up, and works until it is told to leave."""

    def __init__(self, gate: AgentTurnGate, key: str) -> None:
        self.key = key
        self.places: list[int] = []
        self.inside = False
        self.go = asyncio.Event()
        self.place: QueuePlace = gate.enter(key, moved=self.places.append)
        self.task = asyncio.ensure_future(self.run())

    async def run(self) -> None:
        async with self.place:
            self.inside = True
            try:
                await self.go.wait()
            finally:
                self.inside = False


async def settle() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


async def play(script: list[tuple[str, object]]) -> None:
    gate = AgentTurnGate()
    queues: dict[str, list[Turn]] = {key: [] for key in KEYS}
    every: list[Turn] = []
    for move, what in script:
        if move == "join":
            turn = Turn(gate, str(what))
            every.append(turn)
            queues[turn.key].append(turn)
        elif every:
            turn = every[int(what) % len(every)]  # type: ignore[call-overload]
            if turn not in queues[turn.key]:
                continue
            if move == "cancel":
                turn.task.cancel()
            elif turn.inside:
                turn.go.set()
            else:
                continue
            queues[turn.key].remove(turn)
        await settle()
        for key, queue in queues.items():
            assert [other.inside for other in queue] == [at == 0 for at in range(len(queue))]
            assert [other.place.position for other in queue] == list(range(len(queue)))
            assert gate.length(key) == len(queue)
        assert not any(other.inside for other in every if other not in queues[other.key])
    for turn in every:
        # Up to the head it only ever moves forward, one by one or several at once, and hears of each place once.
        assert turn.places == sorted(set(turn.places), reverse=True)
        turn.task.cancel()
    await asyncio.gather(*(turn.task for turn in every), return_exceptions=True)
    assert [gate.length(key) for key in KEYS] == [0, 0]


@pytest.mark.promise("turns.turn-gate")
@given(moves)
def test_one_works_per_endpoint_and_the_others_move_up_in_order(script: list[tuple[str, object]]) -> None:
    asyncio.run(play(script))


@pytest.mark.promise("turns.turn-gate")
def test_the_place_is_told_from_the_end_of_the_queue_to_the_turn() -> None:
    async def wait() -> list[int]:
        gate = AgentTurnGate()
        first, second, third = (Turn(gate, "k") for _ in range(3))
        await settle()
        for turn in (first, second):
            turn.go.set()
            await settle()
        assert third.inside
        third.go.set()
        await asyncio.gather(first.task, second.task, third.task)
        assert third.place.position is None
        return third.places

    assert asyncio.run(wait()) == [2, 1, 0]


@pytest.mark.promise("turns.turn-gate")
def test_a_turn_that_fails_gives_its_place_to_the_next() -> None:
    async def fail() -> None:
        gate = AgentTurnGate()
        with pytest.raises(RuntimeError):
            async with gate.enter("k"):
                raise RuntimeError
        async with asyncio.timeout(5), gate.enter("k") as place:
            assert place.position == 0

    asyncio.run(fail())


@pytest.mark.promise("turns.turn-gate")
def test_somebody_who_is_cancelled_in_the_moment_of_his_turn_does_not_keep_it() -> None:
    async def race() -> None:
        gate = AgentTurnGate()
        first, second, third = (Turn(gate, "k") for _ in range(3))
        await settle()
        first.go.set()
        # The first leaves and wakes the second, which is cancelled before it could run.
        await asyncio.sleep(0)
        second.task.cancel()
        await settle()
        assert (second.inside, third.inside) == (False, True)
        third.task.cancel()
        await asyncio.gather(first.task, second.task, third.task, return_exceptions=True)

    asyncio.run(race())


@pytest.mark.promise("turns.turn-gate")
def test_turns_of_several_loops_queue_together() -> None:
    gate = AgentTurnGate()
    inside: list[int] = []
    most: list[int] = []

    async def work() -> None:
        for _ in range(20):
            async with gate.enter("k"):
                inside.append(1)
                most.append(len(inside))
                await asyncio.sleep(0)
                inside.pop()

    threads = [threading.Thread(target=asyncio.run, args=(work(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert (len(most), max(most), gate.length("k")) == (80, 1, 0)


@pytest.mark.promise("turns.turn-gate")
def test_a_waiter_whose_loop_is_gone_keeps_nobody_waiting() -> None:
    gate = AgentTurnGate()
    gone = asyncio.new_event_loop()

    async def hold() -> None:
        async with gate.enter("k"):
            waiting = gate.enter("k").__aenter__()
            # Queued on another loop, which is closed before its turn comes.
            task = gone.create_task(waiting)
            await asyncio.to_thread(gone.run_until_complete, asyncio.sleep(0))
            task.cancel()
            gone.close()
            last = Turn(gate, "k")
            await settle()
        await settle()
        assert last.inside
        last.go.set()
        await last.task
        del task

    asyncio.run(hold())
