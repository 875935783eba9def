"""`/v1/…` through the door: grounded answers, withheld ones, client tools across restarts, errors in the format's words."""

import json
from typing import Any

import httpx
import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer
from tests.doors.http.talking import (
    SCENE,
    call,
    claim,
    events,
    finish,
    grounded,
    receipts_in,
    serve_agent,
    set_endpoint,
    write_story,
)
from tests.scripted_server import Says, ScriptedServer, Status

COMPLETIONS = "/v1/chat/completions"
ASK = [{"role": "user", "content": "Does Ada sail?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
WEATHER_ASK = [{"role": "user", "content": "What is the weather in Paris?"}]


def complete(door: Doorway, messages: Any = ASK, headers: Any = None, **more: Any) -> httpx.Response:
    return door.post(COMPLETIONS, {"model": "critic", "messages": messages, **more}, headers=headers)


def error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is an error in the format's words."""
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()["error"]
    assert found.keys() == {"message", "type", "param", "code"}
    assert found["code"] == code
    assert found["message"]
    assert answer.headers["x-should-retry"] == "false"
    return found


@pytest.fixture
def told(door: Doorway) -> Doorway:
    write_story(door.workspace)
    return door


@pytest.mark.promise("chat.openai")
def test_models_are_the_agents_their_endpoints_and_offline(told: Doorway) -> None:
    set_endpoint(told.workspace, "critic", provider="ollama", model="llama3:8b")
    listed = told.get("/v1/models").json()
    assert listed["object"] == "list"
    ids = [entry["id"] for entry in listed["data"]]
    assert ids[0] == "offline"
    assert {"assistant", "critic", "ollama/llama3:8b"} <= set(ids)
    assert told.get("/v1/models/critic").json()["object"] == "model"
    assert told.get("/v1/models/ollama/llama3:8b").json()["owned_by"] == "ollama"
    error(told.get("/v1/models/gpt-9"), 404, "model_not_found")


@pytest.mark.promise("chat.openai")
@pytest.mark.parametrize("model", ["critic", "lmstudio/scripted", "scripted"])
def test_an_agent_answers_by_its_own_name_and_by_its_endpoint_s(told: Doorway, model: str) -> None:
    with ScriptedServer(*grounded()) as server:
        serve_agent(told.workspace, server)
        answer = complete(told, model=model)
    body = answer.json()
    assert body["model"] == model
    assert body["object"] == "chat.completion"
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["choices"][0]["message"]["content"].startswith("She does not sail.")
    assert body["usage"] == {"prompt_tokens": 33, "completion_tokens": 21, "total_tokens": 54}
    ours = body["tallystick"]
    assert ours["agent"] == "critic"
    assert ours["findings"]["ok"] is True
    assert ours["evidence"].startswith("Evidence:")
    assert ours["receipts"] == ours["findings"]["receipts"]


@pytest.mark.promise("chat.openai")
def test_offline_always_answers_whatever_the_endpoints_are(told: Doorway) -> None:
    set_endpoint(told.workspace, "assistant", base_url="http://127.0.0.1:9")
    body = complete(told, model="offline").json()
    assert body["tallystick"]["findings"]["ok"] is True
    assert body["choices"][0]["message"]["content"]


@pytest.mark.promise("chat.openai")
def test_a_client_s_own_instructions_and_history_reach_the_model(told: Doorway) -> None:
    history = [
        {"role": "system", "content": "Answer in one line."}, {"role": "user", "content": "Who is Ada?"},
        {"role": "assistant", "content": "The keeper."}, *ASK,
    ]  # fmt: skip
    with ScriptedServer(*grounded()) as server:
        serve_agent(told.workspace, server)
        complete(told, history, max_tokens=50, tallystick={"allowedTools": ["file_reader"]})
    sent = server.requests[0].body
    assert [message["role"] for message in sent["messages"]] == ["system", "system", "user", "assistant", "user"]
    assert sent["max_tokens"] == 50
    assert '"name":"file_reader"' in server.requests[0].text
    assert '"name":"file_locator"' not in server.requests[0].text


@pytest.mark.promise("chat.openai")
def test_a_stream_is_the_same_answer_in_pieces_with_the_rest_in_its_last_one(told: Doorway) -> None:
    text = "She does not sail. " * 40
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), claim(text=text)) as server:
        serve_agent(told.workspace, server)
        answer = complete(told, stream=True, stream_options={"include_usage": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    chunks = [data for _, data in events(answer.text)]
    assert chunks.pop() == "[DONE]"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks.pop()["usage"]["total_tokens"] == 54
    whole = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    assert whole.startswith(text)
    assert len(chunks) > 4
    last = chunks[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["tallystick"]["findings"]["ok"] is True
    assert all("tallystick" not in chunk for chunk in chunks[:-1])


FALSE = '"she had often set foot on a boat" Story/Scenes/SCN-01.md:L4'


@pytest.mark.promise("chat.enforce")
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("enforce", [{}, {"evidence": "enforce"}, {"tallystick": {"evidence": "enforce"}}])
def test_a_reply_that_fails_is_marked_or_where_evidence_is_enforced_withheld(
    told: Doorway, enforce: dict[str, Any], *, streams: bool
) -> None:
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), claim(FALSE)) as server:
        serve_agent(told.workspace, server)
        answer = complete(told, stream=streams, **enforce)
    if streams:
        chunks = [data for _, data in events(answer.text)][:-1]
        content = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
        finish_reason, ours = chunks[-1]["choices"][0]["finish_reason"], chunks[-1]["tallystick"]
    else:
        choice = answer.json()["choices"][0]
        content, finish_reason, ours = (
            choice["message"]["content"],
            choice["finish_reason"],
            answer.json()["tallystick"],
        )
    assert ours["findings"]["ok"] is False
    assert ours["code"] == "quote_not_found"
    if enforce:
        assert (content, finish_reason) == ("", "content_filter")
        assert "often" not in answer.text
    else:
        assert "often" in content
        assert finish_reason == "stop"


@pytest.mark.promise("chat.openai")
def test_a_turn_that_stops_says_so_where_the_text_would_stand(told: Doorway) -> None:
    with ScriptedServer(call("send_mail", {"to": "a@example.org"})) as server:
        serve_agent(told.workspace, server)
        body = complete(told, [{"role": "user", "content": "Send a mail to a@example.org"}]).json()
    content = body["choices"][0]["message"]["content"]
    assert content.startswith("STOP_HOOK: approval_required")
    assert body["tallystick"]["held"]["approval_id"] in content
    assert told.ran.calls == []


# -- client tools ------------------------------------------------------------------------------------------------------


def answers_weather() -> Says:
    return Says(lambda seen: f'Rain.\nEvidence: "light rain from the west" receipt {receipts_in(seen)[-1]}')


@pytest.mark.promise("chat.client-tools", "admit.client-tools", "turns.handed-back")
@pytest.mark.parametrize("streams", [False, True])
def test_a_client_s_tool_is_decided_recorded_and_handed_back_and_its_result_is_recorded(
    open_door: OpenDoor, *, streams: bool
) -> None:
    door = open_door()
    script = [call("get_weather", {"city": "Paris"}), answers_weather(), answers_weather()]
    # What a role must cite of files is beside the point here.
    settings = {"evidence": {"sources": {"critic": ["anything"]}}}
    door.close()
    door = open_door(**settings)
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        answer = complete(door, WEATHER_ASK, tools=[WEATHER], stream=streams)
        message, finish_reason, session = _handed(answer, streams=streams)
        assert finish_reason == "tool_calls"
        [asked] = message["tool_calls"]
        assert json.loads(asked["function"]["arguments"]) == {"city": "Paris"}
        handed = door.gate.ledger.find(asked["id"].removeprefix("call_"))
        assert handed is not None
        assert handed.header["outcome"]["handed_back"] is True
        door.close()
        # Another process: what the id carries is enough.
        door = open_door(**settings)
        result = {"role": "tool", "tool_call_id": asked["id"], "content": '{"sky": "light rain from the west"}'}
        messages = [*WEATHER_ASK, message, result]
        first = complete(door, messages, tools=[WEATHER]).json()
        door.close()
        door = open_door(**settings)
        again = complete(door, messages, tools=[WEATHER]).json()
    assert first["choices"][0]["message"]["content"].startswith("Rain.")
    assert first["tallystick"]["findings"]["ok"] is True
    assert first["tallystick"]["session"] == session
    reports = [receipt for receipt in door.receipts() if receipt.header["kind"] == "report"]
    assert [report.receipt_id for report in reports] == first["tallystick"]["receipts"]
    assert again["tallystick"]["receipts"] == first["tallystick"]["receipts"]
    assert reports[0].outputs == {"sky": "light rain from the west"}
    assert reports[0].header["links"]["outcome"] == handed.receipt_id
    assert reports[0].header["session_id"] == session


def _handed(answer: httpx.Response, *, streams: bool) -> tuple[dict[str, Any], str, str]:
    if not streams:
        choice = answer.json()["choices"][0]
        return choice["message"], choice["finish_reason"], answer.json()["tallystick"]["session"]
    chunks = [data for _, data in events(answer.text)][:-1]
    calls = [part for chunk in chunks for part in chunk["choices"][0]["delta"].get("tool_calls", ())]
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{k: v for k, v in part.items() if k != "index"} for part in calls],
    }
    return message, chunks[-1]["choices"][0]["finish_reason"], chunks[-1]["tallystick"]["session"]


