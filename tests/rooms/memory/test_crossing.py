"""Proposals that cross each other: each is judged on its own, and the log puts them in order."""

import asyncio
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.memory.project.fold import replay
from tallystick.rooms.memory.project.receipts import events_in
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import export_bytes


async def at_once(gate: Gate, calls: list[tuple[str, dict[str, Any]]]) -> list[Outcome]:
    return list(
        await asyncio.gather(*(gate.call(tool, args, session=f"s{at}") for at, (tool, args) in enumerate(calls)))
    )


@pytest.mark.promise("memory.processes", "memory.replay")
def test_the_same_evidence_proposed_many_times_at_once_counts_once(open_memory: Open) -> None:
    memory = open_memory(ledger={"durability": "fsync"})
    seen = memory.observe()
    name = memory.propose(seen)
    more = memory.observe("Ada lives in Lisbon, says the diary.", "diary")
    edge = {"proposition_id": name, "observation_id": more, "quote": "Ada lives in Lisbon"}
    same = {
        "text": "Once more.", "source": {"id": "x", "class": "human"}, "observed_at": "2024-01-01T00:00:00Z",
    }  # fmt: skip
    calls = [("attach_support", edge), ("record_observation", same)] * 12
    done = asyncio.run(at_once(memory.gate, calls))
    assert {one.status for one in done} <= {"accepted", "transformed", "rejected"}
    assert all(one.rejection is None or str(one.rejection.code) == "POLICY_VIOLATION" for one in done)
    edges = memory.projection.ask(lambda state: state.edges_of(name))
    assert sorted(edge.observation_id for edge in edges) == sorted([seen, more])
    assert memory.projection.ask(lambda state: state.store.counts(), written=True)["observations"] == 3
    assert memory.bytes() == export_bytes(replay(events_in(memory.gate.ledger.read()), memory.room.policy))


@pytest.mark.promise("memory.processes")
def test_nobody_is_refused_because_others_propose_too(open_memory: Open) -> None:
    memory = open_memory(ledger={"durability": "fsync"})
    calls = [
        (
            "record_observation",
            {
                "text": f"Number {at}.",
                "source": {"id": f"s{at}", "class": "human"},
                "observed_at": "2024-01-01T00:00:00Z",
            },
        )
        for at in range(64)
    ]
    assert {one.status for one in asyncio.run(at_once(memory.gate, calls))} == {"accepted"}
