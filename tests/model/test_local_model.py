"""The real local model against the gate: a tool turn end to end with the schema on, and what the schema is worth."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.forms import shaped
from tallystick.providers.local.weights import BUNDLED
from tallystick.providers.models import model_for
from tallystick.settings import Settings
from tallystick.turns.agents.agent import Agent, Endpoint
from tallystick.turns.loop import Request, ToolPolicy, TurnResult, run_turn
from tallystick.turns.model import Ask, Model, Said, Unheard
from tests.gates import open_gate, outcomes
from tests.model.prompts import PROMPTS, furnish, tools
from tests.providers.chat.asking import SCHEMA, asking, said

pytestmark = [pytest.mark.local_model, pytest.mark.promise("providers.schema-works")]
AGENT = Agent(agent_id="assistant", name="Assistant", role="assistant", purpose="Answers from what tools return.")
LOCAL = Endpoint(agent_id="assistant", provider="local", model=BUNDLED, timeout_s=300.0)
TOKENS = 160
"""The longest envelope a prompt here asks for is a third of it."""


class WithoutSchema:
    """The same model, asked without the schema."""

    def __init__(self, model: Model) -> None:
        self.speech, self.provider, self.name = model.speech, model.provider, model.name
        self._model = model

    async def ask(self, ask: Ask, *, hear: Any = None) -> Said | Unheard:
        return await self._model.ask(replace(ask, schema=None), hear=hear)


def local() -> Model:
    return model_for(LOCAL, settings=Settings(), memory=CapabilityBook())


async def turn_of(gate: Gate, model: Model, tool: str, message: str, *, steps: int) -> TurnResult:
    turn = gate.turn(agent="assistant")

    def check(reply: str, *, tools_ran: bool, receipts: Any, conference: bool) -> Any:
        return gate.check_reply(reply, session=turn.session, tools_ran=tools_ran, conference=conference)

    policy = ToolPolicy(require_tool=True, allowed_tools=frozenset({tool}))
    request = Request(message=message, agent=AGENT, policy=policy, max_steps=steps, max_tokens=TOKENS)
    return await run_turn(request, model=model, turn=turn, check=check)


async def turns_of(gate: Gate, model: Model) -> list[TurnResult]:
    # The first prompt of each tool is given a second step, so that the decision is seen too; one is enough for the rest.
    firsts = dict(reversed(PROMPTS))
    return [
        await turn_of(gate, model, tool, message, steps=2 if firsts[tool] == message else 1)
        for tool, message in PROMPTS
    ]


def refused(results: list[TurnResult]) -> Counter[str]:
    return Counter((result.stop_hook or "").rpartition(" ")[2] for result in results if not result.receipts)


def test_tool_turns_run_with_the_schema_on_and_are_refused_without_it(tmp_path: Path, figures: list[str]) -> None:
    folders = {"on": tmp_path / "on", "off": tmp_path / "off"}
    results: dict[str, list[TurnResult]] = {}
    for which, folder in folders.items():
        folder.mkdir()
        furnish(folder)
        with open_gate(folder, *tools(), plugins=True) as gate:
            results[which] = asyncio.run(turns_of(gate, local() if which == "on" else WithoutSchema(local())))
            held = {receipt.receipt_id for receipt in outcomes(gate)}
        assert all(set(result.receipts) <= held for result in results[which])
        assert Gate.verify(folder).ok
    _report(results, figures)
    assert not [result.unheard for each in results.values() for result in each if result.unheard is not None]
    on, off = refused(results["on"]), refused(results["off"])
    assert sum(on.values()) == 0, on
    assert sum(off.values()) > 0
    # To its end: every turn got as far as an answer in plain text, whatever the check thought of it.
    assert all(result.steps[-1].kind == "final" for result in results["on"])


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


def _report(results: dict[str, list[TurnResult]], figures: list[str]) -> None:
    figures.append(
        "| schema | prompts | first call refused | calls run | calls that failed | replies that hold | why refused |"
    )
    figures.append("|---|---:|---:|---:|---:|---:|---|")
    for which, each in results.items():
        calls = [step for result in each for step in result.steps if step.receipt_id and step.kind == "call"]
        failed = sum(step.code is not None for step in calls if step.receipt_id in _ran(each))
        why = ", ".join(f"{code} {count}" for code, count in sorted(refused(each).items())) or "–"
        hold = sum(result.reply is not None for result in each)
        figures.append(
            f"| {which} | {len(each)} | {sum(refused(each).values())} | {len(_ran(each))} | {failed} | {hold} | {why} |"
        )


def _ran(results: list[TurnResult]) -> set[str]:
    return {receipt for result in results for receipt in result.receipts}
