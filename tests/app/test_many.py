"""Several calls at once: each is one of its own, whatever becomes of the others."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, tool
from tallystick.app.calls import AT_ONCE
from tallystick.errors import ToolError
from tallystick.gate.decide.verdict import ALLOW, Decision
from tallystick.gate.execute.call import current_call
from tests.gates import open_gate


@tool(effect="write", inline=True)
def shout(text: str) -> str:
    """Say it loudly."""
    if text == "no":
        raise ToolError("not that")
    return text.upper()


@tool(effect="read")
async def slow(text: str) -> str:
    """Say it after others had a turn, with the call that it was."""
    for _ in range(3):
        await asyncio.sleep(0)
    call = current_call()
    return f"{text} {call.tool if call else None}"


@tool(effect="external", inline=True)
def send(text: str) -> str:
    """Reach the world; asks."""
    return text


def _kinds(gate: Gate) -> list[str]:
    return [receipt.header["kind"] for receipt in gate.ledger.read()]


def _many(gate: Gate, *calls: tuple[Any, Any], **more: Any) -> list[Any]:
    return asyncio.run(gate.call_many(calls, **more))


@pytest.mark.promise("execute.many")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_each_of_several_calls_has_its_own_outcome_and_receipts_in_order(tmp_path: Path, durability: str) -> None:
    with open_gate(tmp_path, shout, slow, send, ledger={"durability": durability}) as gate:
        outcomes = _many(
            gate, ("shout", {"text": "a"}), ("slow", {"text": "b"}), ("nobody", {}), ("shout", {"text": 7}),
            ("shout", {"text": "no"}), ("send", {"text": "c"}), ("shout", {"text": "d"}), ("slow", None),
        )  # fmt: skip
        assert [one.result for one in outcomes] == ["A", "b slow", None, None, None, None, "D", None]
        assert [one.status for one in outcomes] == [
            "accepted", "accepted", "rejected", "rejected", "accepted", "rejected", "accepted", "rejected",
        ]  # fmt: skip
        assert outcomes[4].failure.message == "not that"
        assert outcomes[5].held is not None
        told = [gate.ledger.find(one.receipt_id) for one in outcomes]
        assert all(receipt is not None and receipt.header["kind"] == "outcome" for receipt in told)
        assert len({one.receipt_id for one in outcomes}) == len(outcomes)
        # Nothing that may change something ran before its beginning was recorded.
        kinds = _kinds(gate)
        assert kinds.count("started") == 3
        for receipt in told:
            started = None if receipt is None else receipt.header.get("links", {}).get("started")
            found = None if started is None else gate.ledger.find(started)
            assert started is None or (found is not None and receipt is not None and found.seq < receipt.seq)
    assert Gate.verify(tmp_path).ok


@pytest.mark.promise("execute.many")
def test_a_long_list_goes_in_several_rounds_and_no_calls_leave_nothing(tmp_path: Path) -> None:
    with open_gate(tmp_path, shout, ledger={"durability": "fsync"}) as gate:
        assert _many(gate) == []
        before = gate.ledger.size()
        calls = [("shout", {"text": f"n{at}"}) for at in range(2 * AT_ONCE + 3)]
        assert [one.result for one in _many(gate, *calls, session="s1")] == [f"N{at}" for at in range(len(calls))]
        assert gate.ledger.size() == before + 2 * len(calls)
        assert len(list(gate.ledger.session("s1"))) == 2 * len(calls)
    assert Gate.verify(tmp_path).ok


@pytest.mark.promise("execute.many", "record.cancelled-wait")
def test_who_leaves_meanwhile_leaves_a_receipt_of_every_call(tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(effect="write", inline=True)
    def note(text: str) -> str:
        """Remember that it ran."""
        ran.append(text)
        return text

    with open_gate(tmp_path, note, ledger={"durability": "fsync"}) as gate:

        async def main() -> None:
            waiting = asyncio.ensure_future(gate.call_many([("note", {"text": str(at)}) for at in range(5)]))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

        asyncio.run(main())
        outcomes = [one.header["outcome"] for one in gate.ledger.read() if one.header["kind"] == "outcome"]
        assert len(outcomes) == 5
        assert {one.get("fault") for one in outcomes} <= {None, "cancelled"}
        assert len(ran) == sum("fault" not in one for one in outcomes)
        assert not gate.ledger.unfinished()
    assert Gate.verify(tmp_path).ok


@pytest.mark.promise("execute.many")
def test_all_calls_are_decided_before_the_first_runs(tmp_path: Path) -> None:
    state, seen = [0], []

    def rule(proposal: Any, snapshot: Any) -> Decision:
        del proposal, snapshot
        seen.append(state[0])
        return ALLOW

    @tool(effect="read", inline=True, rule=rule)
    def count() -> int:
        """Count up."""
        state[0] += 1
        return state[0]

    with open_gate(tmp_path, count, ledger={"durability": "os"}) as gate:
        assert [one.result for one in _many(gate, *[("count", {})] * 3)] == [1, 2, 3]
    assert seen == [0, 0, 0]
