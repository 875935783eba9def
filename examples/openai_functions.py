"""Plain OpenAI function calling with the gate under it. The model is a script, so nothing here needs a network."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tallystick import Gate, Governed, tool
from tallystick.openai_functions import answer_chat, chat_tools


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


class ScriptedModel:
    """Stands where `client.chat.completions` would."""

    def create(self, *, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """Give the next answer."""
        assert tools, "a model is told what it may call"  # noqa: S101 - only a script stands here
        said = sum(message["role"] == "assistant" for message in messages)
        if said == len(SCRIPT):
            return {"role": "assistant", "content": "Done."}
        name, args = SCRIPT[said]
        function = {"name": name, "arguments": json.dumps(args)}
        return {
            "role": "assistant",
            "tool_calls": [{"id": f"call_{said}", "type": "function", "function": function}],
        }


async def main() -> None:
    """The loop that every such program has."""
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        gate.register(count, order)
        governed = Governed(gate, session="s1", agent="buyer")
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Do we have lamps? If not, order three."}]
        while True:
            message = ScriptedModel().create(messages=messages, tools=chat_tools(governed))
            messages.append(message)
            if not message.get("tool_calls"):
                break
            messages += await answer_chat(governed, message["tool_calls"])
        for message in messages[1:]:
            print(f"{message['role']:<10}", message.get("content") or message["tool_calls"][0]["function"])
        print("receipts: ", [receipt.header["kind"] for receipt in gate.ledger.session("s1")])
        print("ledger ok:", Gate.verify(folder).ok)


if __name__ == "__main__":
    asyncio.run(main())
