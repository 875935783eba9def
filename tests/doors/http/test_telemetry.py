"""`/api/telemetry…`: what agents did, used and were refused for."""

from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, problem
from tests.doors.http.talking import CHAT, call, grounded, serve_agent, write_story
from tests.scripted_server import ScriptedServer

TELEMETRY = "/api/telemetry"


def chat(door: Doorway, *steps: Any, session: str = "s1") -> dict[str, Any]:
    write_story(door.workspace)
    with ScriptedServer(*steps) as server:
        serve_agent(door.workspace, server)
        answer: dict[str, Any] = door.post(
            CHAT, {"message": "Does Ada sail?", "agentId": "critic", "sessionId": session}
        ).json()
    return answer


@pytest.mark.promise("telemetry.http")
def test_turns_and_refusals_are_counted_per_session_and_agent(door: Doorway) -> None:
    usage = chat(door, *grounded())["usage"]
    chat(door, call("file_reader", {"wrong": 1}), session="s2")
    totals = door.get(TELEMETRY).json()
    assert (totals["sessions"], totals["totals"]["activations"]) == (2, 2)
    assert totals["totals"]["rejections"]["format_error"] == 1
    first = door.get(f"{TELEMETRY}/sessions/s1").json()
    assert first["totals"]["tokens_in"] == usage["input_tokens"]
    assert first["agents"]["critic"]["tokens_out"] == usage["output_tokens"]
    sessions = door.get(f"{TELEMETRY}/sessions").json()
    assert {each["session_id"] for each in sessions["items"]} == {"s1", "s2"}
    (agent,) = door.get(f"{TELEMETRY}/agents").json()["items"]
    assert (agent["agent_id"], agent["activations"]) == ("critic", 2)
    problem(door.get(f"{TELEMETRY}/sessions/s3"), 404, "downstream_error")
    problem(door.get(f"{TELEMETRY}/conferences/c1"), 404, "downstream_error")


@pytest.mark.promise("telemetry.http")
@pytest.mark.parametrize(
    ("reason", "bucket"),
    [
        ("quote_not_found", "quote_not_found"), ("evidence_invalid", "evidence_invalid"), ("cot_leak", "cot_leak"),
        ("tool_call_invalid_format", "format_error"), ("tool_call_unknown_tool", "tool_syntax"),
        ("tool_call_invalid_args", "format_error"), ("tool_call_multiple", "tool_syntax"),
        ("tool_call_nonce_invalid", "tool_syntax"), ("tool_call_output_limit", "format_error"),
    ],
)  # fmt: skip
def test_a_client_reports_what_it_saw_in_a_conference(door: Doorway, reason: str, bucket: str) -> None:
    conference = door.post("/api/conferences", {}).json()["conferenceId"]
    report = {
        "conferenceId": conference,
        "agentId": "critic",
        "reason": reason,
        "activations": 1,
        "tokensIn": 5,
        "tokensOut": 2,
    }
    assert door.post(f"{TELEMETRY}/conference", report).json() == {"counted": True, "bucket": bucket}
    counted = door.get(f"{TELEMETRY}/conferences/{conference}").json()
    assert (counted["rejections"][bucket], counted["tokens"], counted["agents"][0]["agent_id"]) == (1, 7, "critic")
    assert door.get(f"{TELEMETRY}/conferences").json()["total"] == 1


@pytest.mark.promise("telemetry.http")
@pytest.mark.parametrize(
    "report", [{}, {"conferenceId": ""}, {"conferenceId": "c", "reason": "bad luck"}, {"conferenceId": "c", "tokensIn": -1},
               {"conferenceId": "c", "sessionId": "../x"}, {"conferenceId": "c", "activations": 10**12}],
)  # fmt: skip
def test_a_report_that_cannot_be_is_refused(door: Doorway, report: dict[str, Any]) -> None:
    problem(door.post(f"{TELEMETRY}/conference", report), 400, "validation_error")
    assert door.get(TELEMETRY).json()["totals"]["activations"] == 0


@pytest.mark.promise("telemetry.http")
def test_a_report_of_a_conference_or_an_agent_that_is_not_there_counts_nothing(door: Doorway) -> None:
    conference = door.post("/api/conferences", {}).json()["conferenceId"]
    for report, code in (
        ({"conferenceId": "conf_nope"}, "conference_unknown"),
        ({"conferenceId": conference, "agentId": "ghost"}, "agent_unknown"),
    ):
        answer = door.post(f"{TELEMETRY}/conference", {**report, "activations": 1})
        problem(answer, 404, "downstream_error")
        assert answer.json()["error"]["message"] == code
    assert door.get(TELEMETRY).json()["totals"]["activations"] == 0
    assert door.get(f"{TELEMETRY}/agents").json()["total"] == 0
