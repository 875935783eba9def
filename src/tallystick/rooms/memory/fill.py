"""Fill memory from a text: recorded word for word, then read by rules, or by an agent's model through turns.

The text is recorded by whoever brought it. A model only proposes what it states, and the gate checks every quote.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.agents.answers import Unanswered, model_failure
from tallystick.agents.crew import Recipient
from tallystick.agents.wire import OFFLINE
from tallystick.app.agents import conversation_of
from tallystick.app.gate import Gate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller, Session
from tallystick.records import record
from tallystick.rooms.memory.extract import Passage, extract_conversation, extract_document
from tallystick.rooms.memory.flows.remember import Origin, Refusal, Remembered, remember
from tallystick.rooms.memory.flows.scribe import Recorded, propose_with_model, proposed_in
from tallystick.rooms.memory.room import Memory
from tallystick.turns.result import TurnResult

DOCUMENT = "document"


@record
class Text:
    """What memory is told."""

    words: str
    origin: Origin
    caller: Caller
    session_id: str
    agent_id: str | None = None
    """Whose model reads it; None: rules do."""


@record
class Filled:
    """What came of it."""

    remembered: Remembered
    model_error: Unanswered | None = None
    """Why the model gave no answer; what was recorded and proposed before stays."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        failed = self.model_error
        return {
            **self.remembered.as_dict(),
            "unheard": None if failed is None else {"code": failed.code, "message": failed.advice},
        }


def passages_of(text: Text) -> list[Passage]:
    """The text cut into observations, each with what rules read in it."""
    if text.origin.source_class == DOCUMENT:
        return extract_document(text.words)
    return extract_conversation(text.words, speaker=text.origin.source_id)


async def fill(gate: Gate, room: Memory, text: Text) -> Filled | Unanswered:
    """Record a text and propose what it states.

    Args:
        gate: The workspace.
        room: Its memory.
        text: What is told, by whom, and who reads it.
    """
    session = Session(session_id=text.session_id, caller=text.caller)
    # Reading a megabyte by rules takes seconds; others are served meanwhile.
    passages = await asyncio.to_thread(passages_of, text)

    async def call(tool: str, args: Mapping[str, Any]) -> Outcome:
        return await gate.call(tool, args, session=session, caller=text.caller)

    if text.agent_id is None:
        return Filled(remembered=await remember(call, passages, text.origin, known=room.reading.known))
    to = await asyncio.to_thread(conversation_of(gate).crew.recipient, text.agent_id)
    if isinstance(to, Unanswered):
        return to
    if to.endpoint.provider == OFFLINE:
        advice = (
            f"{text.agent_id} has no model. Give it one (tally agents), or name no agent: rules read the text then."
        )
        return Unanswered(code="agent_without_model", advice=advice, status=409, field="agent")
    return await _by_model(gate, text, to, passages, call, room)


async def _by_model(
    gate: Gate, text: Text, to: Recipient, passages: list[Passage], call: Any, room: Memory
) -> Filled:  # fmt: skip
    made = Remembered()
    for passage in passages:
        plain = replace(passage, claims=())
        recorded = await remember(call, [plain], text.origin, known=room.reading.known)
        made = made.joined(recorded)
        for name in recorded.observation_ids:
            about = Recorded(observation_id=name, text=passage.text, speaker=passage.speaker)
            result = await _turn(gate, text, to, about)
            made = made.joined(proposed_in(result))
            if result.model_error is not None:
                return Filled(remembered=made, model_error=model_failure(result.model_error))
            if result.held is not None:
                waits = Refusal(
                    tool="", code="approval_pending", reason=f"{result.held.approval_id} waits for a person"
                )
                made = made.joined(Remembered(refusals=(waits,)))
    return Filled(remembered=made)


async def _turn(gate: Gate, text: Text, to: Recipient, about: Recorded) -> TurnResult:
    """One turn of the agent over one observation, in its endpoint's queue and within its tier."""
    crew = conversation_of(gate).crew
    session = Session(session_id=text.session_id, caller=text.caller, agent_id=to.agent.agent_id)
    async with crew.place(to.endpoint, None):
        budget = crew.budget(to)
        turn = gate.turn(
            session=session, agent=to.agent.agent_id, caller=text.caller, limits=budget, user_texts=[about.text]
        )
        check = crew.checker(turn.session, to.agent)
        return await propose_with_model(
            about, model=crew.model(to.endpoint), turn=turn, check=check, agent_id=to.agent.agent_id,
            max_steps=budget.steps,
        )  # fmt: skip
