"""One nonce runs at most once: under a hundred tries at once, and after a restart."""

import asyncio
import threading
from pathlib import Path

import pytest

from tallystick import Gate, Outcome, tool
from tallystick.turns.turn import Turn
from tests.gates import open_gate, outcomes, said

TRIES = 100


def a_gate(workspace: Path, runs: list[str], way: str) -> Gate:
    async def as_async() -> str:
        runs.append("ran")
        await asyncio.sleep(0)
        return "done"

    def plain() -> str:
        runs.append("ran")
        return "done"

    made = tool(effect="write", name="once", inline=way == "inline")(as_async if way == "async" else plain)
    return open_gate(workspace, made)


@pytest.mark.promise("admit.nonce-race")
@pytest.mark.parametrize("way", ["async", "thread", "inline"])
def test_of_a_hundred_tasks_with_one_envelope_one_runs(tmp_path: Path, way: str) -> None:
    async def all_at_once(turn: Turn) -> list[Outcome]:
        text = said("once", {}, turn.nonce)
        return await asyncio.gather(*(turn.submit(text) for _ in range(TRIES)))

    runs: list[str] = []
    with a_gate(tmp_path, runs, way) as gate:
        results = asyncio.run(all_at_once(gate.turn(session="s1")))
        check(gate, results, runs)


@pytest.mark.promise("admit.nonce-race")
@pytest.mark.parametrize("entrance", ["sync", "loop"])
def test_of_a_hundred_threads_with_one_envelope_one_runs(tmp_path: Path, entrance: str) -> None:
    runs: list[str] = []
    results: list[Outcome] = []
    start = threading.Barrier(TRIES)
    with a_gate(tmp_path, runs, "async") as gate:
        turn = gate.turn(session="s1")
        text = said("once", {}, turn.nonce)

        def attempt() -> None:
            start.wait()
            results.append(turn.submit_sync(text) if entrance == "sync" else asyncio.run(turn.submit(text)))

        threads = [threading.Thread(target=attempt) for _ in range(TRIES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(gate, results, runs)


def check(gate: Gate, results: list[Outcome], runs: list[str]) -> None:
    assert runs == ["ran"]
    assert sum(outcome.ok for outcome in results) == 1
    codes = {outcome.rejection.call_code for outcome in results if outcome.rejection is not None}
    assert codes == {"tool_call_nonce_invalid"}
    assert len(outcomes(gate)) == TRIES
    assert len({outcome.receipt_id for outcome in results}) == TRIES


@pytest.mark.promise("admit.nonce-restart")
def test_after_a_restart_an_old_nonce_is_worth_nothing(tmp_path: Path) -> None:
    runs: list[str] = []
    with a_gate(tmp_path, runs, "async") as gate:
        used, open_still = gate.turn(session="s1", agent="chief"), gate.turn(session="s1", agent="chief")
        messages = [said("once", {}, used.nonce), said("once", {}, open_still.nonce)]
        assert asyncio.run(used.submit(messages[0])).ok
    with a_gate(tmp_path, runs, "async") as gate:
        for message in messages:
            turn = gate.turn(session="s1", agent="chief")
            assert not asyncio.run(turn.submit(message)).ok
        assert gate.find_turn(open_still.turn_id) is None
    assert runs == ["ran"]


@pytest.mark.promise("admit.nonce-restart")
def test_a_turn_of_a_gate_that_was_closed_runs_nothing(tmp_path: Path) -> None:
    runs: list[str] = []
    gate = a_gate(tmp_path, runs, "async")
    turn = gate.turn(session="s1")
    gate.close()
    outcome = asyncio.run(turn.submit(said("once", {}, turn.nonce)))
    assert (outcome.status, outcome.http) == ("rejected", 503)
    assert runs == []
