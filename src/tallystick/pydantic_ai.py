"""Pydantic AI: `Agent(model, tools=guard_tools(gate, [search, order]))`.

A refused call becomes a failed tool return whose text starts with the code; it uses none of the tool's retries. A
result's `metadata` is the gate's `Outcome`, with the receipt's id. Requires `tallystick[pydantic_ai]`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic_ai import Tool, ToolReturn
from pydantic_ai.exceptions import ToolFailed
from typing_extensions import Unpack

from tallystick.app.gate import Gate
from tallystick.doors.governed import Governed, GuardOptions, Offer, guard

__all__ = ["Governed", "agent_tools", "guard_tools"]


def guard_tools(gate: Gate, tools: Iterable[Callable[..., Any]], **options: Unpack[GuardOptions]) -> list[Tool[Any]]:
    """Wrap functions as Pydantic AI tools whose calls go through the gate; register those that are not yet."""
    return agent_tools(guard(gate, tools, **options))


def agent_tools(governed: Governed) -> list[Tool[Any]]:
    """Wrap an agent's gate tools as Pydantic AI tools."""
    return [_tool(governed, offer) for offer in governed.offers()]


def _tool(governed: Governed, offer: Offer) -> Tool[Any]:
    # Keyword arguments only, so that a tool argument of any name is passed on.
    async def call(**arguments: Any) -> ToolReturn[Any]:
        answer = await governed.call(offer.name, arguments)
        if answer.refusal is not None:
            raise ToolFailed(answer.text)
        return ToolReturn(return_value=answer.outcome.result, metadata=answer.outcome)

    return Tool.from_schema(call, name=offer.name, description=offer.description, json_schema=offer.schema)
