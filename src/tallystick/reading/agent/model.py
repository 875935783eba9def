"""The agent as a turn sees it: a model like any other, that happens to be a program."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

import orjson

from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.model import OfflineModel, respond
from tallystick.providers.offline.prompt import PromptReading, read_prompt
from tallystick.providers.offline.results import read_results
from tallystick.reading.agent.answer_judge import AnswerJudge, judged
from tallystick.reading.agent.library import Library
from tallystick.reading.agent.plan import Plan, answered_by, plan_for, stated_among
from tallystick.reading.agent.replies import reply_to
from tallystick.reading.answers import Candidate
from tallystick.turns.model import Ask, Message, Model, ModelError, Said, Speech, Usage

_CHARS_A_TOKEN = 4
"""Roughly, for English; nothing is paid by it, but caps count it."""
_KEPT = 64
"""Maximum number of questions whose judgements are cached."""


class ReadingAgent:
    """Answers from the prompt and the workspace, deterministically.

    A small model, if given, judges which sentence answers, and itself answers requests that are not about the files.
    """

    speech: Speech = "envelope"

    def __init__(self, library: Library, *, model: Model | None = None, judge: AnswerJudge | None = None) -> None:
        """Create the agent, with a small model or without one.

        Args:
            library: The workspace.
            model: Answers requests that are not about the files.
            judge: The same model, as a judge of sentences.
        """
        self._library = library
        self._other = model or OfflineModel()
        self._judge = judge
        self._judged: OrderedDict[tuple[str, ...], list[Candidate]] = OrderedDict()

    @property
    def provider(self) -> str:
        """The model's provider; `offline` without one."""
        return self._other.provider

    @property
    def name(self) -> str:
        """The model's name."""
        return self._other.name

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Answer one step."""
        reading = read_prompt(ask.messages)
        if (
            not _is_reader(reading)
            or _is_given_results(reading)
            or await asyncio.to_thread(self._is_for_others, reading, ask.messages)
        ):
            return await self._other.ask(ask, hear=hear)
        plan = await asyncio.to_thread(plan_for, reading, self._library)
        if self._judge is not None and plan.candidates:
            found = await self._judge_sentences(reading.request, plan.candidates, self._judge)
            if isinstance(found, ModelError):
                return found
            plan = answered_by(plan, stated_among(found), reading)
        text = await asyncio.to_thread(self._respond, reading, plan)
        if hear is not None:
            hear(text)
        asked = sum(len(message.content) for message in ask.messages)
        usage = Usage(input_tokens=asked // _CHARS_A_TOKEN, output_tokens=len(text) // _CHARS_A_TOKEN)
        return Said(text=text, usage=usage, model=self.name)

    async def _judge_sentences(
        self, question: str, candidates: Sequence[Candidate], judge: AnswerJudge
    ) -> list[Candidate] | ModelError:
        """Return judged candidates; they are cached because every step of a turn needs them."""
        key = (question, *(each.text for each in candidates))
        if key in self._judged:
            return self._judged[key]
        found = await judged(question, candidates, judge)
        if not isinstance(found, ModelError):
            self._judged[key] = found
            if len(self._judged) > _KEPT:
                self._judged.popitem(last=False)
        return found

    def _respond(self, reading: PromptReading, plan: Plan) -> str:
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