@pytest.mark.promise("chat.client-tools")
def test_policy_decides_about_a_client_s_tool_too(open_door: OpenDoor) -> None:
    door = open_door(tools={"get_weather": {"decision": "deny"}})
    with ScriptedServer(call("get_weather", {"city": "Paris"})) as server:
        serve_agent(door.workspace, server)
        body = complete(door, WEATHER_ASK, tools=[WEATHER]).json()
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["tallystick"]["stop_hook"] == "STOP_HOOK: tool_call_rejected tool_call_invalid_args"


@pytest.mark.promise("chat.client-tools")
def test_arguments_that_do_not_fit_the_client_s_schema_are_not_handed_back(told: Doorway) -> None:
    with ScriptedServer(call("get_weather", {"town": "Paris"})) as server:
        serve_agent(told.workspace, server)
        body = complete(told, WEATHER_ASK, tools=[WEATHER]).json()
    assert "tool_calls" not in body["choices"][0]["message"]
    assert body["tallystick"]["stop_hook"] == "STOP_HOOK: tool_call_rejected tool_call_invalid_args"


@pytest.mark.promise("chat.client-tools")
@pytest.mark.parametrize("call_id", ["", "call_1", "call_rcpt_000000000000000000000000", "rcpt_x"])
def test_a_result_of_a_call_that_was_never_handed_out_is_refused(told: Doorway, call_id: str) -> None:
    before = len(told.receipts())
    messages = [
        *WEATHER_ASK,
        {"role": "assistant", "content": None},
        {"role": "tool", "tool_call_id": call_id, "content": "x"},
    ]
    error(complete(told, messages, tools=[WEATHER]), 400, "tool_call_unknown")
    assert len(told.receipts()) == before


