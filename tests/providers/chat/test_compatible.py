"""A model behind an OpenAI-compatible endpoint, against a real server on loopback."""

import asyncio
import gc
import json

import openai
import pytest

from tallystick.providers.chat import client
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.client import Line
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Message, ModelError, NativeCall, ToolDefinition, Usage
from tests.providers.chat.asking import KEY, SCHEMA, Waits, ask_at, asking, code, model_at, said
from tests.scripted_server import (
    Drops,
    Endless,
    HalfAStream,
    Hangs,
    HangsMidway,
    Raw,
    RefusesForm,
    Says,
    ScriptedServer,
    Status,
)

ENVELOPE = '{"tool":"reader","args":{"path":"a.md"},"nonce":"n1"}'


@pytest.mark.promise("providers.chat")
@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_answer_comes_back_from_a_base_url_with_and_without_its_version(end: str) -> None:
    with ScriptedServer(Says("hello there")) as server:
        answer = said(ask_at(server, base_url=server.base_url + end))
        assert (answer.text, answer.finish, answer.model) == ("hello there", "stop", "scripted")
        assert server.requests[0].path == "/v1/chat/completions"
        assert server.requests[0].body == {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.promise("providers.addresses")
@pytest.mark.parametrize("end", ["/v1beta/openai/", "/v1beta/openai/chat/completions", "/v1beta", ""])
def test_gemini_is_asked_at_its_compatible_address(end: str) -> None:
    with ScriptedServer(Says("hello")) as server:
        said(ask_at(server, provider="gemini", base_url=server.base_url + end))
        assert server.requests[0].path == "/v1beta/openai/chat/completions"
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.promise("providers.failures")
@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "API key not valid. Please pass a valid API key.", "key_refused"),
        (404, "models/m is not found for API version v1main", "model_unknown"),
    ],
)
def test_errors_of_gemini_come_in_a_list_and_are_read(status: int, message: str, expected: str) -> None:
    body = [{"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}]
    with ScriptedServer(Status(status, body)) as server:
        assert code(ask_at(server, asking(schema=SCHEMA), provider="gemini")) == expected
        assert len(server.requests) == 1


@pytest.mark.promise("providers.addresses")
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("end", "path"),
    [
        ("/openai/v1/", "/openai/v1/chat/completions"),
        ("/openai/v1/?api-version=preview", "/openai/v1/chat/completions?api-version=preview"),
        ("/?api-version=2024-10-21", "/openai/deployments/m/chat/completions?api-version=2024-10-21"),
        (
            "/openai/deployments/small/chat/completions?api-version=2024-10-21",
            "/openai/deployments/small/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_azure_is_asked_with_its_version_and_its_key_header(end: str, path: str, streams) -> None:
    with ScriptedServer(Says("hello")) as server:
        hear = (lambda _: None) if streams else None
        assert said(ask_at(server, provider="azure", base_url=server.base_url + end, hear=hear)).text == "hello"
        assert server.requests[0].path == path
        assert server.requests[0].headers["api-key"] == KEY
        assert "authorization" not in server.requests[0].headers


@pytest.mark.promise("providers.no-leak")
def test_nothing_is_kept_of_a_loop_that_has_ended() -> None:
    with ScriptedServer(always=Says("hello")) as server:
        for _ in range(3):
            said(ask_at(server))
        gc.unfreeze()  # what other tests left is not looked through; here it must be
        gc.collect()
        assert not client._kept
        assert not [each for each in gc.get_objects() if isinstance(each, openai.AsyncOpenAI)]


@pytest.mark.promise("providers.usage")
@pytest.mark.parametrize("streams", [False, True])
def test_usage_and_cost_are_counted_in_one_piece_and_in_many(streams) -> None:
    heard: list[str] = []
    with ScriptedServer(Says("hello there")) as server:
        prices = {"price_in_microusd": 2_000_000, "price_out_microusd": 10_000_001}
        answer = said(ask_at(server, hear=heard.append if streams else None, **prices))
        assert answer.usage == Usage(input_tokens=11, output_tokens=7, cost_microusd=22 + 71)
        assert server.requests[0].streams is streams
    assert "".join(heard) == (answer.text if streams else "")
    assert len(heard) == (3 if streams else 0)


@pytest.mark.promise("providers.usage")
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": "7"}, {"prompt_tokens": True}])
def test_an_endpoint_that_does_not_count_is_counted_for(usage: object) -> None:
    with ScriptedServer(Says("x" * 41, usage=usage)) as server:
        answer = said(ask_at(server, asking("y" * 80)))
    assert answer.usage.input_tokens == 20
    assert answer.usage.output_tokens == 11


@pytest.mark.promise("providers.native")
@pytest.mark.parametrize("streams", [False, True])
def test_native_calls_come_back_as_they_were_written(streams) -> None:
    calls = [("reader", '{"path": "a.md"}'), ("finder", '{"q":1,"q":2}')]
    offer = ToolDefinition(name="reader", description="Reads.", schema={"type": "object"})
    with ScriptedServer(Says("I will look.", calls=calls)) as server:
        ask = asking(offers=(offer,), schema=SCHEMA)
        answer = said(ask_at(server, ask, hear=(lambda _: None) if streams else None, protocol="native"))
        sent = server.requests[0].body
    assert [(call.call_id, call.name, call.arguments) for call in answer.calls] == [
        (f"call_{place}", *call) for place, call in enumerate(calls)
    ]
    assert (answer.text, answer.finish) == ("I will look.", "tool_calls")
    function = {"name": "reader", "description": "Reads.", "parameters": {"type": "object"}}
    assert sent["tools"] == [{"type": "function", "function": function}]
    assert "response_format" not in sent


@pytest.mark.promise("providers.native")
def test_a_conversation_with_native_calls_is_sent_as_the_api_wants_it() -> None:
    call = NativeCall(call_id="c1", name="reader", arguments="{}")
    messages = (
        Message(role="assistant", content="", calls=(call,)),
        Message(role="tool", content="result", call_id="c1"),
    )
    with ScriptedServer(Says("done"), Says("done")) as server:
        ask_at(server, asking(temperature=0.2, max_tokens=9), temperature=0.9)
        ask_at(server, type(asking())(messages=messages))
        first, second = (request.body for request in server.requests)
    assert (first["temperature"], first["max_tokens"]) == (0.2, 9)
    function = {"name": "reader", "arguments": "{}"}
    assert second["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
        {"role": "tool", "content": "result", "tool_call_id": "c1"},
    ]


FAILURES = [
    pytest.param([Status(401)], "key_refused", 1, id="401"),
    pytest.param([Status(403)], "key_refused", 1, id="403"),
    pytest.param([Status(404, {"error": {"message": "model 'm' not found"}})], "model_unknown", 1, id="no model"),
    pytest.param([Status(404, {"error": {"code": "model_not_found"}})], "model_unknown", 1, id="no model, by code"),
    pytest.param([Status(404, {"detail": "Not Found"})], "endpoint_failed", 1, id="no API"),
    pytest.param([Status(413)], "prompt_too_large", 1, id="413"),
    pytest.param(
        [Status(400, {"error": {"message": "x", "code": "context_length_exceeded"}})], "prompt_too_large", 1, id="long"
    ),
    pytest.param(
        [Status(400, {"error": {"message": "request (9031 tokens) exceeds the available context size"}})],
        "prompt_too_large", 1, id="long, llama.cpp",
    ),
    pytest.param([Status(400)], "endpoint_failed", 1, id="400"),
    pytest.param([Status(307, headers={"location": "http://127.0.0.1:1/"})], "endpoint_failed", 1, id="redirect"),
    pytest.param([Status(429)] * 3, "endpoint_rate_limited", 3, id="429"),
    pytest.param([Status(429, {"error": {"code": "insufficient_quota"}})], "endpoint_rate_limited", 1, id="no quota"),
    pytest.param([Status(500)] * 3, "endpoint_failed", 3, id="500"),
    pytest.param([Status(503, "<html>")] * 3, "endpoint_failed", 3, id="503"),
    pytest.param([Drops()] * 3, "endpoint_failed", 3, id="socket closed"),
    pytest.param(
        [Raw(b'{"error": {"message": "slow down", "code": 429}}')] * 3, "endpoint_rate_limited", 3, id="429 inside 200"
    ),
    pytest.param([Raw(b"{nope")], "endpoint_bad_answer", 1, id="no JSON"),
    pytest.param([Raw(b"<html>", "text/html")], "endpoint_bad_answer", 1, id="a page"),
    pytest.param([Raw(b"[]")], "endpoint_bad_answer", 1, id="no object"),
    pytest.param([Raw(b"{}")], "endpoint_bad_answer", 1, id="no choices"),
    pytest.param([Raw(b'{"choices": null}')], "endpoint_bad_answer", 1, id="null choices"),
    pytest.param([Raw(b'{"choices": [3]}')], "endpoint_bad_answer", 1, id="odd choices"),
    pytest.param([Raw(b"[" * 200_000)], "endpoint_bad_answer", 1, id="endless nesting"),
    pytest.param([Raw(b"\xff\xfe")], "endpoint_bad_answer", 1, id="no text"),
    pytest.param([Raw(b"x", headers={"content-encoding": "gzip"})], "endpoint_bad_answer", 1, id="packed"),
    pytest.param([Says("x" * 10_000_000)], "answer_too_large", 1, id="10 MB"),
    pytest.param([Endless()], "answer_too_large", 1, id="endless"),
]  # fmt: skip


@pytest.mark.promise("providers.failures", "providers.misbehaving")
@pytest.mark.parametrize(("script", "expected", "requests"), FAILURES)
def test_every_failure_has_its_code_and_is_asked_again_only_where_that_may_help(
    script: list, expected: str, requests: int
) -> None:
    with ScriptedServer(*script) as server:
        answer = ask_at(server)
        assert code(answer) == expected
        assert isinstance(answer, ModelError)
        assert len(answer.message) > 30
        assert len(server.requests) == requests


STREAM_FAILURES = [
    pytest.param([HalfAStream("hal")], "endpoint_bad_answer", id="half a stream"),
    pytest.param([HalfAStream("hal", politely=True)], "endpoint_bad_answer", id="half a stream, politely"),
    pytest.param([Raw(b"data: {nope\n\n", "text/event-stream")], "endpoint_bad_answer", id="no JSON"),
    pytest.param([Raw(b"data: " + b"[" * 200_000 + b"\n\n", "text/event-stream")], "endpoint_bad_answer", id="nested"),
    pytest.param([Raw(b"data: [1]\n\ndata: [DONE]\n\n", "text/event-stream")], "endpoint_bad_answer", id="no object"),
    pytest.param([Raw(b"data: [DONE]\n\n", "text/event-stream")], "endpoint_bad_answer", id="nothing"),
    pytest.param(
        [Raw(b'data: {"error": {"message": "model m not found", "code": 404}}\n\n', "text/event-stream")],
        "model_unknown", id="an error inside",
    ),
    pytest.param([Endless()], "answer_too_large", id="endless pieces"),
    pytest.param([Endless(line=True)], "answer_too_large", id="an endless line"),
    pytest.param([Says("x" * 2_000_000, piece=50_000)], "answer_too_large", id="2 MB"),
    pytest.param([Status(500)] * 3, "endpoint_failed", id="500"),
    pytest.param([Drops()] * 3, "endpoint_failed", id="socket closed"),
]  # fmt: skip


@pytest.mark.promise("providers.failures", "providers.misbehaving")
@pytest.mark.parametrize(("script", "expected"), STREAM_FAILURES)
def test_every_failure_of_a_stream_has_its_code(script: list, expected: str) -> None:
    with ScriptedServer(*script) as server:
        assert code(ask_at(server, hear=lambda _: None)) == expected
        assert len(server.requests) == len(script)


@pytest.mark.promise("providers.retries")
def test_what_passes_is_asked_again_after_growing_waits() -> None:
    waits = Waits()
    with ScriptedServer(Status(500), Drops(), Status(429), Says("at last")) as server:
        assert said(ask_at(server, waits=waits, retries=3)).text == "at last"
    assert waits.seconds == [0.375, 0.75, 1.5]


@pytest.mark.promise("providers.retries")
def test_a_server_that_says_how_long_to_wait_is_obeyed_within_bounds() -> None:
    waits = Waits()
    with ScriptedServer(
        Status(429, headers={"retry-after": "3"}), Says("yes"), Status(429, headers={"retry-after": "3600"})
    ) as server:
        assert said(ask_at(server, waits=waits)).text == "yes"
        refused = ask_at(server, waits=waits)
    assert waits.seconds == [3.0]
    assert isinstance(refused, ModelError)
    assert (refused.code, refused.retry_after_s) == ("endpoint_rate_limited", 3600.0)


@pytest.mark.promise("providers.deadline")
def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    waits = Waits()
    with ScriptedServer(Status(503, headers={"retry-after": "25"})) as server:
        assert code(ask_at(server, waits=waits, timeout_s=10.0)) == "endpoint_failed"
    assert waits.seconds == []


@pytest.mark.promise("providers.deadline", "providers.misbehaving")
@pytest.mark.parametrize("behaviour", [Hangs(), HangsMidway()])
def test_an_endpoint_that_hangs_is_left_at_the_deadline(behaviour) -> None:
    with ScriptedServer(behaviour) as server:
        hear = None if isinstance(behaviour, Hangs) else (lambda _: None)
        assert code(ask_at(server, hear=hear, timeout_s=0.3)) == "endpoint_timeout"
        assert server.wait_until_idle()


@pytest.mark.promise("providers.cancelled")
def test_a_cancelled_question_closes_its_connection() -> None:
    async def cancelled(server: ScriptedServer) -> bool:
        heard = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(model_at(server).ask(asking(), hear=lambda _: heard.set()))
            await heard.wait()
            task.cancel()
        # Still inside the loop: it is the cancelling that closed it, not the loop's end.
        return task.cancelled() and await asyncio.to_thread(server.wait_until_idle)

    with ScriptedServer(HangsMidway()) as server:
        assert asyncio.run(cancelled(server))


def test_the_steps_of_a_turn_share_a_connection() -> None:
    async def twice(server: ScriptedServer) -> None:
        model = model_at(server)
        assert said(await model.ask(asking())).text == "one"
        assert said(await model.ask(asking())).text == "two"

    with ScriptedServer(Says("one"), Says("two")) as server:
        asyncio.run(twice(server))
        assert server.connections == 1
        assert server.wait_until_idle()


@pytest.mark.promise("providers.failures")
def test_an_endpoint_that_is_not_there_is_said_to_be_unreachable() -> None:
    with ScriptedServer() as server:
        gone = server.base_url
    model = OpenAiCompatible(
        Endpoint(agent_id="a", provider="lmstudio", model="m", base_url=gone), memory=CapabilityBook(), pause=Waits()
    )
    assert code(asyncio.run(model.ask(asking()))) == "endpoint_unreachable"


@pytest.mark.promise("providers.forms")
@pytest.mark.parametrize(
    ("provider", "refused", "forms"),
    [
        ("lmstudio", set(), ["json_schema"]),
        ("llamacpp", {"json_schema"}, ["json_schema", "json_object"]),
        ("llamacpp", {"json_schema", "json_object"}, ["json_schema", "json_object", "grammar"]),
        ("vllm", {"json_schema", "json_object"}, ["json_schema", "json_object", "json_object", "plain"]),
        ("openai", {"json_schema", "json_object"}, ["json_schema"] * 2 + ["json_object"] * 2 + ["plain"]),
    ],
)
def test_the_form_an_endpoint_takes_is_learnt_from_its_refusals_and_kept(provider, refused, forms) -> None:
    memory = CapabilityBook()
    behaviour = RefusesForm(frozenset(refused), Says(ENVELOPE))
    with ScriptedServer(*[behaviour] * (len(forms) + 1)) as server:
        for _ in range(2):
            assert said(ask_at(server, asking(schema=SCHEMA), provider=provider, memory=memory)).text == ENVELOPE
        seen = [_form(request.body) for request in server.requests]
    assert seen == [*forms, forms[-1]]


@pytest.mark.promise("providers.forms")
def test_an_endpoint_that_takes_no_form_still_answers() -> None:
    refused = Status(400, {"error": {"message": "unexpected field"}})
    with ScriptedServer(refused, refused, refused, Says(ENVELOPE)) as server:
        assert said(ask_at(server, asking(schema=SCHEMA))).text == ENVELOPE
        assert server.requests[-1].body.keys() == {"model", "messages"}


@pytest.mark.promise("providers.forms")
def test_nothing_is_learnt_where_no_form_was_the_reason() -> None:
    memory = CapabilityBook()
    with ScriptedServer(*[Status(400)] * 4, Says(ENVELOPE)) as server:
        assert code(ask_at(server, asking(schema=SCHEMA), memory=memory)) == "endpoint_failed"
        ask_at(server, asking(schema=SCHEMA), memory=memory)
        assert _form(server.requests[-1].body) == "json_schema"


@pytest.mark.promise("providers.forms")
def test_a_schema_that_is_refused_does_not_speak_for_the_next() -> None:
    memory = CapabilityBook()
    refused = Status(400, {"error": {"message": "Invalid schema for response_format 'step'"}})
    with ScriptedServer(refused, Says(ENVELOPE), Says(ENVELOPE)) as server:
        for _ in range(2):
            ask_at(server, asking(schema=SCHEMA), memory=memory)
        assert [_form(request.body) for request in server.requests] == ["json_schema", "json_object", "json_schema"]


@pytest.mark.promise("providers.forms")
def test_fields_an_endpoint_refuses_are_left_out_from_then_on() -> None:
    memory = CapabilityBook()
    newer = {"error": {"message": "Unsupported parameter: use 'max_completion_tokens'", "param": "max_tokens"}}
    usage = {"error": {"message": "stream_options is not allowed"}}
    heat = {"error": {"message": "Unsupported value: 'temperature' must be 1", "param": "temperature"}}
    ask = asking(max_tokens=5, temperature=0.0)
    with ScriptedServer(Status(400, newer), Status(400, usage), Status(422, heat), Says("a"), Says("b")) as server:
        for text in "ab":
            assert said(ask_at(server, ask, hear=lambda _: None, memory=memory)).text == text
        last = server.requests[-1].body
    assert last.keys() == {"model", "messages", "stream", "max_completion_tokens"}


@pytest.mark.promise("providers.forms")
@pytest.mark.parametrize(
    "message",
    ["max_tokens is too large: this model gives at most 4096", "maximum context length; max_tokens unsupported"],
)
def test_a_limit_that_is_too_high_is_not_lifted(message: str) -> None:
    with ScriptedServer(Status(400, {"error": {"message": message}})) as server:
        assert code(ask_at(server, asking(max_tokens=9999))) in {"endpoint_failed", "prompt_too_large"}
        assert len(server.requests) == 1


@pytest.mark.promise("providers.strict")
@pytest.mark.parametrize("streams", [False, True])
def test_what_strict_mode_made_the_model_write_is_gone_before_the_gate_sees_it(streams) -> None:
    forced = {"answer": {"tool": "reader", "args": {"path": "a.md", "start": None}, "nonce": "n1"}}
    with ScriptedServer(Says(json.dumps(forced))) as server:
        hear = (lambda _: None) if streams else None
        answer = said(ask_at(server, asking(schema=SCHEMA), provider="openai", hear=hear))
        sent = server.requests[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert json.loads(answer.text) == {"tool": "reader", "args": {"path": "a.md"}, "nonce": "n1"}


@pytest.mark.promise("providers.strict", "providers.misbehaving")
@pytest.mark.parametrize(
    "text",
    ["Sure! " + ENVELOPE, ENVELOPE * 2, "<think>hm</think>" + ENVELOPE, '{"answer": {"tool": "other"}}', "", "{"],
)
def test_what_does_not_fit_goes_to_the_gate_as_it_came(text: str) -> None:
    with ScriptedServer(Says(text)) as server:
        answer = said(ask_at(server, asking(schema=SCHEMA), provider="openai"))
    assert answer.text == text


@pytest.mark.promise("providers.misbehaving")
@pytest.mark.parametrize("streams", [False, True])
def test_half_a_character_becomes_a_mark_and_two_halves_become_one(streams) -> None:
    with ScriptedServer(Says("a\ud83d\ude00b\ud83d", piece=2)) as server:
        assert said(ask_at(server, hear=(lambda _: None) if streams else None)).text == "a\U0001f600b\ufffd"


@pytest.mark.promise("providers.keys")
def test_the_key_goes_into_one_header_and_no_other_key_goes_along(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"other-{name}")
    with ScriptedServer(Says("hello")) as server:
        ask_at(server)
        headers = server.requests[0].headers
    assert [name for name, value in headers.items() if KEY in value] == ["authorization"]
    assert not [name for name, value in headers.items() if "other-" in value]


@pytest.mark.promise("providers.keys")
@pytest.mark.parametrize("status", [400, 401, 404, 413, 429, 500])
@pytest.mark.parametrize("streams", [False, True])
def test_the_key_stands_in_no_message_and_no_log(status: int, streams, caplog) -> None:
    caplog.set_level(0)
    body = {"error": {"message": f"Incorrect API key provided: {KEY}. context length", "code": KEY, "param": KEY}}
    with ScriptedServer(*[Status(status, body)] * 3) as server:
        model = model_at(server)
        answer = asyncio.run(model.ask(asking(), hear=(lambda _: None) if streams else None))
    assert isinstance(answer, ModelError)
    assert KEY not in repr(answer) + repr(model)
    assert KEY not in repr(Line(address="http://localhost", key=KEY, limit=1))
    assert KEY not in caplog.text
    assert not [record for record in caplog.records if KEY in str(record.args)]


def _form(body: dict) -> str:
    return "grammar" if "grammar" in body else body.get("response_format", {}).get("type", "plain")
