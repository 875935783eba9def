"""OpenAI Agents SDK: a scripted model, the SDK's own runner, the gate under its tools."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("agents", reason="left out: the OpenAI Agents adapter, the agents extra is not there")

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tallystick import Governed
from tallystick.openai_agents import agent_tools
from tests.frameworks.shop import GOOD, HELD, WRONG, Shop


class Scripted(Model):
    """Calls what it is told to, keeps what it was shown, then ends."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.calls: Iterator[tuple[str, dict[str, Any]]] = iter(calls)
        self.shown: list[str] = []
        self.told: set[str] = set()

    async def get_response(self, *, tools: Any, **asked: Any) -> Any:
        self.told = {each.name for each in tools}
        self.shown = [item["output"] for item in asked["input"] if isinstance(item, dict) and "output" in item]
        call = next(self.calls, None)
        if call is None:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[done], usage=Usage(), response_id=None)
        name, args = call
        made = ResponseFunctionToolCall(
            type="function_call", call_id=f"c{len(self.shown)}", name=name, arguments=json.dumps(args)
        )
        return ModelResponse(output=[made], usage=Usage(), response_id=None)

    def stream_response(self, *_asked: Any, **_more: Any) -> Any:
        raise AssertionError("nobody here asks for a stream")


@pytest.mark.promise("frameworks.agents-sdk")
def test_refusals_and_holds_reach_the_model_as_tool_output_and_the_run_goes_on(shop: Shop) -> None:
    set_tracing_disabled(disabled=True)
    model = Scripted(GOOD, WRONG, HELD)
    agent = Agent(name="buyer", model=model, tools=list(agent_tools(Governed(shop.gate, session="s1"))))

    result = asyncio.run(Runner.run(agent, "Do we have lamps?"))

    assert result.final_output == "Done."
    assert model.told == {"stock__count", "order", "odd"}
    for shown, begin in zip(model.shown, ("4", "INVALID_PAYLOAD: ", "approval_required: "), strict=True):
        assert shown.startswith(begin)
    assert "tally approvals approve" in model.shown[2]
    assert len(shop.receipts()) == 3
    assert shop.ran == ["lamp"]


@pytest.mark.promise("frameworks.agents-sdk")
def test_the_sync_runner_works_too(shop: Shop) -> None:
    set_tracing_disabled(disabled=True)
    model = Scripted(GOOD)
    agent = Agent(name="buyer", model=model, tools=list(agent_tools(Governed(shop.gate, session="s1"))))
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        result = Runner.run_sync(agent, "Do we have lamps?")
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert (result.final_output, model.shown) == ("Done.", ["4"])
