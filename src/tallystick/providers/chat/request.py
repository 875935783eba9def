"""Build the JSON body of a chat request."""

from typing import Any

from tallystick.providers.chat.forms import Shaped
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Message

NEWER_NAME = "max_completion_tokens"
"""The name of `max_tokens` for newer OpenAI models, which refuse the old name."""


def request_body(
    ask: Ask, endpoint: Endpoint, shape: Shaped, *, stream: bool = False, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return the body of one request.

    Args:
        ask: The messages and options.
        endpoint: The endpoint.
        shape: The response form.
        stream: Whether the text is streamed.
        without: Fields that this endpoint refuses.
    """
    temperature = endpoint.temperature if ask.temperature is None else ask.temperature
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [_message(message) for message in ask.messages],
        "temperature": temperature,
        "max_tokens": ask.max_tokens,
        **shape.fields,
    }
    if ask.offers:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": each.name, "description": each.description, "parameters": dict(each.schema)},
            }
            for each in ask.offers
        ]
        body["tool_choice"] = "required" if ask.require_call else None
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if "max_tokens" in without and NEWER_NAME not in without:
        body[NEWER_NAME] = ask.max_tokens
    return {name: value for name, value in body.items() if value is not None and name not in without}


def _message(message: Message) -> dict[str, Any]:
    made: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        made["content"] = message.content or None
        made["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.call_id is not None:
        made["tool_call_id"] = message.call_id
    return made
