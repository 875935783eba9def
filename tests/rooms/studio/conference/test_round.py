"""The flow of a round, against a table that is all in memory."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tallystick.errors import LedgerUnwritable
from tallystick.rooms.studio.conference.model import AgentReply, Attendee, Conference, Retrieved, Round
from tallystick.rooms.studio.flows.round import EndedRound, RoundEvent, hold_round
from tallystick.turns.agent import CHIEF
from tallystick.turns.result import Injected

CONFERENCE = Conference(
    conference_id="conf_1", name="", created_at="now", created_by="local",
    attendees=(
        Attendee(agent_id=CHIEF), Attendee(agent_id="writer"), Attendee(agent_id="critic", muted=True),
        Attendee(agent_id="editor"),
    ),
)  # fmt: skip
ROUND = Round(number=1, round_id="round_1", state="running", begun_at="now", prompt_sha256="00")
FOUND = Injected(tool="file_reader", receipt_id="rcpt_1", text="text", sha256="ff", full_size=4)


class Table:
    """Remembers in which order a round came to it."""

    def __init__(self, *, stop_hook: str | None = None, hangs: str | None = None, fails: str | None = None) -> None:
        self.happened: list[str] = []
        self.buffers: list[tuple[Injected, ...]] = []
        self.ended: EndedRound | None = None
        self.hanging, self.said = asyncio.Event(), asyncio.Event()
        self._stop_hook, self._hangs, self._fails = stop_hook, hangs, fails

    async def tool_phase(self) -> Retrieved:
        self.happened.append("tools")
        return Retrieved(turn_id="turn_1", results=(FOUND,), receipts=("rcpt_1",), stop_hook=self._stop_hook)

    async def interpret(self, attendee: Attendee, buffer: Sequence[Injected]) -> AgentReply:
        self.happened.append(f"ask {attendee.agent_id}")
        self.buffers.append(tuple(buffer))
        if attendee.agent_id == self._fails:
            raise LedgerUnwritable("full")
        if attendee.agent_id == self._hangs:
            self.hanging.set()
            await asyncio.Event().wait()
        if attendee.is_chief:
            # The first to be asked is the last to answer, where all are asked at once.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        status: Any = "abstained" if attendee.agent_id == "editor" else "accepted"
        text = None if status == "abstained" else f"as {attendee.agent_id}"
        return AgentReply(agent_id=attendee.agent_id, name="N", role="r", status=status, text=text)

    async def say(self, spoken: AgentReply) -> None:
        self.happened.append(f"say {spoken.agent_id}")
        self.said.set()

    async def close(self, ended: EndedRound) -> Round:
        self.happened.append(f"close {ended.round.state}")
        self.ended = ended
        return replace(ended.round, issue_id="issue_1")


def hold(table: Table, *, parallel: bool = False) -> tuple[EndedRound, list[RoundEvent]]:
    told: list[RoundEvent] = []
    return asyncio.run(hold_round(CONFERENCE, ROUND, ports=table, tell=told.append, parallel=parallel)), told


@pytest.mark.promise("studio.conference-flow")
def test_tools_come_first_then_the_chief_then_the_others_in_order_and_muted_ones_never() -> None:
    table = Table()
    ended, _ = hold(table)
    assert table.happened == [
        "tools", "ask assistant", "say assistant", "ask writer", "say writer", "ask editor", "close closed",
    ]  # fmt: skip
    assert ended.round.issue_id == "issue_1"
    assert [given.agent_id for given in ended.round.replies] == [CHIEF, "writer", "editor"]
    assert ended.round.receipts == ("rcpt_1",)


@pytest.mark.promise("studio.conference-flow", "studio.conference-isolation")
def test_every_agent_is_given_the_buffer_of_the_tool_phase_and_nothing_else() -> None:
    table = Table()
    hold(table)
    assert table.buffers == [(FOUND,)] * 3


@pytest.mark.promise("studio.conference-flow", "studio.conference-stop")
def test_a_tool_phase_that_was_refused_ends_the_round_before_anybody_is_asked() -> None:
    table = Table(stop_hook="STOP_HOOK: tool_call_rejected tool_call_multiple")
    ended, told = hold(table)
    assert table.happened == ["tools", "close stopped"]
    assert ended.round.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_multiple"
    assert ended.round.replies == ()
    assert [one.data["phase"] for one in told if one.kind == "phase"] == [1]


@pytest.mark.promise("studio.conference-parallel")
def test_asked_at_once_they_are_still_said_in_the_order_of_the_table() -> None:
    table = Table()
    ended, _ = hold(table, parallel=True)
    assert table.happened == [
        "tools", "ask assistant", "ask writer", "ask editor", "say assistant", "say writer", "close closed",
    ]  # fmt: skip
    assert [given.agent_id for given in ended.round.replies] == [CHIEF, "writer", "editor"]


@pytest.mark.promise("studio.conference-cancel")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_cancelled_round_is_closed_as_such_with_what_was_said_so_far(*, parallel: bool) -> None:
    async def run() -> Table:
        table = Table(hangs="writer")
        holding = asyncio.ensure_future(
            hold_round(CONFERENCE, ROUND, ports=table, tell=lambda _: None, parallel=parallel)
        )
        await table.hanging.wait()
        await table.said.wait()
        holding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holding
        return table

    table = asyncio.run(run())
    assert table.happened[-1] == "close cancelled"
    assert table.ended is not None
    assert [given.agent_id for given in table.ended.round.replies] == [CHIEF]


@pytest.mark.promise("studio.conference-broken-off")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_fault_of_ours_leaves_the_round_unclosed_and_is_told_as_it_is(*, parallel: bool) -> None:
    table = Table(fails="writer")
    with pytest.raises(LedgerUnwritable):
        hold(table, parallel=parallel)
    assert table.ended is None


@pytest.mark.promise("studio.conference-cards", "studio.conference-events")
def test_whoever_watches_is_told_of_cards_phases_and_replies_in_order() -> None:
    _, told = hold(Table())
    seen = [
        (
            one.kind,
            one.data.get("agent_id") or one.data.get("phase") or one.data.get("number"),
            one.data.get("activity"),
        )
        for one in told
    ]
    assert seen == [
        ("round", 1, None),
        ("card", "assistant", "waiting"), ("card", "writer", "waiting"), ("card", "critic", "muted"),
        ("card", "editor", "waiting"),
        ("phase", 1, None), ("phase", 2, None),
        ("card", "assistant", "speaking"), ("reply", "assistant", None), ("card", "assistant", "done"),
        ("card", "writer", "speaking"), ("reply", "writer", None), ("card", "writer", "done"),
        ("card", "editor", "speaking"), ("card", "editor", "done"),
    ]  # fmt: skip
    assert told[-1].data["state"] == "abstained"
