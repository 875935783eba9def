"""Talking to agents: who answers, with which model, at which gate, within which bounds, and what is kept of it.

1. The message can be taken; the agent and its endpoint are there.
2. Wait for the endpoint: one turn at a time, in order, the place in the queue is told.
3. A turn at the gate with the tier's and the configuration's limits.
4. The loop: model and gate in turns, the reply checked.
5. Transcript, credits and tiers are told.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from weakref import WeakValueDictionary

from tallystick.agents.answers import Answered, Unanswered, unheard
from tallystick.agents.chat import Chat, fault_of
from tallystick.agents.client_calls import HandedBack, Taken
from tallystick.agents.crew import Addressed, Crew
from tallystick.agents.turn_records import Aftermath, new_id
from tallystick.app.gate import Gate
from tallystick.gate.session import Session, valid_session_id
from tallystick.records import record
from tallystick.rooms.studio.conference.access import not_own
from tallystick.rooms.studio.conference.store import ConferenceFiles
from tallystick.turns.loop import run_turn
from tallystick.turns.model import Message
from tallystick.turns.request import Progress, Request
from tallystick.turns.result import Step, TurnResult


@record
class Waiting:
    """Others are before this turn at its endpoint."""

    position: int
    """How many come first."""


Watch = Callable[[Step | Progress | Waiting], None]
"""Is told what happens while it happens."""


class Conversation:
    """Agents of an open workspace, to talk to. Made once, so that turns on one endpoint queue together."""

    def __init__(self, gate: Gate) -> None:
        self.crew = Crew(gate)
        self.after = Aftermath(gate, self.crew.tiers)
        self._gate = gate
        self._handed = HandedBack(gate)
        self._conferences = ConferenceFiles(gate.workspace)

    async def chat(self, chat: Chat, *, watch: Watch | None = None) -> Answered | Unanswered:
        """Say something to an agent, and hear what comes of it.

        Args:
            chat: The message, and to whom.
            watch: Is told each step as it ends, and the place in the queue.
        """
        fault = fault_of(chat.message) or _fault_in(chat, [card.name for card in self._gate.tools()])
        if fault is not None:
            return fault
        to = await asyncio.to_thread(self.crew.addressed, chat.agent_id, offline=chat.offline)
        if isinstance(to, Unanswered):
            return to
        fault = await asyncio.to_thread(self._not_there, chat)
        if fault is not None:
            return fault
        taken = await self._taken(chat, to)
        if isinstance(taken, Unanswered):
            return taken
        session = Session(
            session_id=taken.session_id or chat.session_id or new_id("chat"),
            caller=chat.caller, agent_id=to.agent.agent_id, conference_id=chat.conference_id,
        )  # fmt: skip
        result = await self._turn(chat, to, session, taken, watch)
        await asyncio.to_thread(self.after.talked, chat.message, result, to, session)
        if result.unheard is not None:
            return unheard(result.unheard)
        return Answered(
            session_id=session.session_id, agent=to.agent, endpoint=to.endpoint, result=result, reported=taken.reports
        )

    def _not_there(self, chat: Chat) -> Unanswered | None:
        """A conference's budgets are for those who sit in one."""
        if chat.conference_id is None:
            return None
        fault = not_own(self._conferences, chat.conference_id, chat.caller)
        return None if fault is None else replace(fault, field="conferenceId")

    async def _taken(self, chat: Chat, to: Addressed) -> Taken | Unanswered:
        """What the client reports of calls that were handed back to it."""
        if not chat.reported:
            return Taken(session_id=None)
        step_bytes = self.crew.budget(to, conference=chat.conference_id is not None).step_bytes
        return await asyncio.to_thread(
            self._handed.take, chat.reported, chat.caller, session_id=chat.session_id, step_bytes=step_bytes
        )

    async def _turn(self, chat: Chat, to: Addressed, session: Session, taken: Taken, watch: Watch | None) -> TurnResult:
        async with self.crew.place(to.endpoint, _moved(watch)):
            history = chat.history
            if history is None:
                history = await asyncio.to_thread(
                    self.after.transcripts.history, session.session_id,
                    subject=session.caller.subject, agent_id=to.agent.agent_id,
                )  # fmt: skip
            budget = self.crew.budget(to, conference=chat.conference_id is not None)
            turn = self._gate.turn(
                session=session, agent=to.agent.agent_id, caller=chat.caller, client_tools=chat.client_tools,
                limits=budget, may_finish=bool(taken.injected) and not chat.policy.require_tool,
                user_texts=_said_by_user(chat.message, history),
            )  # fmt: skip
            for heard in taken.heard:
                turn.hear(heard)
            request = Request(
                message=chat.message, agent=to.agent, history=history, policy=chat.policy, skip_tools=chat.skip_tools,
                injected=taken.injected, max_steps=budget.steps, cot=self._gate.settings.gate.cot,
                max_tokens=to.tokens(chat.max_tokens), temperature=to.endpoint.temperature,
            )  # fmt: skip
            check = self.crew.checker(turn.session, to.agent)
            return await run_turn(request, model=self.crew.model(to.endpoint), turn=turn, check=check, watch=watch)


def conversation_of(gate: Gate) -> Conversation:
    """The one conversation of an open workspace: doors and flows share it, so that their turns queue together."""
    found = _open.get(id(gate))
    if found is None:
        found = _open[id(gate)] = Conversation(gate)
    return found


_open: WeakValueDictionary[int, Conversation] = WeakValueDictionary()
"""By the gate's identity, which is nobody else's as long as its conversation lives: that holds the gate."""


def _fault_in(chat: Chat, names: Sequence[str]) -> Unanswered | None:
    """What else of a message cannot be taken."""
    if chat.session_id is not None and not valid_session_id(chat.session_id):
        advice = "A session id has letters, digits, dot, dash and underscore, 128 at most."
        return Unanswered(code="session_id_invalid", advice=advice, field="sessionId")
    taken = {card.name for card in chat.client_tools}.intersection(names)
    if taken:
        advice = f"This server has a tool of the name {min(taken)}. Give yours another name."
        return Unanswered(code="tool_name_taken", advice=advice, field="tools")
    return _fault_in_policy(chat, {*names, *(card.name for card in chat.client_tools)})


def _fault_in_policy(chat: Chat, names: Set[str]) -> Unanswered | None:
    """A policy that names tools nobody has, or asks for a call where none can be made."""
    policy = chat.policy
    unknown = sorted((policy.allowed_tools or frozenset()) - names)
    if unknown:
        advice = f"There is no tool {unknown[0][:100]!r}. Name tools of `tally tools`, or leave allowedTools out."
        return Unanswered(code="tool_unknown", advice=advice, field="toolPolicy")
    if policy.require_tool and (chat.skip_tools or policy.allowed_tools == frozenset()):
        why = "skipTools allows none" if chat.skip_tools else "allowedTools is empty"
        advice = f"A tool call is required, and {why}. Leave one of the two out."
        return Unanswered(code="tool_policy_conflict", advice=advice, field="toolPolicy")
    return None


def _moved(watch: Watch | None) -> Callable[[int], None] | None:
    """Tell a watcher his place, if there is anybody before him."""
    if watch is None:
        return None

    def tell(position: int) -> None:
        if position > 0:
            watch(Waiting(position=position))

    return tell


def _said_by_user(message: str, history: Iterable[Message]) -> list[str]:
    """The user's own words; a client's instructions are its user's as well."""
    return [message, *(each.content for each in history if each.role in {"user", "system"})]
