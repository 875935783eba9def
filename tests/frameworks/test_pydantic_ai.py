"""Pydantic AI: its own agent, a scripted model, the gate under its tools."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="left out: the Pydantic AI adapter, the pydantic_ai extra is not there")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tallystick import Governed
from tallystick.pydantic_ai import agent_tools, guard_tools
from tests.frameworks.shop import GOOD, HELD, ODD, WRONG, Shop

CALLS = (GOOD, WRONG, HELD, ODD)


def scripted(*calls: tuple[str, dict[str, Any]]) -> FunctionModel:
    left = iter(calls)

    def answer(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        call = next(left, None)
        return ModelResponse(parts=[TextPart("Done.") if call is None else ToolCallPart(*call)])

    return FunctionModel(answer)


def returns(result: Any) -> list[ToolReturnPart]:
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]


@pytest.mark.promise("frameworks.pydantic-ai")
def test_refusals_and_holds_are_failed_tool_returns_and_the_run_goes_on(shop: Shop) -> None:
    agent = Agent(scripted(*CALLS), tools=agent_tools(Governed(shop.gate, session="s1", agent="buyer")))

    result = asyncio.run(agent.run("Do we have lamps?"))

    told = returns(result)
    assert result.output == "Done."
    assert [part.outcome for part in told] == ["success", "failed", "failed", "success"]
    assert told[0].content == 4
    assert told[0].metadata.receipt_id == shop.receipts()[0]["receipt_id"]
    assert str(told[1].content).startswith("INVALID_PAYLOAD: ")
    assert str(told[2].content).startswith("approval_required: ")
    assert "tally approvals approve" in str(told[2].content)
    assert told[3].content == ODD[1]
    assert len(shop.receipts()) == len(CALLS)
    assert shop.ran == ["lamp"]


@pytest.mark.promise("frameworks.pydantic-ai", "frameworks.guard")
def test_existing_functions_go_through_the_gate(shop: Shop) -> None:
    def price(item: str) -> float:
        """Say what an item costs."""
        return len(item) / 2

    agent = Agent(scripted(("price", {"item": "lamp"})), tools=guard_tools(shop.gate, [price], session="s1"))
    assert returns(agent.run_sync("What is a lamp?"))[0].content == 2.0
    assert len(shop.receipts()) == 1
