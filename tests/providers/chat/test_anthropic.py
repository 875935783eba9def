"""Anthropic's messages API, against a real server on loopback."""

import json
from typing import Any

import jsonschema_rs
import pytest

from tallystick.providers.chat.anthropic import ANSWER_TOKENS, VERSION
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.turns.model import Ask, Message, ModelError, Usage
from tests.providers.chat.asking import KEY, SCHEMA, Waits, ask_at, asking, code, said
from tests.scripted_server import Drops, Hangs, Raw, ScriptedServer, Status

FREE = {"anyOf": [*SCHEMA["anyOf"], {"type": "object", "properties": {"tool": {"const": "free"}}, "required": ["tool"],
        "additionalProperties": {"type": "string"}}]}  # fmt: skip
"""A schema without a strict form: one branch is a free-form map."""
STEP = {"tool": "reader", "args": {"path": "a.md"}, "nonce": "n1"}


def reply(*content: Any, stop: str = "end_turn", **more: Any) -> Status:
    usage = {"input_tokens": 11, "output_tokens": 7}
    body = {"type": "message", "role": "assistant", "model": "claude-1", "content": content, "stop_reason": stop}
    return Status(200, {**body, "usage": usage, **more})


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def ask(server: ScriptedServer, *args: Any, **fields: Any) -> Any:
    return ask_at(server, *args, **{"provider": "anthropic", **fields})


@pytest.mark.promise("providers.chat", "providers.usage")
@pytest.mark.parametrize("end", ["", "/v1/", "/v1/messages"])
def test_a_conversation_is_sent_as_the_api_wants_it_and_counted(end: str) -> None:
    messages = tuple(
        Message(role=role, content=content)
        for role, content in (("system", "Be brief."), ("user", "hello"), ("assistant", "yes?"), ("user", "go on"))
    )
    heard: list[str] = []
    prices = {"price_in_microusd": 3_000_000, "price_out_microusd": 15_000_000}
    with ScriptedServer(reply({"type": "thinking", "thinking": "…"}, text("hello "), text("there"))) as server:
        question = Ask(messages=messages, temperature=1.5)
        answer = said(ask(server, question, base_url=server.base_url + end, hear=heard.append, **prices))
        (sent,) = server.requests
    assert (answer.text, answer.finish, answer.model) == ("hello there", "stop", "claude-1")
    assert answer.usage == Usage(input_tokens=11, output_tokens=7, cost_microusd=33 + 105)
    assert heard == ["hello there"]
    assert sent.path == "/v1/messages"
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == (KEY, VERSION)
    assert "authorization" not in sent.headers
    assert sent.body == {
        "model": "m",
        "max_tokens": ANSWER_TOKENS,
        "temperature": 1.0,
        "system": "Be brief.",
        "messages": [{"role": each.role, "content": each.content} for each in messages[1:]],
    }


@pytest.mark.promise("providers.forms", "providers.strict")
def test_a_schema_with_a_strict_form_is_the_format_of_the_output() -> None:
    written = json.dumps({"answer": {**STEP, "args": {"path": "a.md", "start": None}}})
    with ScriptedServer(reply({"type": "thinking", "thinking": ""}, text(written))) as server:
        answer = said(ask(server, asking(schema=SCHEMA)))
        body = server.requests[0].body
    assert json.loads(answer.text) == STEP
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"]["format"]["schema"]["type"] == "object"
    assert not {"tools", "response_format"} & body.keys()


@pytest.mark.promise("providers.forms")
def test_a_format_holds_no_keyword_that_the_api_refuses() -> None:
    count = {"type": "integer", "minimum": 1, "maximum": 9}
    schema = {"type": "object", "properties": {"n": count, "minimum": count}, "required": ["n", "minimum"]}
    closed = {**schema, "additionalProperties": False}
    with ScriptedServer(reply(text('{"n": 1, "minimum": 2}'))) as server:
        said(ask(server, asking(schema=closed)))
        sent = server.requests[0].body["output_config"]["format"]["schema"]
    assert sent["properties"] == {"n": {"type": "integer"}, "minimum": {"type": "integer"}}


@pytest.mark.promise("providers.forms")
@pytest.mark.parametrize("written", [{"answer": STEP}, {"answer": json.dumps(STEP)}, STEP])
def test_a_schema_is_the_input_of_a_tool_that_must_be_called(written: Any) -> None:
    used = {"type": "tool_use", "id": "t", "name": "step", "input": written}
    with ScriptedServer(reply(text("I will read."), used, stop="tool_use")) as server:
        answer = said(ask(server, asking(schema=FREE, max_tokens=99)))
        body = server.requests[0].body
    assert json.loads(answer.text) == STEP
    assert (answer.finish, answer.calls) == ("stop", ())
    assert body["max_tokens"] == 99
    assert body["tool_choice"]["name"] == body["tools"][0]["name"]
    schema = body["tools"][0]["input_schema"]
    assert jsonschema_rs.is_valid(schema, {"answer": STEP})
    assert not jsonschema_rs.is_valid(schema, {"answer": {**STEP, "nonce": "n2"}})
    assert "output_config" not in body
    assert schema.keys() & {"anyOf", "oneOf", "allOf"} == set()
    assert "response_format" not in body


