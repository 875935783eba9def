"""`POST /api/ai/chat` with providers that have an API or prices of their own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.talking import CHAT, SCENE, call, claim, grounded, serve_agent, write_story
from tests.scripted_server import Behaviour, ScriptedServer, Seen, Wire

KEY = "sk-ant-51c0ffee77"
READ = {"tool": "file_reader", "args": {"file_path": SCENE}}


def reply(seen: Seen) -> str:
    words = claim().words
    return words(seen) if callable(words) else words


@dataclass(frozen=True)
class Message(Behaviour):
    """A response of the messages API: the forced call's input, or text."""

    made: Callable[[Seen], Any]
    stop: str = "end_turn"

    async def answer(self, seen: Seen, wire: Wire) -> None:
        said = self.made(seen)
        block = {"type": "text", "text": said} if isinstance(said, str) else {"type": "tool_use", "input": said}
        usage = {"input_tokens": 100, "output_tokens": 10}
        await wire.json(200, {"model": "c", "content": [block], "stop_reason": self.stop, "usage": usage})


def step(**fields: Any) -> Message:
    """A step as the input of the forced call."""
    return Message(lambda seen: {"answer": {**fields, "nonce": seen.nonce}})


@pytest.mark.promise("providers.chat", "providers.keys")
def test_a_whole_turn_runs_on_the_messages_api(open_door: OpenDoor, monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    door = open_door()
    write_story(door.workspace)
    with ScriptedServer(step(**READ), step(action="final"), Message(reply)) as server:
        serve_agent(door.workspace, server, provider="anthropic", model="claude-haiku-4-5")
        said = door.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"}).json()
        assert {seen.headers["x-api-key"] for seen in server.requests} == {KEY}
    assert said["reply"].startswith("She does not sail.")
    assert said["findings"]["ok"] is True
    assert said["usage"] == {"input_tokens": 300, "output_tokens": 30, "cost_microusd": 3 * (100 * 1 + 10 * 5)}
    assert door.post("/api/audit/verify").json()["ok"] is True
    assert KEY not in json.dumps([receipt.header for receipt in door.receipts()]) + json.dumps(said)


@pytest.mark.promise("chat.bounds")
def test_an_answer_of_the_messages_api_that_was_cut_off_is_no_reply(open_door: OpenDoor, monkeypatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    door = open_door(turns={"reply_retries": 0})
    write_story(door.workspace)
    with ScriptedServer(step(**READ), step(action="final"), Message(reply, stop="max_tokens")) as server:
        serve_agent(door.workspace, server, provider="anthropic", model="claude-haiku-4-5")
        said = door.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"}).json()
    assert said["steps"][-1]["code"] == "reply_cut_off"


@pytest.mark.promise("chat.bounds", "providers.usage")
def test_a_cost_limit_stops_the_model_that_has_a_price(open_door: OpenDoor) -> None:
    door = open_door(limits={"cost_microusd": 20}, models={"prices": {"priced": (1.0, 2.0)}})
    write_story(door.workspace)
    for model, stopped in (("priced", True), ("unpriced", False)):
        script = [call("file_reader", {"file_path": SCENE}), claim()] if stopped else grounded()
        with ScriptedServer(*script) as server:
            serve_agent(door.workspace, server, model=model)
            said = door.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"}).json()
        assert (said["usage"]["cost_microusd"] > 0) is stopped
        assert [step["code"] for step in said["steps"] if step["kind"] == "call"] == [
            "tool_call_output_limit" if stopped else None
        ]
