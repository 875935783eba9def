"""LangGraph and LangChain: `create_agent(model, tools=chain_tools(Governed(gate, session="s1")))`, or a `ToolNode`.

A refused call is a `ToolMessage` with status "error" and the code first in its text. A result's `artifact` is the
gate's `Outcome`, with the receipt's id.
"""

from typing import Any, Literal

from langchain_core.tools import BaseTool, ToolException
from pydantic import ConfigDict

from tallystick.doors.frameworks.governed import Answer, Governed
from tallystick.gate.execute.outcome import Outcome


def chain_tools(governed: Governed) -> list[BaseTool]:
    """The gate's tools as LangChain tools."""
    return [
        GateTool(name=offer.name, description=offer.description, args_schema=offer.schema, governed=governed)
        for offer in governed.offers()
    ]


class GateTool(BaseTool):
    """One tool behind the gate."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    governed: Governed
    handle_tool_error: bool = True
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    # Arguments come by name alone, so that one called `config` or `self` reaches the tool like any other.
    def _run(self, /, **arguments: Any) -> tuple[str, Outcome]:
        return _said(self.governed.call_sync(self.name, arguments))

    async def _arun(self, /, **arguments: Any) -> tuple[str, Outcome]:
        return _said(await self.governed.call(self.name, arguments))


def _said(answer: Answer) -> tuple[str, Outcome]:
    if answer.refusal is not None:
        raise ToolException(answer.text)
    return answer.text, answer.outcome
