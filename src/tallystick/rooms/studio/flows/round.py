"""One round of a conference, in two phases.

1. The Chief of Staff retrieves: tools run once, whatever the number of agents. Refused: the round stops here.
2. Everyone who is not muted interprets what was retrieved, the Chief first, then in the order of the table. Nobody
   sees anybody's reply: each turn is given the prompt and the buffer, and nothing else exists to give.
3. The round is closed: its minutes become an issue, its record keeps ids and digests.

The buffer is a local of this function. It is never stored, so a round cannot be resumed: after a crash it is broken
off, and the user sends the prompt again. Nothing here does I/O; what a round needs of the world stands in `RoundPorts`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from tallystick.records import record
from tallystick.rooms.studio.conference.model import (
    AgentReply,
    Attendee,
    Conference,
    ReplyRecord,
    Retrieved,
    Round,
    card_of,
    card_wire,
)
from tallystick.rooms.studio.conference.states import RoundState
from tallystick.turns.result import Injected

Kind = Literal["round", "phase", "card", "reply"]
NOTHING = Retrieved()


@record
class RoundEvent:
    """An event of a round, for observers."""

    kind: Kind
    data: Mapping[str, Any]


RoundListener = Callable[[RoundEvent], None]


@record
class EndedRound:
    """A finished round with its texts; `close` decides what is stored."""

    round: Round
    retrieved: Retrieved
    spoken: tuple[AgentReply, ...]


class RoundPorts(Protocol):
    """The ports of a round."""

    async def tool_phase(self) -> Retrieved:
        """Run the tool phase; only the Chief of Staff sees the catalogue."""
        ...

    async def interpret(self, attendee: Attendee, buffer: Sequence[Injected]) -> AgentReply:
        """Ask one agent for its view of what was retrieved."""
        ...

    async def say(self, spoken: AgentReply) -> None:
        """Show a checked reply, in the order of the attendees."""
        ...

    async def close(self, ended: EndedRound) -> Round:
        """Save the minutes as an issue, link the receipts, write the record."""
        ...


async def hold_round(
    conference: Conference, begun: Round, *, ports: RoundPorts, tell: RoundListener, parallel: bool = False
) -> EndedRound:
    """Run a round to its end.

    Args:
        conference: Who sits at the table, as it was when the round began.
        begun: The round's record.
        ports: The world.
        tell: Is told what happens while it happens.
        parallel: Ask agents at once; those on one endpoint still queue there, and replies are shown in order.

    Raises:
        CancelledError: It was cancelled; it was closed as such before.
    """
    held = _RunningRound(conference, begun, ports, tell)
    try:
        held.tell_begin()
        state = await held.phases(parallel=parallel)
    except asyncio.CancelledError:
        # Calls have receipts and replies were shown, so a cancelled round is documented like any other.
        await held.close("cancelled")
        raise
    return await held.close(state)


class _RunningRound:
    """A round while it is held."""

    def __init__(self, conference: Conference, begun: Round, ports: RoundPorts, tell: RoundListener) -> None:
        self._conference = conference
        self._round = begun
        self._ports = ports
        self._tell = tell
        self._retrieved = NOTHING
        self._spoken: list[AgentReply] = []

    async def phases(self, *, parallel: bool) -> RoundState:
        self._tell(RoundEvent(kind="phase", data={"phase": 1, "name": "tools"}))
        self._retrieved = await self._ports.tool_phase()
        if self._retrieved.stop_hook is not None:
            return "stopped"
        self._tell(RoundEvent(kind="phase", data={"phase": 2, "name": "interpretation"}))
        speaking = [each for each in self._conference.attendees if not each.muted]
        if parallel:
            await self._ask_at_once(speaking)
        else:
            for attendee in speaking:
                await self._take(attendee, await self._asked(attendee))
        return "closed"

    async def _ask_at_once(self, speaking: Sequence[Attendee]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                turns = [(attendee, group.create_task(self._asked(attendee))) for attendee in speaking]
                for attendee, turn in turns:
                    await self._take(attendee, await turn)
        except BaseExceptionGroup as failed:
            # As in sequential mode, the first error is reported.
            raise failed.exceptions[0] from None

    async def _asked(self, attendee: Attendee) -> AgentReply:
        self._card(attendee, activity="speaking")
        return await self._ports.interpret(attendee, self._retrieved.results)

    async def _take(self, attendee: Attendee, spoken: AgentReply) -> None:
        self._spoken.append(spoken)
        if spoken.status != "abstained":
            # An abstention is shown on the card only.
            await self._ports.say(spoken)
            self._tell(RoundEvent(kind="reply", data=spoken.as_dict()))
        self._card(attendee, spoken, activity="done")

    async def close(self, state: RoundState) -> EndedRound:
        """End the round in a state."""
        ended = EndedRound(
            round=replace(
                self._round,
                state=state,
                tool_turn_id=self._retrieved.turn_id or None,
                tool_prompt_sha256=self._retrieved.prompt_sha256 or None,
                receipts=self._retrieved.receipts,
                stop_hook=self._retrieved.stop_hook,
                replies=tuple(map(ReplyRecord.of, self._spoken)),
            ),
            retrieved=self._retrieved,
            spoken=tuple(self._spoken),
        )
        return replace(ended, round=await self._ports.close(ended))

    def tell_begin(self) -> None:
        """Report the round and its attendees."""
        self._tell(RoundEvent(kind="round", data={"number": self._round.number, "round_id": self._round.round_id}))
        for attendee in self._conference.attendees:
            self._card(attendee, activity="muted" if attendee.muted else "waiting")

    def _card(self, attendee: Attendee, spoken: AgentReply | None = None, *, activity: str) -> None:
        card = card_of(attendee, None if spoken is None else spoken.status)
        self._tell(RoundEvent(kind="card", data=card_wire(attendee.agent_id, card, activity=activity)))
