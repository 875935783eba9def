"""A rejected reply may be written again: at `/api/ai/chat`, at `/v1` and by a task; and a reply that stays undecided."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tallystick.storage.credits import Credits
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import CHAT, SCENE, call, claim, finish, grounded, serve_agent, write_story
from tests.doors.http.test_ai_tasks import REPORT, route
from tests.scripted_server import Says, ScriptedServer

MADE_UP = claim(text="She has sailed nine times.")
COMPLETIONS, EXECUTE = "/v1/chat/completions", "/api/ai/task/execute"
READ = (call("file_reader", {"file_path": SCENE}), finish())
OPINION = claim(text="She does not sail. The pacing drags badly.")


@pytest.fixture
def told(door: Doorway) -> Doorway:
    write_story(door.workspace)
    return door


def merits(door: Doorway) -> list[str]:
    return [str(event.merit) for event in Credits(door.workspace).load().events]


def checks(door: Doorway) -> list[bool]:
    """Whether each recorded check passed, in order."""
    return [receipt.outputs["ok"] for receipt in door.gate.ledger.read() if receipt.header["kind"] == "reply_check"]


def chat(door: Doorway, script: Sequence[Says]) -> Any:
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        return door.post(CHAT, {"message": "Does Ada sail?", "agentId": "critic"}).json()


def complete(door: Doorway, script: Sequence[Says], **more: Any) -> Any:
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        asked = {"model": "critic", "messages": [{"role": "user", "content": "Does Ada sail?"}], **more}
        return door.post(COMPLETIONS, asked).json()


def execute(door: Doorway, script: Sequence[Says]) -> Any:
    packet = route(door)["packet"]
    with ScriptedServer(*script, Says(lambda _: json.dumps(REPORT))) as server:
        serve_agent(door.workspace, server, "continuity")
        return door.post(EXECUTE, {"packet": packet}).json()


@pytest.mark.promise("chat.second-reply")
def test_a_chat_gets_one_more_reply_and_credit_counts_the_last(told: Doorway) -> None:
    said = chat(told, [*READ, MADE_UP, claim()])
    assert said["reply"].startswith("She does not sail.")
    assert [step["code"] for step in said["steps"] if step["kind"] == "final"] == ["evidence_invalid", None]
    assert checks(told) == [False, True]
    assert merits(told) == ["precise_quote"]


@pytest.mark.promise("chat.second-reply")
def test_a_client_of_the_openai_format_gets_the_second_reply(told: Doorway) -> None:
    body = complete(told, [*READ, MADE_UP, claim()], tallystick={"evidence": "enforce"})
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["choices"][0]["message"]["content"].startswith("She does not sail.")
    assert body["tallystick"]["findings"]["ok"] is True
    assert checks(told) == [False, True]
    assert merits(told) == ["precise_quote"]


@pytest.mark.promise("chat.second-reply")
def test_a_task_gets_one_more_reply_and_credit_counts_the_last(told: Doorway) -> None:
    done = execute(told, [*READ, MADE_UP, claim()])
    assert done["receipt"]["stop_hook"] is None
    assert done["receipt"]["report_excerpt"].startswith("She does not sail.")
    finals = [step["code"] for step in done["turn"]["steps"] if step["kind"] == "final"]
    assert finals == ["evidence_invalid", None]
    assert checks(told) == [False, True]
    assert merits(told) == ["precise_quote"]


@pytest.mark.promise("chat.second-reply")
def test_a_second_reply_that_fails_too_is_the_last_and_is_counted_once(told: Doorway) -> None:
    done = execute(told, [*READ, MADE_UP, MADE_UP])
    assert "evidence_invalid" in done["receipt"]["stop_hook"]
    assert checks(told) == [False, False]
    assert merits(told) == ["verification_failed"]


@pytest.mark.promise("chat.second-reply")
def test_the_setting_takes_the_second_reply_away(open_door: OpenDoor) -> None:
    door = open_door(turns={"reply_retries": 0})
    write_story(door.workspace)
    assert chat(door, [*READ, MADE_UP, claim()])["rejected"]["code"] == "evidence_invalid"
    assert complete(door, [*READ, MADE_UP, claim()])["tallystick"]["findings"]["ok"] is False
    assert "evidence_invalid" in execute(door, [*READ, MADE_UP, claim()])["receipt"]["stop_hook"]
    assert checks(door) == [False, False, False]


@pytest.mark.promise("reply.unsure", "chat.credits")
def test_an_undecided_reply_is_shown_as_such_and_earns_nothing(told: Doorway) -> None:
    said = chat(told, [*READ, OPINION])
    assert [each["claim"] for each in said["findings"]["unsure"]] == ["The pacing drags badly."]
    assert said["findings"]["unsure"][0]["reason"]
    body = complete(told, [*READ, OPINION])
    assert [each["claim"] for each in body["tallystick"]["findings"]["unsure"]] == ["The pacing drags badly."]
    assert merits(told) == []
    chat(told, grounded())
    assert merits(told) == ["precise_quote"]
