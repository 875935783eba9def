"""OpenAI Agents SDK: `Agent(tools=guard_tools(gate, [search, order]))`.

A refused call reaches the model as the tool's output, which starts with the code; the run continues, as with the SDK's
own tools. Requires `tallystick[agents]`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext
from typing_extensions import Unpack

from tallystick.app.gate import Gate
from tallystick.doors.governed import Governed, GuardOptions, Offer, guard

__all__ = ["Governed", "agent_tools", "guard_tools"]


def guard_tools(gate: Gate, tools: Iterable[Callable[..., Any]], **options: Unpack[GuardOptions]) -> list[FunctionTool]:
    """Wrap functions as function tools whose calls go through the gate; register those that are not yet."""
    return agent_tools(guard(gate, tools, **options))


def agent_tools(governed: Governed) -> list[FunctionTool]:
    """Wrap an agent's gate tools as function tools."""
    return [_tool(governed, offer) for offer in governed.offers()]


def _tool(governed: Governed, offer: Offer) -> FunctionTool:
    async def call(_context: ToolContext[Any], arguments: str) -> str:
        return (await governed.call(offer.name, arguments)).text

    return FunctionTool(
        name=offer.name,
        description=offer.description,
        params_json_schema=offer.schema,
        on_invoke_tool=call,
        # The gate validates against the full schema; the API's strict mode supports only a subset of JSON Schema.
        strict_json_schema=False,
    )
