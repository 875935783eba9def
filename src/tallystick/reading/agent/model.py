"""The agent as a turn sees it: a model like any other, that happens to be a program."""

import asyncio
from collections.abc import Callable, Sequence

import orjson

from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.model import NAME, OfflineModel, respond
from tallystick.providers.offline.prompt import PromptReading, read_prompt
from tallystick.providers.offline.results import read_results
from tallystick.reading.agent.library import Library
from tallystick.reading.agent.plan import Plan, plan_for
from tallystick.reading.agent.replies import reply_to
from tallystick.turns.model import Ask, Message, ModelError, Said, Speech, Usage

_CHARS_A_TOKEN = 4
"""Roughly, for English; nothing is paid by it, but caps count it."""


class ReadingAgent:
    """Answers from the prompt and the workspace: the same answer to the same files every time."""

    speech: Speech = "envelope"
    provider = "offline"

    def __init__(self, library: Library, name: str = NAME) -> None:
        self.name = name
        self._library = library
        self._plans: dict[str, Plan] = {}

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Answer one step."""
        reading = read_prompt(ask.messages)
        if (
            not _is_reader(reading)
            or _is_given_results(reading)
            or await asyncio.to_thread(self._is_for_others, reading, ask.messages)
        ):
            return await OfflineModel(self.name).ask(ask, hear=hear)
        text = await asyncio.to_thread(self._respond, reading)
        if hear is not None:
            hear(text)
        asked = sum(len(message.content) for message in ask.messages)
        usage = Usage(input_tokens=asked // _CHARS_A_TOKEN, output_tokens=len(text) // _CHARS_A_TOKEN)
        return Said(text=text, usage=usage, model=self.name)

    def _respond(self, reading: PromptReading) -> str:
        plan = plan_for(reading, self._library)
        if reading.nonce is None:
            return reply_to(reading, plan, self._library)
        made = [(each.seen.tool, each.seen.args) for each in read_results(reading.seen)]
        for call in plan.calls:
            if (call.tool, dict(call.args)) not in made:
                body: dict[str, object] = {"tool": call.tool, "args": dict(call.args), "nonce": reading.nonce}
                return orjson.dumps(body if reading.first else {"action": "tool", **body}).decode()
        if reading.first and not reading.may_finish:
            return reply_to(reading, plan, self._library)
        return orjson.dumps({"action": "final", "nonce": reading.nonce}).decode()

    def _is_for_others(self, reading: PromptReading, messages: Sequence[Message]) -> bool:
        """Return whether the turn calls a tool that brings no example requests: it is chosen by its card."""
        others = {tool.name for tool in reading.tools if not self._library.intents.knows(tool.name)}
        if not others:
            return False
        if any(seen.tool in others for seen in reading.seen):
            return True
        said = respond(messages) if reading.nonce is not None and not reading.seen else ""
        called = orjson.loads(said).get("tool") if said.startswith("{") else None
        return called in others


def _is_given_results(reading: PromptReading) -> bool:
    """Return whether others made calls for this turn: the steps of a recipe, the tool phase of a conference."""
    return any(seen.args is None for seen in reading.seen)


def _is_reader(reading: PromptReading) -> bool:
    """Return whether the turn is about the files of the workspace: a tool that reads them is offered."""
    return any(takes_path(tool) and line_keys(tool) for tool in reading.tools)
