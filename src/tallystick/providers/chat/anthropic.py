"""Anthropic's messages API, over the HTTP port: the chat request is translated, and so is the response.

A schema in strict form is sent as the format of the output. Any other becomes the input of one tool that must be
called, which only older models allow; the input of a tool must be an object without a choice at the top, so the answer
is one property of it. Native tool calls of agents are not translated, and the response comes in one piece.
"""

from collections.abc import Mapping
from dataclasses import field
from http import HTTPStatus
from time import time
from typing import Any

import orjson

from tallystick.gate.admit.subschemas import moved, walk
from tallystick.http_port import HttpAddress, HttpFailure, HttpRequest, parse_address
from tallystick.providers.chat.answer import ChatAnswer, bad_answer, too_large
from tallystick.providers.chat.failures import Lost, ProviderFailure
from tallystick.providers.chat.patience import asked_pause_s
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.records import record
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

VERSION = "2023-06-01"
"""The version of the API."""
ANSWER_TOKENS = 16_384
"""The API requires a limit, and thinking counts too; every model since 4.0 allows this one."""
_ANSWER = "answer"
_MAX_TEMPERATURE = 1.0
_UNSUPPORTED = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern"}
)
"""Keywords that a format may not contain. Dropping them only allows more, and the gate checks them anyway."""
_ESCAPES = 6
"""JSON may encode one byte as six."""
_AROUND = 65_536
_FINISHES = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "content_filter"}


@record
class MessagesLine:
    """A connection to the messages API."""

    address: str
    place: HttpAddress
    key: str = field(repr=False)
    limit: int
    """Maximum bytes of text in one response."""
    within_s: float

    async def ask(
        self, body: Mapping[str, Any], answer: ChatAnswer, hear: Any = None
    ) -> ProviderFailure | Lost | ModelError | None:
        """Send one request and collect its response; None if it is complete.

        Args:
            body: The request in the form of the OpenAI API.
            answer: Collects the response.
            hear: Receives the text.

        Raises:
            TimeoutError: There was no response in time.
        """
        request = HttpRequest(
            method="POST",
            address=self.place,
            headers={"x-api-key": self.key, "anthropic-version": VERSION, "Content-Type": "application/json"},
            body=orjson.dumps(messages_request(body)),
            within_s=self.within_s,
            most_bytes=self.limit * _ESCAPES + _AROUND,
        )
        response = await PinnedHttpClient().send(request)
        if isinstance(response, HttpFailure):
            return self._lost(response)
        try:
            whole = orjson.loads(response.body)
        except ValueError:
            whole = response.body.decode(errors="replace")
        if response.status != HTTPStatus.OK:
            asked = asked_pause_s(response.headers, time())
            return ProviderFailure(status=response.status, body=whole, retry_after_s=asked)
        if isinstance(whole, str):
            return bad_answer("is not JSON")
        text = answer.take(completion(whole), part="message")
        if isinstance(text, ModelError):
            return text
        if text and hear is not None:
            hear(text)
        return None

    def _lost(self, failure: HttpFailure) -> Lost | ModelError:
        if failure.code == "timeout":
            raise TimeoutError
        if failure.code == "too_large":
            return too_large(self.limit)
        if failure.code == "compressed":
            return bad_answer("came packed, which was not asked for")
        return Lost(how="broken" if failure.code == "not_http" else "never")


def line_for(endpoint: Endpoint, address: str, key: str, limit: int) -> MessagesLine | ModelError:
    """Return the connection; an error if the key would be sent unencrypted."""
    # An address of the user's own network is allowed: it is configured by a person, like that of any other model.
    place = parse_address(f"{address}/messages", private=True)
    if place is None:
        message = "base_url must begin with https://; http:// is allowed for this computer only."
        return ModelError(code="endpoint_unreachable", message=message)
    return MessagesLine(address=address, place=place, key=key, limit=limit, within_s=endpoint.timeout_s)


def messages_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Translate a chat request to the messages API."""
    messages = [message for message in body["messages"] if message["content"]]
    system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    made: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_tokens", ANSWER_TOKENS),
        "messages": [message for message in messages if message["role"] != "system"],
    }
    if system:
        made["system"] = system
    if "temperature" in body:
        made["temperature"] = min(body["temperature"], _MAX_TEMPERATURE)
    if "response_format" in body:
        made |= _form(**body["response_format"]["json_schema"])
    return made


def _form(*, name: str, schema: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    """Return the fields that make the model keep to a schema."""
    if strict:
        return {"output_config": {"format": {"type": "json_schema", "schema": _supported(schema)}}}
    tool = {"name": name, "description": "Give the answer.", "input_schema": _input_schema(schema)}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": name, "disable_parallel_tool_use": True}}


def _supported(schema: Mapping[str, Any]) -> dict[str, Any]:
    copy: dict[str, Any] = orjson.loads(orjson.dumps(dict(schema)))
    for node in list(walk(copy)):
        for keyword in _UNSUPPORTED & node.keys():
            del node[keyword]
    return copy


def _input_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = {_ANSWER: moved(dict(schema), f"/properties/{_ANSWER}")}
    return {"type": "object", "properties": properties, "required": [_ANSWER], "additionalProperties": False}


def completion(body: Any) -> dict[str, Any]:
    """Translate a response of the messages API; without a choice if it is not one."""
    if not isinstance(body, Mapping) or not isinstance(body.get("content"), list):
        return {"choices": []}
    blocks = [block for block in body["content"] if isinstance(block, Mapping)]
    inputs = [_answer_in(block.get("input")) for block in blocks if block.get("type") == "tool_use"]
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    # Beside the forced call, text is only commentary.
    text = inputs[0] if inputs else "".join(each for each in texts if isinstance(each, str))
    usage = body.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    finish = _FINISHES.get(str(body.get("stop_reason")), "stop")
    return {
        "model": body.get("model"),
        "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": counts.get("input_tokens"), "completion_tokens": counts.get("output_tokens")},
    }


def _answer_in(given: Any) -> str:
    answer = given.get(_ANSWER, given) if isinstance(given, Mapping) else given
    # Some models write the object as text.
    return answer if isinstance(answer, str) else orjson.dumps(answer).decode()
