"""`guard_tools`: existing functions in, the framework's own tools out, every call through the gate."""

import asyncio
import importlib
import json
from datetime import date

import pytest

from tallystick import Governed, tool
from tallystick.doors.governed import guard
from tallystick.errors import RegistrationError
from tests.frameworks.shop import Shop


def next_delivery(day: date, item: str) -> date:
    """Say when an item comes."""
    return day.replace(day=day.day + len(item))


@tool(effect="read")
def price(item: str) -> float:
    """Say what an item costs."""
    return len(item) / 2


@pytest.mark.promise("frameworks.guard")
def test_functions_are_registered_once_and_are_all_that_the_agent_may_call(shop: Shop) -> None:
    for _ in range(2):
        governed = guard(shop.gate, [next_delivery, price], session="s1", agent="buyer")
    assert isinstance(governed, Governed)
    assert {offer.name for offer in governed.offers()} == {"next_delivery", "price"}
    assert governed.call_sync("price", {"item": "lamp"}).text == "2.0"
    assert governed.call_sync("next_delivery", {"day": "2026-01-01", "item": "ab"}).text == "2026-01-03"
    assert governed.call_sync("stock__count", {"item": "lamp"}).refusal is not None
    assert [receipt["agent_id"] for receipt in shop.receipts()] == ["buyer"] * 3
    assert shop.ran == []


@pytest.mark.promise("frameworks.guard")
def test_a_name_that_another_function_has_is_refused(shop: Shop) -> None:
    def order(item: str) -> str:
        return item

    with pytest.raises(RegistrationError):
        guard(shop.gate, [order])
    with pytest.raises(RegistrationError) as caught:
        shop.gate.call_sync(order, {"item": "lamp"})
    assert caught.value.code == "tool_other"
    assert shop.ran == []


@pytest.mark.promise("frameworks.guard")
def test_langgraph_takes_functions(shop: Shop) -> None:
    pytest.importorskip("langgraph", reason="left out: the LangGraph adapter, the langgraph extra is not there")
    adapter = importlib.import_module("tallystick.langgraph")
    tools = {made.name: made for made in adapter.guard_tools(shop.gate, [price, next_delivery], session="s1")}
    assert tools["price"].invoke({"item": "lamp"}) == "2.0"
    assert tools["next_delivery"].invoke({"day": "tomorrow", "item": "a"}).startswith("INVALID_PAYLOAD: ")
    assert len(shop.receipts()) == 2


@pytest.mark.promise("frameworks.guard")
def test_the_openai_agents_sdk_takes_functions(shop: Shop) -> None:
    pytest.importorskip("agents", reason="left out: the OpenAI Agents adapter, the agents extra is not there")
    adapter = importlib.import_module("tallystick.openai_agents")
    [made] = adapter.guard_tools(shop.gate, [price], session="s1")
    assert asyncio.run(made.on_invoke_tool(None, json.dumps({"item": "lamp"}))) == "2.0"
    assert len(shop.receipts()) == 1
