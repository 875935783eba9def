"""Plain function calling: dicts and the SDK's objects, both APIs, sync and async."""

import asyncio
import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageFunctionToolCall
from openai.types.responses import ResponseFunctionToolCall

from tallystick import Governed
from tallystick.openai_functions import (
    answer_chat,
    answer_chat_sync,
    answer_response,
    answer_response_sync,
    chat_tools,
    response_tools,
)
from tests.frameworks.shop import GOOD, HELD, WRONG, Shop

CALLS = (GOOD, WRONG, HELD)
ANSWERS = ("4", "INVALID_PAYLOAD: ", "approval_required: ")


def chat_call(number: int, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}


@pytest.mark.parametrize("made", [dict, ChatCompletionMessageFunctionToolCall.model_validate])
@pytest.mark.promise("frameworks.functions")
def test_each_chat_call_has_its_tool_message_and_a_refusal_begins_with_its_code(shop: Shop, made: Any) -> None:
    governed = Governed(shop.gate, session="s1")
    calls = [made(chat_call(number, *call)) for number, call in enumerate(CALLS)]

    for answers in (asyncio.run(answer_chat(governed, calls)), answer_chat_sync(governed, calls)):
        assert [(each["role"], each["tool_call_id"]) for each in answers] == [("tool", f"c{n}") for n in range(3)]
        for answer, begin in zip(answers, ANSWERS, strict=True):
            assert answer["content"].startswith(begin)
    assert asyncio.run(answer_chat(governed, None)) == []


@pytest.mark.promise("frameworks.functions")
def test_the_calls_among_a_responses_output_are_answered(shop: Shop) -> None:
    governed = Governed(shop.gate, session="s1")
    output: list[Any] = [{"type": "message", "content": []}]
    output += [
        ResponseFunctionToolCall(type="function_call", call_id=f"c{number}", name=name, arguments=json.dumps(args))
        for number, (name, args) in enumerate(CALLS)
    ]

    for answers in (asyncio.run(answer_response(governed, output)), answer_response_sync(governed, output)):
        assert [each["call_id"] for each in answers] == ["c0", "c1", "c2"]
        for answer, begin in zip(answers, ANSWERS, strict=True):
            assert answer["output"].startswith(begin)


@pytest.mark.promise("frameworks.functions")
def test_tools_are_described_as_each_api_wants_them(shop: Shop) -> None:
    governed = Governed(shop.gate, session="s1")

    assert {made["function"]["name"] for made in chat_tools(governed)} == {"stock__count", "order", "odd"}
    for made in response_tools(governed):
        assert made["type"] == "function"
        assert made["parameters"]["type"] == "object"
