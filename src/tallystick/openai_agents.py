"""OpenAI Agents SDK: `Agent(tools=guard_tools(gate, [search, order]))`.

A refused call reaches the model as the tool's output, the code first; the run goes on, as that SDK's own tools do it.
Needs `tallystick[agents]`.
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
    """Existing functions as function tools whose calls go through the gate; unregistered ones are registered."""
    return agent_tools(guard(gate, tools, **options))


def agent_tools(governed: Governed) -> list[FunctionTool]:
    """The gate's tools as function tools."""
    return [_tool(governed, offer) for offer in governed.offers()]


def _tool(governed: Governed, offer: Offer) -> FunctionTool:
    async def call(_context: ToolContext[Any], arguments: str) -> str:
        return (await governed.call(offer.name, arguments)).text

    return FunctionTool(
        name=offer.name,
        description=offer.description,
        params_json_schema=offer.schema,
        on_invoke_tool=call,
        # The gate checks arguments against the schema as it is; the API's strict mode takes only a part of JSON Schema.
        strict_json_schema=False,
    )
