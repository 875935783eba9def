"""LangGraph: its tool node and its graph, a scripted model, the gate under its tools."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("langgraph", reason="left out: the LangGraph adapter, the langgraph extra is not there")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tallystick import Governed
from tallystick.langgraph import chain_tools
from tests.frameworks.shop import GOOD, HELD, ODD, WRONG, Shop

CALLS = (GOOD, WRONG, HELD, ODD)
STATUSES = ["success", "error", "error", "success"]


def graph(shop: Shop) -> Any:
    def think(state: MessagesState) -> dict[str, Any]:
        said = sum(isinstance(message, AIMessage) for message in state["messages"])
        if said == len(CALLS):
            return {"messages": [AIMessage(content="Done.")]}
        name, args = CALLS[said]
        return {"messages": [AIMessage(content="", tool_calls=[{"name": name, "args": args, "id": f"c{said}"}])]}

    made = StateGraph(MessagesState)
    made.add_node("model", think)
    made.add_node("tools", ToolNode(chain_tools(Governed(shop.gate, session="s1", agent="buyer"))))
    made.add_edge(START, "model")
    made.add_conditional_edges("model", tools_condition)
    made.add_edge("tools", "model")
    return made.compile()


@pytest.mark.parametrize("way", ["async", "sync"])
@pytest.mark.promise("frameworks.langgraph")
def test_refusals_and_holds_are_tool_messages_with_status_error_and_the_graph_goes_on(shop: Shop, way: str) -> None:
    begin = {"messages": [HumanMessage("Do we have lamps?")]}
    agent = graph(shop)
    state = asyncio.run(agent.ainvoke(begin)) if way == "async" else agent.invoke(begin)

    told = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [message.status for message in told] == STATUSES
    assert told[0].content == "4"
    assert told[0].artifact.receipt_id == shop.receipts()[0]["receipt_id"]
    assert told[1].content.startswith("INVALID_PAYLOAD: ")
    assert told[2].content.startswith("approval_required: ")
    assert "tally approvals approve" in told[2].content
    assert told[3].artifact.result == ODD[1]
    assert len(shop.receipts()) == len(CALLS)
    assert state["messages"][-1].content == "Done."


@pytest.mark.promise("frameworks.langgraph")
def test_a_tool_can_be_invoked_by_itself(shop: Shop) -> None:
    tools = {tool.name: tool for tool in chain_tools(Governed(shop.gate, session="s1"))}

    assert tools["stock__count"].invoke({"item": "lamp"}) == "4"
    assert asyncio.run(tools["stock__count"].ainvoke({"item": "lamp"})) == "4"
    assert tools["stock__count"].args["item"]["type"] == "string"
