"""LangGraph and LangChain: `create_agent(model, tools=guard_tools(gate, [search, order]))`, or a `ToolNode`.

A refused call becomes a `ToolMessage` with status "error", whose text starts with the code. A result's `artifact` is
the gate's `Outcome`, with the receipt's id. Requires `tallystick[langgraph]`.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from langchain_core.tools import BaseTool, ToolException
from pydantic import ConfigDict
from typing_extensions import Unpack

from tallystick.app.gate import Gate
from tallystick.doors.governed import CallAnswer, Governed, GuardOptions, guard
from tallystick.gate.execute.outcome import Outcome

__all__ = ["GateTool", "Governed", "chain_tools", "guard_tools"]


def guard_tools(gate: Gate, tools: Iterable[Callable[..., Any]], **options: Unpack[GuardOptions]) -> list[BaseTool]:
    """Wrap functions as LangChain tools whose calls go through the gate; register those that are not yet."""
    return chain_tools(guard(gate, tools, **options))


def chain_tools(governed: Governed) -> list[BaseTool]:
    """Wrap an agent's gate tools as LangChain tools."""
    return [
        GateTool(name=offer.name, description=offer.description, args_schema=offer.schema, governed=governed)
        for offer in governed.offers()
    ]


class GateTool(BaseTool):
    """A LangChain tool that calls through the gate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    governed: Governed
    handle_tool_error: bool = True
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    # Keyword arguments only, so that tool arguments named `config` or `self` are passed on like any other.
    def _run(self, /, **arguments: Any) -> tuple[str, Outcome]:
        return _content(self.governed.call_sync(self.name, arguments))

    async def _arun(self, /, **arguments: Any) -> tuple[str, Outcome]:
        return _content(await self.governed.call(self.name, arguments))


def _content(answer: CallAnswer) -> tuple[str, Outcome]:
    if answer.refusal is not None:
        raise ToolException(answer.text)
    return answer.text, answer.outcome
