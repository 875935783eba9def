"""The real local model against the gate: a tool turn end to end with the schema on, and what the schema is worth."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.forms import shaped
from tallystick.providers.endpoints import model_for
from tallystick.providers.local.weights import DEFAULT_MODEL
from tallystick.settings import Settings
from tallystick.turns.agent import Agent, Endpoint
from tallystick.turns.loop import Request, TurnResult, TurnToolPolicy, run_turn
from tallystick.turns.model import Ask, Model, ModelError, Said
from tests.gates import open_gate, outcomes
from tests.model.prompts import PROMPTS, furnish, tools
from tests.providers.chat.asking import SCHEMA, asking, said
from tests.verifying import verify

pytestmark = [pytest.mark.local_model, pytest.mark.promise("providers.schema-works")]
AGENT = Agent(agent_id="assistant", name="Assistant", role="assistant", purpose="Answers from what tools return.")
LOCAL = Endpoint(agent_id="assistant", provider="local", model=DEFAULT_MODEL, timeout_s=300.0)
TOKENS = 160
"""The longest envelope seen here has 123; a model that repeats itself in a free text does not end within any limit."""


class Noted:
    """The model as it is, or asked without the schema; notes how each answer ended."""

    def __init__(self, model: Model, *, schema: bool) -> None:
        self.speech, self.provider, self.name = model.speech, model.provider, model.name
        self.finishes: list[str] = []
        self._model = model
        self._schema = schema

    async def ask(self, ask: Ask, *, hear: Any = None) -> Said | ModelError:
        answer = await self._model.ask(ask if self._schema else replace(ask, schema=None), hear=hear)
        self.finishes.append(answer.finish if isinstance(answer, Said) else answer.code)
        return answer


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One turn, and how the model's first answer ended."""

    result: TurnResult
    first: str

    @property
    def refused(self) -> bool:
        return not self.result.receipts

    @property
    def cut(self) -> bool:
        """Cut off at the token limit: half an object, whatever held the model to the schema."""
        return self.first == "length"


def local() -> Model:
    return model_for(LOCAL, settings=Settings(), memory=CapabilityBook())


async def turn_of(gate: Gate, tool: str, message: str, *, schema: bool, steps: int) -> Ran:
    turn, model = gate.turn(agent="assistant"), Noted(local(), schema=schema)

    def check(reply: str, *, tools_ran: bool, receipts: Any, conference: bool) -> Any:
        return gate.check_reply(reply, session=turn.session, tools_ran=tools_ran, conference=conference)

    policy = TurnToolPolicy(require_tool=True, allowed_tools=frozenset({tool}))
    request = Request(message=message, agent=AGENT, policy=policy, max_steps=steps, max_tokens=TOKENS)
    return Ran(result=await run_turn(request, model=model, turn=turn, check=check), first=model.finishes[0])


async def turns_of(gate: Gate, *, schema: bool) -> list[Ran]:
    # The first prompt of each tool is given a second step, so that the decision is seen too; one is enough for the rest.
    firsts = dict(reversed(PROMPTS))
    return [
        await turn_of(gate, tool, message, schema=schema, steps=2 if firsts[tool] == message else 1)
        for tool, message in PROMPTS
    ]


def test_what_the_model_finishes_is_admitted_with_the_schema_on_and_little_is_without_it(
    tmp_path: Path, figures: list[str]
) -> None:
    ran: dict[str, list[Ran]] = {}
    for which in ("on", "off"):
        folder = tmp_path / which
        folder.mkdir()
        furnish(folder)
        with open_gate(folder, *tools(), plugins=True) as gate:
            ran[which] = asyncio.run(turns_of(gate, schema=which == "on"))
            held = {receipt.receipt_id for receipt in outcomes(gate)}
        assert all(set(each.result.receipts) <= held for each in ran[which])
        assert verify(folder).ok
        figures.extend(_rows(which, ran[which]))
    assert not [
        each.result.model_error for turns in ran.values() for each in turns if each.result.model_error is not None
    ]
    # The schema promises the form of an answer, not that the model comes to its end within the token limit.
    assert [each for each in ran["on"] if each.refused and not each.cut] == []
    assert sum(each.refused for each in ran["on"]) < sum(each.refused for each in ran["off"])
    through = [each.result for each in ran["on"] if not each.refused]
    assert len(through) >= len(PROMPTS) // 2
    # To its end: an answer in plain text, whatever the check thought of it.
    assert all(result.steps[-1].kind == "final" for result in through)


@pytest.mark.parametrize("form", ["schema", "object", "grammar"])
def test_every_form_holds_the_model_to_the_schema(form: Any) -> None:
    shape = shaped(SCHEMA, form)
    assert shape is not None
    memory = CapabilityBook()
    memory.takes(LOCAL.key, form)
    ask = asking("Read a.md with the tool reader.", schema=SCHEMA, max_tokens=TOKENS)
    text = said(asyncio.run(model_for(LOCAL, settings=Settings(), memory=memory).ask(ask))).text
    assert '"n1"' in text
    assert text.strip().startswith("{")
    assert text.strip().endswith("}")


def _rows(which: str, ran: list[Ran]) -> list[str]:
    refused = [each for each in ran if each.refused]
    receipts = {receipt for each in ran for receipt in each.result.receipts}
    steps = [step for each in ran for step in each.result.steps if step.receipt_id in receipts]
    codes = Counter((each.result.stop_hook or "").rpartition(" ")[2] for each in refused)
    numbers = [
        len(ran),
        len(refused),
        sum(each.cut for each in refused),
        len(receipts),
        sum(step.code is not None for step in steps),
        sum(each.result.reply is not None for each in ran),
    ]
    why = ", ".join(f"{code} {count}" for code, count in sorted(codes.items())) or "–"
    head = ["| schema | prompts | first call refused | of these cut off | calls run | failed in the tool | replies that hold | why |",
            "|---|---:|---:|---:|---:|---:|---:|---|"]  # fmt: skip
    return [*(head if which == "on" else []), f"| {which} | {' | '.join(map(str, numbers))} | {why} |"]
