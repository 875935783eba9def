"""Pydantic AI: `Agent(model, tools=guard_tools(gate, [search, order]))`.

A refused call is a failed tool return with the code first in its text; it uses none of the tool's retries. A result's
`metadata` is the gate's `Outcome`, with the receipt's id. Needs `tallystick[pydantic_ai]`.
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
    """Existing functions as Pydantic AI tools whose calls go through the gate; unregistered ones are registered."""
    return agent_tools(guard(gate, tools, **options))


def agent_tools(governed: Governed) -> list[Tool[Any]]:
    """The gate's tools as Pydantic AI tools."""
    return [_tool(governed, offer) for offer in governed.offers()]


def _tool(governed: Governed, offer: Offer) -> Tool[Any]:
    # Arguments come by name alone, so that each reaches the tool, whatever it is called.
    async def call(**arguments: Any) -> ToolReturn[Any]:
        answer = await governed.call(offer.name, arguments)
        if answer.refusal is not None:
            raise ToolFailed(answer.text)
        return ToolReturn(return_value=answer.outcome.result, metadata=answer.outcome)

    return Tool.from_schema(call, name=offer.name, description=offer.description, json_schema=offer.schema)
