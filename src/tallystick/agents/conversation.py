"""Chats with agents.

1. Check the message, the agent and its endpoint.
2. Queue for the endpoint, which runs one turn at a time in order; report the queue position.
3. Start a turn at the gate with the limits of the tier and the configuration.
4. Run the loop between model and gate and check the reply.
5. Record the turn: transcript, credits, counts.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace

from tallystick.agents.answers import Answered, Unanswered, model_failure
from tallystick.agents.chat import Chat, fault_of
from tallystick.agents.client_calls import ClientCalls, Taken
from tallystick.agents.crew import Crew, Recipient
from tallystick.agents.ports import AgentGate, ConversationAccess
from tallystick.agents.turn_records import TurnRecorder, new_id
from tallystick.gate.session import Session, valid_session_id
from tallystick.records import record
from tallystick.turns.loop import run_turn
from tallystick.turns.model import Message
from tallystick.turns.request import Progress, Request
from tallystick.turns.result import Step, TurnResult


@record
class Waiting:
    """The turn waits in the queue of its endpoint."""

    position: int
    """Number of turns ahead in the queue."""


Watch = Callable[[Step | Progress | Waiting], None]
"""Receives steps, progress and queue positions as they happen."""


class Conversation:
    """Chats with the agents of an open workspace; `app.agents.conversation_of` returns the workspace's instance."""

    def __init__(self, gate: AgentGate, *, crew: Crew, recorder: TurnRecorder, access: ConversationAccess) -> None:
        self.crew = crew
        self.recorder = recorder
        self._gate = gate
        self._access = access
        self._client_calls = ClientCalls(gate)

    async def chat(self, chat: Chat, *, watch: Watch | None = None) -> Answered | Unanswered:
        """Send a message to an agent.

        Args:
            chat: The message and its recipient.
            watch: Receives each finished step, progress and the queue position.
        """
        fault = fault_of(chat.message) or _fault_in(chat, [card.name for card in self._gate.tools()])
        if fault is not None:
            return fault
        to = await asyncio.to_thread(self.crew.recipient, chat.agent_id, offline=chat.offline)
        if isinstance(to, Unanswered):
            return to
        fault = await asyncio.to_thread(self._access_fault, chat)
        if fault is not None:
            return fault
        taken = await self._taken(chat, to)
        if isinstance(taken, Unanswered):
            return taken
        session = Session(
            session_id=taken.session_id or chat.session_id or new_id("chat"),
            caller=chat.caller,
            agent_id=to.agent.agent_id,
            conference_id=chat.conference_id,
        )
        result = await self._turn(chat, to, session, taken, watch)
        await asyncio.to_thread(self.recorder.record_chat, chat.message, result, to, session)
        if result.model_error is not None:
            return model_failure(result.model_error)
        return Answered(
            session_id=session.session_id, agent=to.agent, endpoint=to.endpoint, result=result, reported=taken.reports
        )

    def _offered(self, chat: Chat, to: Recipient) -> frozenset[str] | None:
        """Return the tools of the turn: those of the agent, unless the request names its own."""
        if chat.policy.allowed_tools is not None:
            return chat.policy.allowed_tools
        return self.crew.tools_of(to.agent, besides=chat.client_tools)

    def _access_fault(self, chat: Chat) -> Unanswered | None:
        """Return why the caller may not use the conference; None if allowed."""
        if chat.conference_id is None:
            return None
        fault = self._access.refusal(chat.conference_id, chat.caller)
        return None if fault is None else replace(fault, field="conferenceId")

    async def _taken(self, chat: Chat, to: Recipient) -> Taken | Unanswered:
        """Record the results that the client reports for calls it ran itself."""
        if not chat.reported:
            return Taken(session_id=None)
        step_bytes = self.crew.budget(to, conference=chat.conference_id is not None).step_bytes
        return await asyncio.to_thread(
            self._client_calls.take, chat.reported, chat.caller, session_id=chat.session_id, step_bytes=step_bytes
        )

    async def _turn(self, chat: Chat, to: Recipient, session: Session, taken: Taken, watch: Watch | None) -> TurnResult:
        async with self.crew.place(to.endpoint, _moved(watch)):
            history = chat.history
            if history is None:
                history = await asyncio.to_thread(
                    self.recorder.transcripts.history,
                    session.session_id,
                    subject=session.caller.subject,
                    agent_id=to.agent.agent_id,
                )
            budget = self.crew.budget(to, conference=chat.conference_id is not None)
            turn = self._gate.turn(
                session=session,
                agent=to.agent.agent_id,
                caller=chat.caller,
                client_tools=chat.client_tools,
                allowed_tools=self._offered(chat, to),
                limits=budget,
                may_finish=bool(taken.injected) and not chat.policy.require_tool,
                user_texts=_said_by_user(chat.message, history),
            )
            for heard in taken.heard:
                turn.hear(heard)
            request = Request(
                message=chat.message,
                agent=to.agent,
                history=history,
                policy=chat.policy,
                skip_tools=chat.skip_tools,
                injected=taken.injected,
                max_steps=budget.steps,
                cot=self._gate.settings.gate.cot,
                reply_retries=self._gate.settings.turns.reply_retries,
                max_tokens=to.tokens(chat.max_tokens),
                temperature=to.endpoint.temperature,
            )
            check = self.crew.checker(turn.session, to.agent)
            return await run_turn(request, model=self.crew.model(to.endpoint), turn=turn, check=check, watch=watch)


def _fault_in(chat: Chat, names: Sequence[str]) -> Unanswered | None:
    """Check the session id, client tool names and tool policy of a chat; None if valid."""
    if chat.session_id is not None and not valid_session_id(chat.session_id):
        advice = "A session id has letters, digits, dot, dash and underscore, 128 at most."
        return Unanswered(code="session_id_invalid", advice=advice, field="sessionId")
    taken = {card.name for card in chat.client_tools}.intersection(names)
    if taken:
        advice = f"This server has a tool of the name {min(taken)}. Give yours another name."
        return Unanswered(code="tool_name_taken", advice=advice, field="tools")
    return _fault_in_policy(chat, {*names, *(card.name for card in chat.client_tools)})


def _fault_in_policy(chat: Chat, names: Set[str]) -> Unanswered | None:
    """Check a tool policy for unknown tools and for a required call when no tool is allowed; None if valid."""
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
    """Return a callback that reports the queue position while other turns are ahead."""
    if watch is None:
        return None

    def tell(position: int) -> None:
        if position > 0:
            watch(Waiting(position=position))

    return tell


def _said_by_user(message: str, history: Iterable[Message]) -> list[str]:
    """Return the user's texts; a client's system message counts as the user's."""
    return [message, *(each.content for each in history if each.role in {"user", "system"})]
