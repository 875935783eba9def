"""A LangGraph agent with the gate under it (needs tallystick[langgraph]). The model is a script: no network."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tallystick import Gate, tool
from tallystick.langgraph import guard_tools


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


def graph(gate: Gate) -> Any:
    """Model and tools, in turns."""
    tools = guard_tools(gate, [count, order], session="s1", agent="buyer")
    answers = [
        AIMessage(content="", tool_calls=[{"name": name, "args": args, "id": f"call_{number}"}])
        for number, (name, args) in enumerate(SCRIPT)
    ]
    model = GenericFakeChatModel(messages=iter([*answers, AIMessage(content="Done.")]))

    async def think(state: MessagesState) -> dict[str, Any]:
        # A real model would be told of its tools: model.bind_tools(tools).
        return {"messages": [await model.ainvoke(state["messages"])]}

    made = StateGraph(MessagesState)
    made.add_node("model", think)
    made.add_node("tools", ToolNode(tools))
    made.add_edge(START, "model")
    made.add_conditional_edges("model", tools_condition)
    made.add_edge("tools", "model")
    return made.compile()


async def main() -> None:
    """Run one agent."""
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        agent = graph(gate)
        state = await agent.ainvoke({"messages": [HumanMessage("Do we have lamps? If not, order three.")]})
        for message in state["messages"][1:]:
            said = message.content or message.tool_calls[0]["args"]
            print(f"{message.status if isinstance(message, ToolMessage) else message.type:<10}", said)
        print("receipts: ", [receipt.header["kind"] for receipt in gate.ledger.session("s1")])
        print("ledger ok:", Gate.verify(folder).ok)


if __name__ == "__main__":
    asyncio.run(main())
