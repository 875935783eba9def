"""The offline agent as a turn sees it: a model like any other, that happens to be a program."""

import asyncio
from collections.abc import Callable, Sequence

import orjson

from tallystick.gate.reply.roles import sources_of
from tallystick.providers.offline.answering import answer
from tallystick.providers.offline.planning import next_call
from tallystick.providers.offline.prompt import PromptReading, read_prompt
from tallystick.providers.offline.results import read_results
from tallystick.providers.offline.situation import PlannedCall, Situation
from tallystick.providers.offline.wish import read_wish
from tallystick.providers.offline.words import stems_of
from tallystick.turns.model import Ask, Message, ModelError, Said, Speech, Usage

NAME = "offline-1"
_LONG = 20_000
"""Characters of a prompt that is answered in a thread of its own."""
_CHARS_A_TOKEN = 4
"""Roughly, for English; nothing is paid by it, but caps count it."""


class OfflineModel:
    """Answers from the prompt alone: no model, no network, the same answer every time."""

    speech: Speech = "envelope"
    provider = "offline"

    def __init__(self, name: str = NAME) -> None:
        self.name = name

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Answer one step."""
        asked = sum(len(message.content) for message in ask.messages)
        # A long prompt takes longer than others may be kept waiting; a short one less than changing threads.
        text = await asyncio.to_thread(respond, ask.messages) if asked > _LONG else respond(ask.messages)
        if hear is not None:
            hear(text)
        usage = Usage(input_tokens=asked // _CHARS_A_TOKEN, output_tokens=len(text) // _CHARS_A_TOKEN)
        return Said(text=text, usage=usage, model=self.name)


def respond(messages: Sequence[Message]) -> str:
    """What the agent says to a prompt: an envelope where the step wants one, else prose."""
    reading = read_prompt(messages)
    persona = reading.persona
    now = Situation(
        reading=reading,
        wish=read_wish(
            reading.request,
            reading.earlier,
            [tool.name for tool in reading.tools],
            does=frozenset(stems_of(" ".join([persona.purpose, *persona.owns]))),
        ),
        results=read_results(reading.seen),
        wanted=persona.sources or sources_of(persona.agent_id, {}),
    )
    if reading.nonce is None:
        return answer(now)
    call = next_call(now)
    if call is not None:
        return _envelope(call, reading)
    if not reading.first or reading.may_finish:
        return _json({"action": "final", "nonce": reading.nonce})
    return answer(now)


def _envelope(call: PlannedCall, reading: PromptReading) -> str:
    body: dict[str, object] = {"tool": call.tool, "args": call.filled.args, "nonce": reading.nonce}
    return _json(body if reading.first else {"action": "tool", **body})


def _json(value: dict[str, object]) -> str:
    return orjson.dumps(value).decode()
