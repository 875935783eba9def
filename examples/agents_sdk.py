"""OpenAI Agents SDK with the gate under it (needs tallystick[agents]). The model is a script: no network."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from tallystick import Gate, tool
from tallystick.openai_agents import guard_tools


@tool(effect="read", name="stock.count")
def count(item: str) -> int:
    """Say how many of an item are in stock."""
    return len(item)


@tool(effect="external")
def order(item: str, pieces: int) -> str:
    """Order more of an item."""
    return f"ordered {pieces} {item}"


SCRIPT = [
    ("stock__count", {"item": "lamp"}),
    ("stock__count", {"thing": "lamp"}),
    ("order", {"item": "lamp", "pieces": 3}),
]
"""What the model says: a good call, a wrong one, and one that policy leaves to a person."""


class ScriptedModel(Model):
    """Says what the script says."""

    def __init__(self) -> None:
        """Begin at the beginning."""
        self.said = 0

    async def get_response(self, *_asked: Any, **_more: Any) -> ModelResponse:
        """Give the next answer."""
        self.said += 1
        if self.said > len(SCRIPT):
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            done = ResponseOutputMessage(id="m1", type="message", role="assistant", status="completed", content=[text])
            return ModelResponse(output=[done], usage=Usage(), response_id=None)
        name, args = SCRIPT[self.said - 1]
        call = ResponseFunctionToolCall(
            type="function_call", call_id=f"call_{self.said}", name=name, arguments=json.dumps(args)
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *_asked: Any, **_more: Any) -> Any:
        """Answer as a whole only."""
        raise NotImplementedError


async def main() -> None:
    """Run one agent."""
    set_tracing_disabled(disabled=True)
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        tools = guard_tools(gate, [count, order], session="s1", agent="buyer")
        agent = Agent(name="buyer", model=ScriptedModel(), tools=list(tools))
        result = await Runner.run(agent, "Do we have lamps? If not, order three.")
        for item in result.to_input_list()[1:]:
            print(item.get("output") or item.get("arguments") or item["content"][0]["text"])
        print("receipts: ", [receipt.header["kind"] for receipt in gate.ledger.session("s1")])
        print("ledger ok:", Gate.verify(folder).ok)


if __name__ == "__main__":
    asyncio.run(main())
