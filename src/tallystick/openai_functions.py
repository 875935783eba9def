"""Plain OpenAI function calling, for both APIs; accepts dicts and SDK objects and does not require the SDK.

client.chat.completions.create(..., tools=chat_tools(governed))
messages += await answer_chat(governed, message.tool_calls)

client.responses.create(..., tools=response_tools(governed))
items += await answer_response(governed, response.output)
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.doors.governed import Governed


def chat_tools(governed: Governed) -> list[dict[str, Any]]:
    """Build the `tools` parameter of chat completions."""
    return [
        {
            "type": "function",
            "function": {"name": offer.name, "description": offer.description, "parameters": offer.schema},
        }
        for offer in governed.offers()
    ]


def response_tools(governed: Governed) -> list[dict[str, Any]]:
    """Build the `tools` parameter of the Responses API."""
    return [
        {
            "type": "function",
            "name": offer.name,
            "description": offer.description,
            "parameters": offer.schema,
            "strict": False,
        }
        for offer in governed.offers()
    ]


async def answer_chat(governed: Governed, calls: Iterable[Any] | None) -> list[dict[str, Any]]:
    """Run the calls and return a `tool` message for each, in order; the text of a refusal starts with its code."""
    return [_tool_message(call, (await governed.call(*_named(_of(call, "function")))).text) for call in calls or ()]


def answer_chat_sync(governed: Governed, calls: Iterable[Any] | None) -> list[dict[str, Any]]:
    """Blocking form of `answer_chat`."""
    return [_tool_message(call, governed.call_sync(*_named(_of(call, "function"))).text) for call in calls or ()]


async def answer_response(governed: Governed, output: Iterable[Any]) -> list[dict[str, Any]]:
    """Run the calls in a response's output and return a `function_call_output` item for each."""
    return [_output(item, (await governed.call(*_named(item))).text) for item in _calls(output)]


def answer_response_sync(governed: Governed, output: Iterable[Any]) -> list[dict[str, Any]]:
    """Blocking form of `answer_response`."""
    return [_output(item, governed.call_sync(*_named(item)).text) for item in _calls(output)]


def _calls(output: Iterable[Any]) -> list[Any]:
    return [item for item in output if _of(item, "type") == "function_call"]


def _tool_message(call: Any, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": _of(call, "id"), "content": text}


def _output(item: Any, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": _of(item, "call_id"), "output": text}


def _named(function: Any) -> tuple[str, str]:
    return str(_of(function, "name")), str(_of(function, "arguments") or "")


def _of(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
