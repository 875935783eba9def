"""`POST /api/ai/chat`: what comes back, what is refused and how, and what a session remembers."""

import asyncio
import socket
from typing import Any

import httpx
import pytest

from tallystick.agents.chat import MAX_MESSAGE_BYTES
from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.talking import (
    CHAT,
    QUOTE,
    SCENE,
    call,
    claim,
    events,
    finish,
    grounded,
    serve_agent,
    set_endpoint,
    write_story,
)
from tests.scripted_server import Says, ScriptedServer, Status


def chat(door: Doorway, message: str = "Does Ada sail?", headers: dict[str, str] | None = None, **more: Any) -> Any:
    answer = door.post(CHAT, {"message": message, "agentId": "critic", **more}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def told(door: Doorway) -> Doorway:
    """A door with a story behind it."""
    write_story(door.workspace)
    return door


@pytest.mark.promise("chat.api", "offline.grounded")
def test_on_a_fresh_machine_an_agent_answers_from_the_files_with_evidence_and_receipts(told: Doorway) -> None:
    said = chat(told, "Did Ada set foot on a boat?")
    assert "set foot on a boat" in said["reply"]
    assert said["evidence"] in said["reply"]
    assert said["findings"]["ok"] is True
    assert said["receipts"]
    assert set(said["findings"]["receipts"]) <= set(said["receipts"])
    assert said["usage"].keys() == {"input_tokens", "output_tokens", "cost_microusd"}
    assert [step["kind"] for step in said["steps"]][-2:] == ["decision", "final"]
    headers = [receipt.header for receipt in told.receipts() if receipt.receipt_id in said["receipts"]]
    assert {(header["session_id"], header["agent_id"]) for header in headers} == {(said["sessionId"], "critic")}
    assert told.post("/api/audit/verify").json()["ok"] is True


@pytest.mark.promise("chat.api")
def test_the_chief_of_staff_answers_when_nobody_is_named(told: Doorway) -> None:
    answer = told.post(CHAT, {"message": "Did Ada set foot on a boat?"})
    assert answer.json()["agentId"] == "assistant"
    assert answer.json()["findings"]["ok"] is True


@pytest.mark.promise("chat.api", "chat.credits")
def test_a_model_s_reply_is_given_when_its_evidence_holds(told: Doorway) -> None:
    with ScriptedServer(*grounded()) as server:
        serve_agent(told.workspace, server)
        said = chat(told)
    assert said["reply"].startswith("She does not sail.")
    assert said["usage"] == {"input_tokens": 33, "output_tokens": 21, "cost_microusd": 0}
    credit = Credits(told.workspace).load().events[-1]
    assert (credit.agent_id, credit.points, credit.receipt_id) == ("critic", 2, said["findings"]["receipt_id"])


@pytest.mark.promise("chat.api", "chat.credits")
def test_a_reply_that_fails_its_check_is_null_with_text_code_and_findings(told: Doorway) -> None:
    false = '"she had often set foot on a boat" Story/Scenes/SCN-01.md:L4'
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), claim(false)) as server:
        serve_agent(told.workspace, server)
        said = chat(told)
    assert said["reply"] is None
    assert said["rejected"]["code"] == "quote_not_found"
    assert said["rejected"]["findings"]["ok"] is False
    assert "often" in said["rejected"]["text"]
    assert said["stop_hook"] == "STOP_HOOK: reply_rejected quote_not_found"
    assert Credits(told.workspace).balance("critic") < 0


@pytest.mark.promise("chat.api")
def test_a_malformed_call_stops_the_turn_with_its_code_and_runs_nothing(told: Doorway) -> None:
    with ScriptedServer(Says('Sure: {"tool":"double","args":{"number":1},"nonce":"guessed"}')) as server:
        serve_agent(told.workspace, server)
        said = chat(told, toolPolicy={"requireTool": True, "allowedTools": ["double"]})
    assert said["reply"] is None
    assert said["stop_hook"] == "STOP_HOOK: tool_call_rejected tool_call_invalid_format"
    assert told.ran.calls == []


@pytest.mark.promise("chat.api")
def test_the_tool_policy_holds_in_the_prompt_and_at_the_gate(told: Doorway) -> None:
    with ScriptedServer(call("store", {"name": "x"})) as server:
        serve_agent(told.workspace, server)
        said = chat(told, toolPolicy={"allowedTools": ["double"]})
    assert said["stop_hook"] == "STOP_HOOK: tool_call_rejected tool_call_unknown_tool"
    assert told.ran.calls == []
    assert '"name":"double"' in server.requests[0].text
    assert '"name":"store"' not in server.requests[0].text


