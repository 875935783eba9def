"""Whole paths from outside: the `openai` client and `curl` against `tally serve`, on a fresh machine, no model behind it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tallystick import Gate
from tests.doors.http.talking import SCENE, events, write_story
from tests.doors.test_serve import Process
from tests.verifying import verify

ASK: list[Any] = [{"role": "user", "content": "Did Ada set foot on a boat?"}]
WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
WEATHER_ASK: list[Any] = [{"role": "user", "content": "What is the weather in Paris now?"}]
READS = {"tallystick": {"effects": {"get_weather": "read"}}}
RESULT = json.dumps({"city": "Paris", "weather": "light rain from the west all afternoon"})


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openai") / "work"
    folder.mkdir()
    write_story(folder)
    (folder / "tallystick.toml").write_text('rooms = ["studio"]\n')
    return folder


@pytest.fixture(scope="module")
def served(workspace: Path) -> Iterator[Process]:
    process = Process(workspace, workspace.with_name("state"), "--port", "0")
    process.wait_until_it_serves()
    yield process
    process.end()


@pytest.fixture
def client(served: Process) -> Iterator[openai.OpenAI]:
    """The client as anybody has it; only the base URL is ours."""
    with openai.OpenAI(base_url=f"{served.base}/v1", api_key="not-needed", max_retries=0) as made:
        yield made


def holds(ours: Any, workspace: Path) -> None:
    """Check that the evidence holds, and that its receipts stand in the ledger as that session's."""
    assert ours["findings"]["ok"] is True
    assert ours["evidence"].startswith("Evidence:")
    assert ours["receipts"]
    lines = (workspace / ".control-room" / "audit" / "sessions" / ours["session"] / "tool_receipts.jsonl").read_text()
    kept = {json.loads(line)["receipt_id"] for line in lines.splitlines()}
    assert set(ours["receipts"]) <= kept


@pytest.mark.promise("chat.openai")
@pytest.mark.parametrize("model", ["offline", "assistant", "critic"])
def test_the_openai_client_gets_a_grounded_answer_with_evidence_and_receipts(
    client: openai.OpenAI, workspace: Path, model: str
) -> None:
    assert model in [entry.id for entry in client.models.list()]
    answer: Any = client.chat.completions.create(model=model, messages=ASK)
    assert "set foot on a boat" in answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    holds(answer.tallystick, workspace)


@pytest.mark.promise("chat.openai")
def test_the_openai_client_streams_the_same_answer(client: openai.OpenAI, workspace: Path) -> None:
    text, last, spent = "", None, None
    stream: Any = client.chat.completions.create(
        model="offline", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        spent = chunk.usage or spent
        for choice in chunk.choices:
            text += choice.delta.content or ""
            last = chunk if choice.finish_reason == "stop" else last
    assert "set foot on a boat" in text
    assert last is not None
    holds(last.tallystick, workspace)
    assert spent is not None
    assert last.tallystick["evidence"] in text


@pytest.mark.promise("chat.client-tools")
@pytest.mark.parametrize("streams", [False, True])
def test_a_client_s_own_tool_is_handed_back_to_it_and_the_turn_goes_on_with_its_result(
    client: openai.OpenAI, workspace: Path, *, streams: bool
) -> None:
    first = _asked(client, streams=streams)
    assert [call["function"]["name"] for call in first["tool_calls"]] == ["get_weather"]
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"city": "Paris"}
    result = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": RESULT}
    messages: list[Any] = [*WEATHER_ASK, {"role": "assistant", **first}, result]
    answer: Any = client.chat.completions.create(model="offline", messages=messages, tools=[WEATHER], extra_body=READS)
    assert "light rain from the west" in answer.choices[0].message.content
    holds(answer.tallystick, workspace)
    found = Gate.open(workspace)
    try:
        kinds = [receipt.header["kind"] for receipt in found.ledger.session(answer.tallystick["session"])]
    finally:
        found.close()
    assert kinds[:3] == ["started", "outcome", "report"]


def _asked(client: openai.OpenAI, *, streams: bool) -> dict[str, Any]:
    more: Any = {"model": "offline", "messages": WEATHER_ASK, "tools": [WEATHER], "extra_body": READS}
    if not streams:
        answer: Any = client.chat.completions.create(**more)
        assert answer.choices[0].finish_reason == "tool_calls"
        kept: dict[str, Any] = answer.choices[0].message.model_dump(include={"content", "tool_calls"})
        return kept
    calls: list[Any] = []
    for chunk in client.chat.completions.create(**more, stream=True):
        for choice in chunk.choices:
            calls += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
    return {"content": None, "tool_calls": calls}


@pytest.mark.promise("chat.openai-errors")
def test_the_openai_client_knows_our_errors_by_their_kind(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-9", messages=ASK)
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as empty:
        client.chat.completions.create(model="offline", messages=[{"role": "user", "content": " "}])
    assert empty.value.code == "message_empty"
    with pytest.raises(openai.BadRequestError) as unheard:
        client.chat.completions.create(
            model="offline", messages=[*WEATHER_ASK, {"role": "tool", "tool_call_id": "call_1", "content": "x"}]
        )
    assert unheard.value.code == "tool_call_unknown"


@pytest.mark.promise("chat.openai-errors")
def test_the_openai_client_says_what_the_guard_refuses(client: openai.OpenAI) -> None:
    with pytest.raises(openai.APIStatusError) as huge:
        client.chat.completions.create(model="offline", messages=[{"role": "user", "content": "x" * 2**20}])
    assert huge.value.status_code == 413


def curl(served: Process, path: str, body: Any, *words: str) -> str:
    command = ["curl", "--silent", "--max-time", "60", *words, "--json", json.dumps(body), f"{served.base}{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90)
    return done.stdout


@pytest.mark.promise("chat.openai")
def test_curl_gets_the_same_whole_and_streamed(served: Process, workspace: Path) -> None:
    body = {"model": "offline", "messages": ASK}
    whole = json.loads(curl(served, "/v1/chat/completions", body))
    holds(whole["tallystick"], workspace)
    streamed = events(curl(served, "/v1/chat/completions", {**body, "stream": True}, "--no-buffer"))
    assert streamed[-1][1] == "[DONE]"
    holds(streamed[-2][1]["tallystick"], workspace)


@pytest.mark.promise("chat.api", "chat.stream")
def test_curl_talks_to_an_agent_and_sees_its_steps(served: Process, workspace: Path) -> None:
    body = {"message": ASK[0]["content"], "agentId": "continuity", "stream": True}
    seen = events(curl(served, "/api/ai/chat", body, "--no-buffer"))
    tools = [data["tool"] for name, data in seen if name == "step" and data["kind"] == "call"]
    assert tools
    assert seen[-1][0] == "result"
    assert SCENE in seen[-1][1]["reply"]
    assert seen[-1][1]["findings"]["ok"] is True


@pytest.mark.promise("chat.openai")
def test_every_receipt_of_a_conversation_is_verified_when_the_server_is_gone(tmp_path: Path) -> None:
    write_story(tmp_path / "work")
    served = Process(tmp_path / "work", tmp_path / "state", "--port", "0")
    try:
        served.wait_until_it_serves()
        whole = json.loads(curl(served, "/v1/chat/completions", {"model": "offline", "messages": ASK}))
    finally:
        served.end()
    report = verify(tmp_path / "work", tmp_path / "state")
    assert report.ok, report.problems
    assert report.size > len(whole["tallystick"]["receipts"])
