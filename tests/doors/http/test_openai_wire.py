"""What a client of the OpenAI format may send: read, or refused by name."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.http.openai_wire import ChatRequest, Unfit, call_id_of, read_request

USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}


def asked(*messages: Any, **more: Any) -> ChatRequest:
    read = read_request(json.dumps({"model": "offline", "messages": list(messages) or [USER], **more}).encode())
    assert isinstance(read, ChatRequest), read
    return read


def unfit(body: Any, **more: Any) -> Unfit:
    if isinstance(body, dict):
        body = json.dumps({"model": "offline", "messages": [USER], **body, **more}).encode()
    read = read_request(body)
    assert isinstance(read, Unfit), read
    assert read.message
    return read


@pytest.mark.promise("chat.openai")
def test_fields_that_do_not_concern_us_are_let_pass() -> None:
    read = asked(USER, temperature=0.2, user="u", metadata={"a": "b"}, seed=7, logprobs=None, unheard_of=True)
    assert (read.model, read.message, read.stream, read.evidence) == ("offline", "hello", False, "annotate")


@pytest.mark.promise("chat.openai")
def test_the_request_is_the_user_s_last_message_and_what_stood_before_it_is_history() -> None:
    read = asked(
        {"role": "developer", "content": "be short"}, {"role": "user", "content": "one"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "a result"}, {"role": "assistant", "content": "first"},
        {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "text", "text": "lines"}]},
    )  # fmt: skip
    assert read.message == "two\nlines"
    assert [(said.role, said.content) for said in read.history] == [
        ("system", "be short"), ("user", "one"), ("assistant", "first"),
    ]  # fmt: skip
    assert read.results == ()


@pytest.mark.promise("chat.client-tools")
def test_results_since_the_request_are_told_apart_from_those_this_request_brings() -> None:
    calls = [call_id_of(f"rcpt_{number}") for number in range(3)]
    read = asked(
        USER, {"role": "assistant", "content": None}, {"role": "tool", "tool_call_id": calls[0], "content": "a"},
        {"role": "assistant", "content": None}, {"role": "tool", "tool_call_id": calls[1], "content": "b"},
        {"role": "tool", "tool_call_id": calls[2], "content": "c"},
    )  # fmt: skip
    assert [result.receipt_id for result in read.results] == ["rcpt_0", "rcpt_1", "rcpt_2"]
    assert read.fresh == 2
    assert asked(USER, {"role": "tool", "tool_call_id": "call_of_another", "content": ""}).results[0].receipt_id is None


@pytest.mark.promise("chat.client-tools")
def test_a_client_s_tool_counts_as_write_unless_it_says_otherwise() -> None:
    read = asked(USER, tools=[TOOL], tallystick={"effects": {"get_weather": "read"}, "session": "s1"})
    assert [(card.name, card.effect, card.origin) for card in read.tools] == [("get_weather", "read", "client")]
    assert read.session == "s1"
    bare = asked(USER, tools=[{"type": "function", "function": {"name": "f", "parameters": None}}]).tools[0]
    assert (bare.effect, bare.input_schema) == ("write", {"type": "object", "properties": {}})


@pytest.mark.promise("chat.openai")
@pytest.mark.parametrize(
    ("choice", "read"),
    [
        (None, ("auto", None)), ("auto", ("auto", None)), ("none", ("none", None)), ("required", ("required", None)),
        ({"type": "function", "function": {"name": "f"}}, ("required", "f")),
    ],
)  # fmt: skip
def test_the_choice_of_tools_is_read(choice: Any, read: tuple[str, str | None]) -> None:
    got = asked(USER, tool_choice=choice)
    assert (got.choice, got.only) == read


@pytest.mark.promise("chat.openai-errors")
@pytest.mark.parametrize(
    ("body", "code", "param"),
    [
        (b"", "invalid_json", None),
        (b"[]", "invalid_json", None),
        (b'{"model": "a", "model": "b", "messages": []}', "invalid_json", None),
        ({"messages": []}, "invalid_value", "messages"),
        ({"model": 7}, "invalid_value", "model"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "invalid_value", "messages[0].role"),
        ({"messages": [{"role": "system", "content": "x"}]}, "message_empty", "messages"),
        ({"n": 2}, "unsupported_value", "n"),
        ({"max_tokens": 0}, "invalid_value", "max_tokens"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]}, "unsupported_content", "messages[0].content"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tool_name_invalid", "tools[0].function.name"),
        ({"tools": [TOOL, TOOL]}, "tool_name_invalid", "tools[1].function.name"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "nonsense"}}}]}, "schema_invalid", "tools[0].function.parameters"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"$ref": "http://x/y"}}}]}, None, "tools[0].function.parameters"),
        ({"tool_choice": "perhaps"}, "invalid_value", "tool_choice"),
        ({"tool_choice": {"type": "function", "function": 7}}, "invalid_value", "tool_choice"),
        ({"evidence": "loose"}, "invalid_value", "evidence"),
        ({"tallystick": {"session": "../x"}}, "invalid_value", "tallystick.session"),
        ({"tallystick": {"other": 1}}, "invalid_value", None),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_named(body: Any, code: str | None, param: str | None) -> None:
    read = unfit(body)
    assert code in {None, read.code}
    assert param in {None, read.param}
    assert read.status == 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["model", "messages", "tools", "tool_choice", "stream", "stream_options", "n", "tallystick", "evidence"]


@pytest.mark.promise("chat.openai-errors")
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=4))
def test_whatever_is_sent_it_is_read_or_refused_and_never_an_error(body: dict[str, Any]) -> None:
    whole = {"model": "offline", "messages": [USER], **body}
    assert isinstance(read_request(json.dumps(whole).encode()), ChatRequest | Unfit)


@pytest.mark.promise("chat.openai-errors")
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    assert isinstance(read_request(body), ChatRequest | Unfit)


@given(st.lists(st.sampled_from(["system", "user", "assistant", "tool"]), max_size=12))
def test_nothing_a_client_says_is_lost_or_said_twice(roles: list[str]) -> None:
    messages = [{"role": role, "content": f"{role}-{place}"} for place, role in enumerate([*roles, "user"])]
    tail = [{"role": "tool", "tool_call_id": f"c{place}", "content": f"late-{place}"} for place in range(2)]
    read = asked(*messages, *tail)
    said = [each.content for each in read.history]
    assert said == [message["content"] for message in messages[:-1] if message["role"] != "tool"]
    assert read.message == messages[-1]["content"]
    assert [result.content for result in read.results] == ["late-0", "late-1"]