@pytest.mark.promise("chat.api")
def test_a_held_call_says_which_approval_it_waits_for(told: Doorway) -> None:
    with ScriptedServer(call("send_mail", {"to": "a@example.org"})) as server:
        serve_agent(told.workspace, server)
        said = chat(told, "Send a mail to a@example.org")
    assert said["stop_hook"] == "STOP_HOOK: approval_required"
    assert told.get(f"/api/approvals/{said['held']['approval_id']}").json()["tool"] == "send_mail"
    assert told.ran.calls == []


@pytest.mark.promise("chat.api")
def test_skip_tools_gives_the_model_s_own_text_and_nothing_else(told: Doorway) -> None:
    with ScriptedServer(Says("raw, {unchecked}")) as server:
        serve_agent(told.workspace, server)
        said = chat(told, skipTools=True)
    assert said["reply"] == "raw, {unchecked}"
    assert said["evidence"] is None
    assert server.requests[0].body["messages"] == [{"role": "user", "content": "Does Ada sail?"}]


@pytest.mark.promise("chat.api", "turns.skip-tools")
def test_skip_tools_gives_the_text_without_the_thinking_before_it(told: Doorway) -> None:
    with ScriptedServer(Says("<think>a</think>raw text"), Says("[thinking]a[/thinking] more")) as server:
        serve_agent(told.workspace, server)
        assert chat(told, skipTools=True)["reply"] == "raw text"
        assert chat(told, skipTools=True)["reply"] == "more"


@pytest.mark.promise("chat.bad-input")
@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"toolPolicy": {"allowedTools": ["nope"]}}, "tool_unknown"),
        ({"toolPolicy": {"allowedTools": ["file_reader", "nope"]}}, "tool_unknown"),
        ({"toolPolicy": {"allowedTools": [], "requireTool": True}}, "tool_policy_conflict"),
        ({"toolPolicy": {"requireTool": True}, "skipTools": True}, "tool_policy_conflict"),
    ],
)
def test_a_tool_policy_that_cannot_be_kept_is_refused(told: Doorway, asked: dict[str, Any], code: str) -> None:
    answer = told.post("/api/ai/chat", {"message": "Does Ada sail?", **asked})
    assert problem(answer, 400, "validation_error")["hint"]
    assert answer.json()["error"]["message"] == code
    assert told.outcomes() == []


@pytest.mark.promise("chat.bounds")
def test_the_tier_says_how_many_calls_a_turn_has_and_then_the_answer_is_forced(told: Doorway) -> None:
    again = [call("file_reader", {"file_path": SCENE}, first=number == 0) for number in range(3)]
    with ScriptedServer(*again, claim()) as server:
        serve_agent(told.workspace, server)
        said = chat(told)
    assert said["forced"] is True
    assert len(said["receipts"]) == 3
    assert said["reply"] is not None
    assert server.requests[0].body["max_tokens"] == 600


@pytest.mark.promise("chat.bounds")
def test_what_is_configured_bounds_the_tier(open_door: OpenDoor) -> None:
    door = open_door(limits={"steps": 1})
    write_story(door.workspace)
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), claim()) as server:
        serve_agent(door.workspace, server)
        said = chat(door)
    assert said["forced"] is True
    assert len(said["receipts"]) == 1


@pytest.mark.promise("chat.bounds")
@pytest.mark.parametrize(("sits", "steps", "shown"), [(False, 3, 8_000), (True, 6, 12_000)])
def test_a_conference_has_budgets_of_its_own(told: Doorway, sits: bool, steps: int, shown: int) -> None:  # noqa: FBT001
    (told.workspace / "long.md").write_text("word " * 20_000, encoding="utf-8")
    conference = told.post("/api/conferences", {}).json()["conferenceId"] if sits else None
    places = {} if conference is None else {"conferenceId": conference}
    again = [call("echo", {"text": "x" * 30_000}, first=number == 0) for number in range(8)]
    with ScriptedServer(*again) as server:
        serve_agent(told.workspace, server)
        said = chat(told, **places)
    calls = [step for step in said["steps"] if step["kind"] == "call" and step["outcome"]["status"] == "accepted"]
    assert len(calls[0]["outcome"]["shown"]["text"]) == shown
    assert len(calls) <= steps
    header = next(receipt.header for receipt in told.receipts() if receipt.receipt_id == said["receipts"][0])
    assert header.get("conference_id") == conference


