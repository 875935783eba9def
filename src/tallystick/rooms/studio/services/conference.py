"""Conferences: attendees, rounds and transcripts.

1. The conference is there and is this caller's; the prompt can be taken.
2. The round begins: its record says so, and a lock that dies with this process.
3. `flows.round` holds it in two phases; a wish to cancel, from any process, is looked for meanwhile.
4. It is closed: issue, linked receipts, record. The transcript goes on; no agent is ever shown it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tallystick.agents.answers import Unanswered
from tallystick.agents.chat import fault_of
from tallystick.agents.conversation import Conversation
from tallystick.agents.problem import Problem
from tallystick.agents.turn_records import new_id, now
from tallystick.app.audit_notes import demand_ledger
from tallystick.app.gate import Gate
from tallystick.app.room_context import options_of
from tallystick.gate.session import Caller
from tallystick.rooms.studio import MANIFEST
from tallystick.rooms.studio.conference.access import ConferenceAccess, may_read
from tallystick.rooms.studio.conference.attendees import Action, change_attendees, invite
from tallystick.rooms.studio.conference.model import Conference, Round, digest
from tallystick.rooms.studio.conference.results import RoundResult, or_refusal, refusal_of
from tallystick.rooms.studio.conference.store import NO_ROUND, UNKNOWN, ConferenceFiles, StartedRound
from tallystick.rooms.studio.flows.round import RoundListener, hold_round
from tallystick.rooms.studio.services.round_ports import GateRoundPorts, Heard, RoundRequest, Stepped, shielded
from tallystick.rooms.studio.services.traffic_log import TrafficLog
from tallystick.rooms.studio.settings import StudioSettings

LOOK_S = 0.25
"""Polling interval for cancellation requests."""
CANCEL_AGAIN_S = 5.0
MAX_NAME = 200


class ConferenceService:
    """The conferences of an open workspace, with the same agents, queues and books as its conversation."""

    def __init__(self, gate: Gate, conversation: Conversation) -> None:
        self._gate = gate
        self._conversation = conversation
        self._files = ConferenceFiles(gate.workspace)
        self._access = ConferenceAccess(self._files)
        chosen: StudioSettings = options_of(MANIFEST, gate.settings)
        self._parallel = chosen.parallel
        self._log = TrafficLog(gate.workspace, gate.settings) if chosen.conference_log else None

    # -- looking and changing: files, not for the event loop -----------------------------------------------------------

    def create(self, agents: Sequence[str] | None, *, caller: Caller, name: str = "") -> Conference | Unanswered:
        """Create a conference.

        Args:
            agents: Who is invited, the Chief of Staff among them; None: every agent that is switched on.
            caller: Whose conference it is.
            name: What people call it.
        """
        seats = invite(agents, self._conversation.crew.registry.load())
        if isinstance(seats, Problem):
            return refusal_of(seats)
        made = Conference(
            conference_id=new_id("conf"),
            name=" ".join(name.split())[:MAX_NAME],
            created_at=now(),
            created_by=caller.subject,
            attendees=seats,
        )
        return self._files.create(made)

    def list(self, caller: Caller) -> list[Conference]:
        """The caller's conferences, the newest first."""
        found = [self.get(each, caller) for each in self._files.ids()]
        return sorted(
            (each for each in found if isinstance(each, Conference)), key=lambda each: each.created_at, reverse=True
        )

    def get(self, conference_id: str, caller: Caller) -> Conference | Unanswered:
        """One conference; another's does not exist for this caller."""
        found = self._files.get(conference_id)
        if isinstance(found, Problem):
            return refusal_of(found)
        return found if may_read(found, caller) else refusal_of(UNKNOWN)

    def seat(
        self, conference_id: str, action: Action, agents: Sequence[str], *, caller: Caller
    ) -> Conference | Unanswered:
        """Change the attendees; a running round is not affected."""
        roster = self._conversation.crew.registry.load()

        def how(conference: Conference) -> Conference | Problem:
            seats = change_attendees(conference.attendees, action, agents, roster)
            return seats if isinstance(seats, Problem) else replace(conference, attendees=seats)

        return self._access.refusal(conference_id, caller) or or_refusal(self._files.change(conference_id, how))

    def transcript(self, conference_id: str, caller: Caller) -> Sequence[dict[str, Any]] | Unanswered:
        """The transcript of all rounds, oldest first."""
        found = self.get(conference_id, caller)
        return found if isinstance(found, Unanswered) else self._files.transcript(conference_id).read()

    def cancel(self, conference_id: str, number: int, *, caller: Caller) -> Round | Unanswered:
        """Wish a round cancelled; it ends within a moment, wherever it runs."""
        fault = self._access.refusal(conference_id, caller)
        if fault is not None:
            return fault
        after = or_refusal(self._files.cancel(conference_id, number))
        return after if isinstance(after, Unanswered) else after.rounds[number - 1]

    # -- rounds --------------------------------------------------------------------------------------------------------

    async def hold(
        self,
        conference_id: str,
        prompt: str | None,
        *,
        caller: Caller,
        again: int | None = None,
        offline: bool = False,
        tell: RoundListener | None = None,
        stepped: Stepped | None = None,
        heard: Heard | None = None,
    ) -> RoundResult | Unanswered:
        """Hold a round.

        Args:
            conference_id: Of which conference.
            prompt: The user's prompt; None: the prompt of round `again`.
            caller: Who asks.
            again: The number of a round whose prompt is sent once more, e.g. because it was broken off.
            offline: Use the offline agent, whatever endpoints are configured.
            tell: Is told what happens while it happens.
            stepped: Is told each tool step.
            heard: Is told what each agent is saying, piece by piece, before it is checked.
        """
        asked = await self._asked(conference_id, prompt, again or 0, caller)
        if isinstance(asked, Unanswered):
            return asked
        begun = await self._begun(conference_id, asked, caller)
        if isinstance(begun, Unanswered):
            return begun
        request = RoundRequest(prompt=asked, caller=caller, offline=offline)
        ports = self._ports(begun, request, stepped, heard)
        await self._while_wanted(begun, ports, tell or _nobody)
        held = ports.ended
        return RoundResult(
            conference=begun.conference, round=held.round, prompt=asked, retrieved=held.retrieved, spoken=held.spoken
        )

    def _ports(
        self, begun: StartedRound, request: RoundRequest, stepped: Stepped | None, heard: Heard | None
    ) -> GateRoundPorts:
        return GateRoundPorts(
            self._gate,
            self._conversation,
            self._files,
            begun=begun,
            asked=request,
            log=self._log,
            stepped=stepped or _nobody,
            heard=heard,
        )

    async def _asked(self, conference_id: str, prompt: str | None, again: int, caller: Caller) -> str | Unanswered:
        """The prompt, or that of an earlier round, if it can be taken."""
        if prompt is None:
            return await asyncio.to_thread(self._prompt_of, conference_id, again, caller)
        fault = fault_of(prompt)
        return prompt if fault is None else replace(fault, field="prompt")

    async def _begun(self, conference_id: str, prompt: str, caller: Caller) -> StartedRound | Unanswered:
        """Start the round; a cancellation at this moment must not leave a round marked as running."""
        came: list[StartedRound | Unanswered] = []
        try:
            await shielded(lambda: came.append(self._begin(conference_id, prompt, caller)))
        except asyncio.CancelledError:
            for each in came:
                if isinstance(each, StartedRound):
                    each.lock.let_go()
            raise
        return came[0]

    def _begin(self, conference_id: str, prompt: str, caller: Caller) -> StartedRound | Unanswered:
        fault = self._access.refusal(conference_id, caller)
        if fault is not None:
            return fault
        demand_ledger(self._gate)
        begun = self._files.begin(
            conference_id,
            lambda number: Round(
                number=number, round_id=new_id("round"), state="running", begun_at=now(), prompt_sha256=digest(prompt)
            ),
        )
        if isinstance(begun, Problem):
            return refusal_of(begun)
        line = {"kind": "prompt", "text": prompt, "round_id": begun.round.round_id}
        try:
            self._files.transcript(conference_id).append(
                {"at": begun.round.begun_at, "round": begun.round.number, **line}
            )
        except BaseException:
            begun.lock.let_go()
            raise
        return begun

    async def _while_wanted(self, begun: StartedRound, table: GateRoundPorts, tell: RoundListener) -> None:
        """Run the round until its end or until it is cancelled."""
        failed: list[BaseException] = []

        async def caught() -> None:
            # A task group would wrap it into a group of one.
            try:
                await hold_round(begun.conference, begun.round, ports=table, tell=tell, parallel=self._parallel)
            except Exception as error:  # noqa: BLE001 - raised again outside the group
                failed.append(error)

        try:
            async with asyncio.TaskGroup() as group:
                doing = group.create_task(caught())
                watching = group.create_task(self._cancel_when_wished(begun, doing))
                await asyncio.wait([doing])
                watching.cancel()
        finally:
            begun.lock.let_go()
        if failed:
            raise failed[0]

    async def _cancel_when_wished(self, begun: StartedRound, doing: "asyncio.Task[Any]") -> None:
        where, number = begun.conference.conference_id, begun.round.number
        while not await asyncio.to_thread(self._files.is_cancelling, where, number):  # noqa: ASYNC110 - see below
            await asyncio.sleep(LOOK_S)  # another process may be the one that wishes it
        while not doing.done():
            doing.cancel()
            # Work that is told to stop just as something in it ends may miss it.
            await asyncio.wait([doing], timeout=CANCEL_AGAIN_S)

    def _prompt_of(self, conference_id: str, number: int, caller: Caller) -> str | Unanswered:
        lines = self.transcript(conference_id, caller)
        if isinstance(lines, Unanswered):
            return lines
        said = [each["text"] for each in lines if each.get("kind") == "prompt" and each.get("round") == number]
        return str(said[0]) if said else refusal_of(NO_ROUND)


def _nobody(_: Any) -> None:
    """Ignore events."""