@pytest.mark.promise("providers.forms")
def test_a_schema_that_is_refused_is_left_out() -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.input_schema: invalid"}}
    memory = CapabilityBook()
    with ScriptedServer(*[Status(400, refusal)] * 2, always=reply(text(json.dumps(STEP)))) as server:
        for _ in range(2):
            assert json.loads(said(ask(server, asking(schema=SCHEMA), memory=memory)).text) == STEP
        sent = [{"output_config", "tools"} & request.body.keys() for request in server.requests]
    assert sent == [{"output_config"}, {"tools"}, set(), set()]


@pytest.mark.promise("providers.forms")
def test_a_temperature_that_a_model_does_not_take_is_left_out() -> None:
    message = "`temperature` is deprecated for this model."
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    with ScriptedServer(Status(400, refusal), reply(text("hello"))) as server:
        assert said(ask(server, asking(temperature=0.2))).text == "hello"
        assert "temperature" not in server.requests[1].body


@pytest.mark.promise("providers.chat")
@pytest.mark.parametrize(
    ("stop", "finish"),
    [("max_tokens", "length"), ("model_context_window_exceeded", "length"), ("refusal", "content_filter")],
)
def test_an_answer_that_was_cut_off_or_declined_says_so(stop: str, finish: str) -> None:
    with ScriptedServer(reply(text("half"), stop=stop)) as server:
        assert said(ask(server)).finish == finish


@pytest.mark.promise("providers.failures", "providers.keys")
@pytest.mark.parametrize(
    ("status", "kind", "message", "expected"),
    [
        (401, "authentication_error", f"invalid x-api-key {KEY}", "key_refused"),
        (403, "permission_error", "no", "key_refused"),
        (404, "not_found_error", "model: claude-9", "model_unknown"),
        (413, "request_too_large", "Request exceeds the maximum size", "prompt_too_large"),
        (400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum", "prompt_too_large"),
        (400, "invalid_request_error", f"bad {KEY}", "endpoint_failed"),
        (429, "rate_limit_error", "slow down", "endpoint_rate_limited"),
        (529, "overloaded_error", "Overloaded", "endpoint_failed"),
    ],
)
def test_errors_have_the_codes_of_other_endpoints(status: int, kind: str, message: str, expected: str) -> None:
    body = {"type": "error", "error": {"type": kind, "message": message}}
    with ScriptedServer(always=Status(status, body)) as server:
        answer = ask(server, retries=0)
    assert code(answer) == expected
    assert KEY not in answer.message


@pytest.mark.promise("providers.retries")
def test_an_overloaded_server_is_asked_again_after_the_wait_it_names() -> None:
    waits = Waits()
    busy = Status(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    with ScriptedServer(Status(429, headers={"Retry-After": "7"}), busy, reply(text("hello"))) as server:
        assert said(ask(server, waits=waits)).text == "hello"
    assert waits.seconds == [7.0, 0.75]


@pytest.mark.promise("providers.misbehaving")
@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (Raw(b"<html>"), "endpoint_bad_answer"),
        (Raw(b"[]"), "endpoint_bad_answer"),
        (Raw(b'"text"'), "endpoint_bad_answer"),
        (Raw(b'{"content": "text"}'), "endpoint_bad_answer"),
        (Raw(b"{}", headers={"content-encoding": "gzip"}), "endpoint_bad_answer"),
        (Raw(b'{"content": [{"type": "text", "text": "' + b"x" * 2000 + b'"}]}'), "answer_too_large"),
        (Raw(b"x" * 200_000), "answer_too_large"),
        (Status(302, headers={"Location": "http://127.0.0.1:9/"}), "endpoint_failed"),
        (Drops(), "endpoint_failed"),
    ],
)
def test_a_server_that_misbehaves_gets_a_code(behaviour: Any, expected: str) -> None:
    with ScriptedServer(always=behaviour) as server:
        assert code(ask(server, retries=0, answer_bytes=1000)) == expected


@pytest.mark.promise("providers.deadline")
def test_a_server_that_hangs_is_left() -> None:
    with ScriptedServer(Hangs()) as server:
        assert code(ask(server, timeout_s=0.3)) == "endpoint_timeout"
        assert server.wait_until_idle()


@pytest.mark.promise("providers.failures", "providers.keys")
def test_a_key_is_never_sent_unencrypted_to_another_machine() -> None:
    with ScriptedServer() as server:
        assert code(ask(server, base_url="http://host.example/v1")) == "endpoint_unreachable"
        port = server.base_url.rpartition(":")[2]
    gone = ask(server, base_url=f"http://127.0.0.1:{port}", retries=0)
    assert isinstance(gone, ModelError)
    assert gone.code == "endpoint_unreachable"


@pytest.mark.promise("providers.forms")
def test_references_in_a_schema_still_lead_where_they_did() -> None:
    schema = {"$ref": "#/$defs/one", "$defs": {"one": {"type": "integer", "not": {"const": 4}}}}
    with ScriptedServer(reply({"type": "tool_use", "input": {"answer": 3}})) as server:
        assert said(ask(server, asking(schema=schema))).text == "3"
        sent = server.requests[0].body["tools"][0]["input_schema"]
    assert jsonschema_rs.is_valid(sent, {"answer": 3})
    assert not jsonschema_rs.is_valid(sent, {"answer": "three"})