@pytest.mark.promise("chat.bounds")
@pytest.mark.parametrize("stream", [False, True])
def test_a_conference_that_is_not_there_or_is_anothers_gives_no_budget(open_door: OpenDoor, *, stream: bool) -> None:
    door = open_door(auth=AUTH)
    ada, bob = bearer("person", subject="ada"), bearer("person", subject="bob")
    made = door.post("/api/conferences", {}, headers=ada).json()["conferenceId"]
    with ScriptedServer() as server:
        serve_agent(door.workspace, server)
        for who, conference in ((ada, "conf_nope"), (ada, "../x"), (bob, made)):
            body = {"message": "Hello.", "agentId": "critic", "conferenceId": conference, "stream": stream}
            answer = door.post(CHAT, body, headers=who)
            problem(answer, 404, "downstream_error")
            assert answer.json()["error"]["message"] == "conference_unknown"
    assert server.requests == []


@pytest.mark.promise("chat.sessions")
def test_a_session_goes_on_where_it_was_also_after_a_restart(open_door: OpenDoor) -> None:
    door = open_door()
    write_story(door.workspace)
    with ScriptedServer(*grounded(), *grounded()) as server:
        serve_agent(door.workspace, server)
        first = chat(door, "Does Ada sail?")
        door.close()
        door = open_door()
        chat(door, "And why not?", sessionId=first["sessionId"])
    told = [message["content"] for message in server.requests[3].body["messages"]]
    assert told[1] == "Does Ada sail?"
    assert told[2] == first["reply"]
    assert told[3].startswith("And why not?")