@pytest.mark.promise("chat.client-tools", "chat.auth")
def test_another_s_call_does_not_exist_for_a_caller_and_neither_does_a_call_of_ours(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    write_story(door.workspace)
    with ScriptedServer(call("get_weather", {"city": "Paris"}), *grounded()) as server:
        serve_agent(door.workspace, server)
        hers = complete(door, WEATHER_ASK, bearer("agent", subject="ada"), tools=[WEATHER]).json()
        ours = complete(door, ASK, bearer("agent", subject="bob")).json()["tallystick"]["receipts"][0]
    handed = hers["choices"][0]["message"]["tool_calls"][0]["id"]
    for call_id in (handed, f"call_{ours}"):
        messages = [*WEATHER_ASK, {"role": "tool", "tool_call_id": call_id, "content": "x"}]
        error(complete(door, messages, bearer("agent", subject="bob")), 400, "tool_call_unknown")
    mismatched = [*WEATHER_ASK, {"role": "tool", "tool_call_id": handed, "content": "x"}]
    answer = complete(door, mismatched, bearer("agent", subject="ada"), tallystick={"session": "another"})
    error(answer, 400, "session_mismatch")
    assert not [receipt for receipt in door.receipts() if receipt.header["kind"] == "report"]


@pytest.mark.promise("chat.client-tools")
def test_a_name_that_this_server_has_is_not_taken_from_a_client(told: Doorway) -> None:
    mine = {"type": "function", "function": {"name": "file_reader"}}
    assert error(complete(told, tools=[mine]), 400, "tool_name_taken")["param"] == "tools"


@pytest.mark.promise("chat.client-tools")
def test_choosing_no_tool_offers_none_and_choosing_one_offers_only_it(told: Doorway) -> None:
    with ScriptedServer(
        Says("No.\nEvidence: ACCESS_REQUEST Story/*"), call("get_weather", {"city": "Paris"})
    ) as server:
        serve_agent(told.workspace, server)
        complete(told, WEATHER_ASK, tools=[WEATHER], tool_choice="none")
        only = {"type": "function", "function": {"name": "get_weather"}}
        complete(told, WEATHER_ASK, tools=[WEATHER], tool_choice=only)
    assert "# Tools" not in server.requests[0].text
    assert "TOOL_CALL_REQUIRED: true" in server.requests[1].text
    assert '"name":"get_weather"' in server.requests[1].text
    assert '"name":"file_reader"' not in server.requests[1].text


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.promise("chat.openai-errors", "chat.bad-input")
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_wrong_is_said_in_the_format_s_words(told: Doorway, *, streams: bool) -> None:
    assert "offline" in error(complete(told, model="gpt-9", stream=streams), 404, "model_not_found")["message"]
    error(complete(told, [{"role": "user", "content": "  "}], stream=streams), 400, "message_empty")
    error(complete(told, [{"role": "user", "content": "\x00"}], stream=streams), 400, "message_not_text")
    error(complete(told, [{"role": "user", "content": "x" * 300_000}], stream=streams), 413, "message_too_large")
    error(told.post(COMPLETIONS, b"{"), 400, "invalid_json")
    set_endpoint(told.workspace, "critic", provider="openai", model="m", api_key_env="TALLY_TEST_NO_SUCH_KEY")
    error(complete(told, stream=streams), 503, "key_missing")


@pytest.mark.promise("chat.openai-errors", "chat.bad-input")
@pytest.mark.parametrize("streams", [False, True])
def test_an_endpoint_that_fails_is_an_error_with_its_status_and_not_tried_again(
    told: Doorway, *, streams: bool
) -> None:
    with ScriptedServer(Status(429, headers={"retry-after": "7"})) as server:
        serve_agent(told.workspace, server)
        answer = complete(told, stream=streams)
    assert error(answer, 429, "endpoint_rate_limited")["type"] == "rate_limit_error"
    assert answer.headers["retry-after"] == "7"


@pytest.mark.promise("chat.auth", "chat.openai-errors")
def test_with_auth_on_the_bearer_is_our_token(locked: Doorway) -> None:
    for answer in (
        complete(locked),
        locked.get("/v1/models"),
        complete(locked, headers={"authorization": "Bearer sk-x"}),
    ):
        assert error(answer, 401, "invalid_api_key")["type"] == "authentication_error"
        assert answer.headers["www-authenticate"] == "Bearer"
    assert locked.get("/v1/models", headers=bearer("viewer")).status_code == 200


@pytest.mark.promise("chat.auth")
def test_without_auth_any_key_that_a_library_insists_on_is_let_pass(told: Doorway) -> None:
    assert told.get("/v1/models", headers={"authorization": "Bearer not-needed"}).status_code == 200


@pytest.mark.promise("chat.openai-errors")
def test_a_damaged_registry_is_an_error_and_not_a_crash(told: Doorway) -> None:
    file = told.workspace / ".control-room" / "agents" / "agents.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{")
    error(complete(told), 503, "agents_damaged")
    error(told.get("/v1/models"), 503, "agents_damaged")