@pytest.mark.promise("chat.sessions", "chat.auth")
def test_another_caller_is_not_told_what_was_said(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    write_story(door.workspace)
    with ScriptedServer(*grounded(), *grounded()) as server:
        serve_agent(door.workspace, server)
        chat(door, headers=bearer("person", subject="ada"), sessionId="s1")
        chat(door, headers=bearer("person", subject="bob"), sessionId="s1")
    assert [message["role"] for message in server.requests[3].body["messages"]] == ["system", "user"]


@pytest.mark.promise("chat.auth")
def test_with_auth_on_a_chat_needs_a_token(locked: Doorway) -> None:
    problem(locked.post(CHAT, {"message": "hello"}), 401, "rbac_denied")
    for path in ("/api/ai/chief/route", "/api/ai/task/execute"):
        problem(locked.post(path, {"message": "hello"}), 401, "rbac_denied")


def refused(answer: httpx.Response, status: int, category: str, code: str) -> str:
    """Check that the message is the fixed code; gives what it says to do."""
    hint: str = problem(answer, status, category)["hint"]
    assert answer.json()["error"]["message"] == code
    return hint


@pytest.mark.promise("chat.bad-input")
@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ("", 400, "message_empty"),
        (" \n\t ", 400, "message_empty"),
        ("x" * (MAX_MESSAGE_BYTES + 1), 413, "message_too_large"),
        ("é" * (MAX_MESSAGE_BYTES // 2 + 1), 413, "message_too_large"),
        ("PNG\x00\x1a", 400, "message_not_text"),
        ("bell \x07", 400, "message_not_text"),
        ("\uffff", 400, "message_not_text"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_message_that_cannot_be_taken_gets_its_code(
    well_used: Doorway, message: str, status: int, code: str, *, stream: bool
) -> None:
    before = len(well_used.receipts())
    assert refused(well_used.post(CHAT, {"message": message, "stream": stream}), status, "validation_error", code)
    assert len(well_used.receipts()) == before


@pytest.mark.promise("chat.bad-input")
def test_a_megabyte_is_refused_before_it_is_read(well_used: Doorway) -> None:
    problem(well_used.post(CHAT, {"message": "x" * 1024 * 1024}), 413, "validation_error")


@pytest.mark.promise("chat.bad-input")
@pytest.mark.parametrize(
    "body",
    [
        b'{"message": "\xff\xfe"}', b'{"message": "\\ud800"}', b'{"message": "a", "message": "b"}', b"hello",
        {"message": 7}, {}, {"message": "a", "agent": "x"}, {"message": "a", "sessionId": "../x"},
        {"message": "a", "toolPolicy": {"allowed": []}}, {"message": "a", "agentId": ""},
    ],
)  # fmt: skip
def test_a_body_that_is_no_chat_is_a_problem(well_used: Doorway, body: Any) -> None:
    problem(well_used.post(CHAT, body), 400, "validation_error")


@pytest.mark.promise("chat.bad-input")
@pytest.mark.parametrize("stream", [False, True])
def test_an_agent_that_is_not_there_or_switched_off_is_named(told: Doorway, *, stream: bool) -> None:
    unknown = told.post(CHAT, {"message": "hello", "agentId": "nobody", "stream": stream})
    assert "critic" in refused(unknown, 404, "validation_error", "agent_unknown")
    off = Registry(told.workspace).change(
        lambda roster: roster.change(_switched_off(roster.get("editor")))  # type: ignore[arg-type]
    )
    assert off.get("editor").enabled is False  # type: ignore[union-attr]
    refused(told.post(CHAT, {"message": "hello", "agentId": "editor"}), 409, "validation_error", "agent_disabled")


def _switched_off(agent: Any) -> Any:
    return type(agent)(**{name: getattr(agent, name) for name in agent.__dataclass_fields__} | {"enabled": False})


@pytest.mark.promise("chat.bad-input")
def test_an_endpoint_that_is_down_is_said_and_nothing_runs(told: Doorway) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        set_endpoint(told.workspace, "critic", base_url=f"http://127.0.0.1:{free.getsockname()[1]}")
        answer = told.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"})
    assert refused(answer, 502, "downstream_error", "endpoint_unreachable")
    assert told.outcomes() == []


@pytest.mark.promise("chat.bad-input")
def test_a_key_that_is_missing_is_said(told: Doorway) -> None:
    set_endpoint(told.workspace, "critic", provider="openai", model="m", api_key_env="TALLY_TEST_NO_SUCH_KEY")
    answer = told.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"})
    assert "TALLY_TEST_NO_SUCH_KEY" in refused(answer, 503, "tool_unavailable", "key_missing")


@pytest.mark.promise("chat.bad-input", "providers.failures")
@pytest.mark.parametrize(
    ("behaviour", "status", "category", "code"),
    [
        (
            Status(404, {"error": {"code": "model_not_found", "message": "no"}}),
            503,
            "tool_unavailable",
            "model_unknown",
        ),
        (Status(401), 503, "tool_unavailable", "key_refused"),
        (Status(429, headers={"retry-after": "7"}), 429, "budget_exceeded", "endpoint_rate_limited"),
        (Status(500), 502, "downstream_error", "endpoint_failed"),
    ],
)
def test_what_an_endpoint_refuses_is_said_with_what_to_do(
    told: Doorway, behaviour: Status, status: int, category: str, code: str
) -> None:
    with ScriptedServer(behaviour) as server:
        serve_agent(told.workspace, server)
        answer = told.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"})
    assert refused(answer, status, category, code)
    if status == 429:
        assert answer.headers["retry-after"] == "7"


@pytest.mark.promise("chat.stream")
def test_the_steps_of_a_stream_come_first_and_the_text_only_with_the_result(told: Doorway) -> None:
    with ScriptedServer(*grounded()) as server:
        serve_agent(told.workspace, server)
        answer = told.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic", "stream": True})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-content-type-options"] == "nosniff"
    seen = events(answer.text)
    assert [name for name, _ in seen] == [
        "progress", "step", "progress", "step", "progress", "progress", "step", "result",
    ]  # fmt: skip
    result = seen[-1][1]
    assert result["reply"].startswith("She does not sail.")
    before = "".join(str(data) for _, data in seen[:-1])
    assert "She does not sail" not in before
    assert result["receipts"] == [seen[1][1]["receipt_id"]]


@pytest.mark.promise("chat.stream")
def test_an_endpoint_that_fails_in_a_stream_ends_it_with_an_error(told: Doorway) -> None:
    with ScriptedServer(call("file_reader", {"file_path": SCENE}), Status(500)) as server:
        serve_agent(told.workspace, server)
        answer = told.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic", "stream": True})
    name, last = events(answer.text)[-1]
    assert name == "error"
    assert last["error"]["message"] == "endpoint_failed"
    assert last["error"]["details"]["hint"]


@pytest.mark.promise("chat.queue", "turns.turn-gate")
def test_turns_on_one_endpoint_wait_for_each_other_and_are_told_their_place(told: Doorway) -> None:
    with ScriptedServer(*grounded(), *grounded(), *grounded()) as server:
        serve_agent(told.workspace, server)
        body = {"message": "Does Ada sail?", "agentId": "critic", "stream": True}

        async def three() -> list[httpx.Response]:
            async with told.client() as client:
                return list(await asyncio.gather(*(client.post(CHAT, json=body) for _ in range(3))))

        answers = asyncio.run(three())
    places = sorted([data["position"] for name, data in events(answer.text) if name == "queue"] for answer in answers)
    assert places == [[], [1], [2, 1]]
    # One at a time: a turn's three requests are never mixed with another's.
    sizes = [len(request.body["messages"]) for request in server.requests]
    assert sizes == [2, 4, 6] * 3
    assert all(QUOTE.split(" Story")[0] in answer.text.replace('\\"', '"') for answer in answers)
