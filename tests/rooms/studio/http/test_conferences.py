"""`/api/conferences`: making, changing, holding, watching, cancelling; whose it is, and what cannot be done."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from tallystick.errors import ConfigError
from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.studio.conference.store import ConferenceFiles
from tallystick.settings import ServerSettings
from tests.conferences import ABSTAIN, CONFERENCES, PROMPT, Meeting, card_of, issue_of, reply_of, says, tools
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import AUTH, Doorway, bearer, problem
from tests.doors.http.talking import HangsAndTells, call, events, write_story
from tests.doors.http.test_server import PATIENCE_S, Running
from tests.scripted_server import Says, ScriptedServer, Status


def hint(answer: httpx.Response, status: int, category: str, code: str) -> None:
    """The problem payload with this code as its message."""
    problem(answer, status, category)
    assert answer.json()["error"]["message"] == code


@pytest.mark.promise("studio.conference-chief")
def test_a_conference_without_the_chief_is_refused_and_with_nobody_named_everyone_comes(door: Doorway) -> None:
    hint(door.post(CONFERENCES, {"agents": ["writer"]}), 409, "downstream_error", "chief_mandatory")
    everyone = door.post(CONFERENCES, {"name": " All  of them "})
    assert everyone.status_code == 201
    assert everyone.json()["attendees"][0]["agent_id"] == "assistant"
    assert len(everyone.json()["attendees"]) == 6
    assert everyone.json()["name"] == "All of them"


@pytest.mark.promise("studio.conference-roster", "studio.conference-cards")
def test_the_roster_is_changed_and_muted_agents_are_skipped(door: Doorway) -> None:
    meeting = Meeting(door, "writer", "critic")

    def seat(action: str, *agents: str) -> httpx.Response:
        return door.post(f"{meeting.path}/roster", {"action": action, "agents": list(agents)})

    assert card_of(seat("mute", "critic").json(), "critic") == ("muted", "Muted", "red")
    hint(seat("mute", "assistant"), 409, "downstream_error", "chief_mandatory")
    hint(seat("remove", "assistant"), 409, "downstream_error", "chief_mandatory")
    hint(seat("add", "nobody"), 404, "downstream_error", "agent_unknown")
    hint(seat("unmute", "editor"), 404, "downstream_error", "attendee_unknown")
    hint(seat("order", "assistant"), 400, "validation_error", "order_incomplete")
    problem(seat("banish", "critic"), 400, "validation_error")
    problem(seat("mute"), 400, "validation_error")
    order = seat("order", "assistant", "critic", "writer").json()
    assert [card["agent_id"] for card in order["attendees"]] == ["assistant", "critic", "writer"]
    held, asked = meeting.play(*tools(), ABSTAIN, says("It reads well."))
    assert held["muted"] == ["critic"]
    assert [reply["agent_id"] for reply in held["replies"]] == ["writer"]
    assert len(asked) == 4
    assert card_of(held, "critic") == ("muted", "Muted", "red")
    assert card_of(held, "assistant") == ("abstained", "Abstained", "yellow")


@pytest.mark.promise("reply.unsure")
def test_a_sentence_that_could_not_be_decided_stands_in_the_reply_and_in_the_issue(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    held, _ = meeting.play(*tools(), ABSTAIN, says("She does not sail. The pacing drags badly."))
    assert reply_of(held, "critic")["unsure"] == ["The pacing drags badly."]
    (line,) = [line for line in meeting.transcript() if line.get("agent_id") == "critic" and line["kind"] == "reply"]
    assert line["unsure"] == ["The pacing drags badly."]
    assert "- unsure: The pacing drags badly." in issue_of(door.workspace, held["issue_id"])[1]
    assert door.get("/api/credits/critic").json()["balance"] == 0


@pytest.mark.promise("studio.conference-chief")
def test_a_file_in_which_somebody_muted_the_chief_by_hand_is_not_what_a_round_goes_by(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    file = door.workspace / f".control-room/conferences/{meeting.id}/conference.json"
    kept = orjson.loads(file.read_bytes())
    for wrong in ([{"agent_id": "critic", "muted": False}], [{"agent_id": "assistant", "muted": True}]):
        file.write_bytes(orjson.dumps({**kept, "attendees": wrong}))
        answer = door.post(f"{meeting.path}/rounds", {"prompt": PROMPT})
        assert problem(answer, 503, "tool_unavailable")["hint"] == "conference_damaged"


@pytest.mark.promise("studio.conference-events", "studio.conference-flow")
def test_a_stream_tells_cards_then_tools_then_replies_in_order_and_ends_with_the_round(door: Doorway) -> None:
    meeting = Meeting(door, "critic", "editor")
    with ScriptedServer(*tools(), says("One."), *[Says("No evidence.")] * 2, ABSTAIN) as server:
        meeting.served(server)
        answer = door.post(f"{meeting.path}/rounds", {"prompt": PROMPT, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = [(name, data) for name, data in events(answer.text) if name != "progress"]
    names = [name if name != "card" else f"card {data['agent_id']} {data['activity']}" for name, data in told]
    assert names == [
        "round", "card assistant waiting", "card critic waiting", "card editor waiting", "phase", "step", "step",
        "phase", "card assistant speaking", "reply", "card assistant done", "card critic speaking", "reply",
        "card critic done", "card editor speaking", "card editor done", "result",
    ]  # fmt: skip
    replies = [data for name, data in told if name == "reply"]
    assert [(reply["agent_id"], reply["status"]) for reply in replies] == [
        ("assistant", "accepted"), ("critic", "rejected"),
    ]  # fmt: skip
    assert replies[1]["text"] is None
    assert told[-1][1]["state"] == "closed"
    by_header = door.post(f"{meeting.path}/rounds", {"again": 1}, headers={"accept": "text/event-stream"})
    assert events(by_header.text)[-1][0] == "result"


@pytest.mark.promise("studio.conference-rejected")
def test_a_rejected_reply_is_shown_as_rejected_counted_and_costs_credit(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    held, _ = meeting.play(*tools(), says("She does not sail."), Says("She sails every day, I am sure of it."))
    reply = reply_of(held, "critic")
    assert (reply["status"], reply["text"], reply["code"]) == ("rejected", None, "evidence_invalid")
    assert reply["rejected"]["reason"]
    line = next(line for line in meeting.transcript() if line.get("agent_id") == "critic")
    assert (line["status"], line["text"]) == ("rejected", None)
    assert door.get("/api/credits/critic").json()["balance"] == -2
    assert door.get("/api/credits/assistant").json()["balance"] > 0
    counted = door.server.telemetry.rejections.totals()
    assert counted["conferences"][meeting.id]["rejections"]["evidence_invalid"] == 1
    assert counted["agents"]["critic"]["rejections"]["evidence_invalid"] == 1


@pytest.mark.promise("studio.conference-stop")
def test_an_endpoint_that_fails_stops_the_round_in_phase_1_and_one_agent_in_phase_2(door: Doorway) -> None:
    meeting = Meeting(door, "critic", "editor")
    stopped, _ = meeting.play(Status(500))
    assert (stopped["state"], stopped["stop_hook"]) == ("stopped", "STOP_HOOK: model_unheard endpoint_failed")
    assert stopped["advice"]
    held, _ = meeting.play(*tools(), says("One."), Status(500), says("She stays ashore."))
    assert [(reply["agent_id"], reply["status"]) for reply in held["replies"]] == [
        ("assistant", "accepted"), ("critic", "unheard"), ("editor", "accepted"),
    ]  # fmt: skip
    assert reply_of(held, "critic")["code"] == "endpoint_failed"


@pytest.mark.promise("studio.conference-stop")
def test_a_call_that_needs_a_person_holds_the_round_with_its_approval(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    held, asked = meeting.play(call("send_mail", {"to": "a@example.org"}), prompt="Send a mail to a@example.org.")
    assert (held["state"], held["stop_hook"]) == ("stopped", "STOP_HOOK: approval_required")
    assert door.get(f"/api/approvals/{held['held']['approval_id']}").status_code == 200
    assert len(asked) == 1
    assert ("send_mail" in {name for name, _ in door.ran.calls}) is False


def test_a_round_that_needs_no_tool_asks_everyone_without_data(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    finish_at_once = Says(lambda seen: json.dumps({"action": "final", "nonce": seen.nonce}))
    held, asked = meeting.play(finish_at_once, ABSTAIN, ABSTAIN, prompt="Thank you all.")
    assert (held["state"], held["receipts"], held["replies"]) == ("closed", [], [])
    assert "No data was retrieved for this discussion. You are Critic." in asked[2].text


@pytest.mark.promise("studio.conference-bad-input")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"prompt": "  "}, "message_empty"),
        ({"prompt": "a\x00b"}, "message_not_text"),
        ({"prompt": "x" * 300_000}, "message_too_large"),
        ({}, None),
        ({"prompt": "x", "again": 1}, None),
        ({"again": 0}, None),
        ({"again": 7}, "round_unknown"),
        ({"prompt": 7}, None),
        ({"prompt": "x", "more": 1}, None),
    ],
)
def test_a_prompt_that_cannot_be_taken_has_a_code_and_begins_no_round(
    door: Doorway, body: dict[str, Any], code: str | None
) -> None:
    meeting = Meeting(door)
    answer = door.post(f"{meeting.path}/rounds", body)
    assert answer.status_code in {400, 404, 413}
    if code is not None:
        assert answer.json()["error"]["message"] == code
    assert meeting.get()["rounds"] == []


@pytest.mark.promise("studio.conference-bad-input")
def test_what_is_not_there_is_404_whatever_is_asked_of_it(door: Doorway) -> None:
    for conference_id in ("conf_0", "..", "x" * 300):
        base = f"{CONFERENCES}/{conference_id}"
        for answer in (
            door.get(base), door.get(f"{base}/transcript"), door.post(f"{base}/rounds", {"prompt": "x"}),
            door.post(f"{base}/roster", {"action": "mute", "agents": ["critic"]}),
            door.post(f"{base}/rounds/1/cancel"),
        ):  # fmt: skip
            assert answer.status_code in {404, 405}
    meeting = Meeting(door)
    for number in ("1", "0", "-1", "x", "9" * 40, "²"):
        hint(door.post(f"{meeting.path}/rounds/{number}/cancel"), 404, "downstream_error", "round_unknown")


@pytest.mark.promise("studio.conference-own")
def test_a_conference_is_its_makers_and_an_auditor_may_read_it(open_door: OpenDoor) -> None:
    door = open_door(auth=AUTH)
    ada, ben, auditor = (
        bearer("person", subject="ada"),
        bearer("person", subject="ben"),
        bearer("auditor", subject="eve"),
    )
    write_story(door.workspace)
    made = door.post(CONFERENCES, {"agents": ["assistant", "critic"]}, headers=ada).json()
    path = f"{CONFERENCES}/{made['conferenceId']}"
    held = door.post(f"{path}/rounds", {"prompt": "What does SCN-01 say of boats?"}, headers=ada)
    assert held.json()["state"] == "closed"
    for answer in (
        door.get(path, headers=ben), door.get(f"{path}/transcript", headers=ben),
        door.post(f"{path}/rounds", {"prompt": "x"}, headers=ben),
        door.post(f"{path}/roster", {"action": "mute", "agents": ["critic"]}, headers=ben),
        door.post(f"{path}/rounds/1/cancel", headers=ben),
        door.post(f"{path}/rounds", {"prompt": "x"}, headers=bearer("auditor", "person", subject="eve")),
    ):  # fmt: skip
        hint(answer, 404, "downstream_error", "conference_unknown")
    problem(door.post(f"{path}/rounds", {"prompt": "x"}, headers=auditor), 403, "rbac_denied")
    assert door.get(CONFERENCES, headers=ben).json()["total"] == 0
    assert door.get(CONFERENCES, headers=ada).json()["total"] == 1
    assert door.get(f"{path}/transcript", headers=auditor).json()["total"] > 0
    receipt = next(iter(door.gate.ledger.session(made["conferenceId"])))
    assert receipt.header["caller"]["subject"] == "ada"


@pytest.mark.promise("studio.conference-transcript")
def test_the_transcript_is_given_a_page_at_a_time(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    meeting.play(*tools(), says("One."), says("She stays ashore."))
    page = door.get(f"{meeting.path}/transcript?limit=2&offset=1").json()
    assert (page["total"], page["limit"], page["offset"]) == (4, 2, 1)
    assert [line["kind"] for line in page["items"]] == ["reply", "reply"]
    problem(door.get(f"{meeting.path}/transcript?limit=0"), 400, "validation_error")


@pytest.mark.promise("studio.conference-cancel", "studio.conference-one-round")
@pytest.mark.parametrize("streams", [False, True])
def test_a_round_is_cancelled_by_anyone_who_may_and_keeps_what_ran(door: Doorway, *, streams: bool) -> None:
    meeting = Meeting(door, "critic")
    hangs = HangsAndTells()

    async def run() -> tuple[httpx.Response, httpx.Response]:
        async with door.client() as client:
            body = {"prompt": PROMPT, "stream": streams}
            holding = asyncio.ensure_future(client.post(f"{meeting.path}/rounds", json=body, timeout=60))
            assert await asyncio.to_thread(hangs.asked.wait, 20)
            busy = await client.post(f"{meeting.path}/rounds", json={"prompt": "another"})
            hint(busy, 409, "downstream_error", "round_running")
            # As another process would: through the files alone.
            wished = await asyncio.to_thread(ConferenceFiles(door.workspace).cancel, meeting.id, 1)
            assert wished.rounds[0].state == "cancelling"  # type: ignore[union-attr]
            return await holding, await client.post(f"{meeting.path}/rounds/1/cancel")

    with ScriptedServer(*tools(), says("One."), hangs) as server:
        meeting.served(server)
        ended, late = asyncio.run(run())
        assert server.wait_until_idle()
    held = events(ended.text)[-1][1] if streams else ended.json()
    assert held["state"] == "cancelled"
    assert [reply["agent_id"] for reply in held["replies"]] == ["assistant"]
    hint(late, 409, "downstream_error", "round_over")
    assert len(meeting.ran()) == 1
    heading, body = issue_of(door.workspace, held["issue_id"])
    assert "cancelled" in heading["tags"]
    assert "One." in body
    again, _ = meeting.play(*tools(), ABSTAIN, ABSTAIN)
    assert (again["number"], again["state"]) == (2, "closed")


@pytest.mark.promise("studio.conference-cancel")
def test_over_the_wire_a_client_that_leaves_cancels_its_round(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    hangs = HangsAndTells()
    served = Running(door.server.app, ServerSettings())
    try:
        with ScriptedServer(*tools(), hangs) as server:
            meeting.served(server)
            data = json.dumps({"prompt": PROMPT, "stream": True}).encode()
            connection = served.connect()
            head = (
                f"POST {meeting.path}/rounds HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: {len(data)}"
            )
            connection.sendall(head.encode() + b"\r\n\r\n" + data)
            assert hangs.asked.wait(PATIENCE_S)
            connection.close()
            assert server.wait_until_idle()
    finally:
        served.close()
    (left,) = meeting.get()["rounds"]
    assert left["state"] == "cancelled"
    assert left["issue_id"]


@pytest.mark.promise("studio.conference-one-round")
def test_of_many_rounds_at_once_in_one_conference_each_is_held_or_refused_and_none_is_lost(door: Doorway) -> None:
    meeting = Meeting(door, "critic")

    async def run() -> list[httpx.Response]:
        async with door.client() as client:
            asked = [client.post(f"{meeting.path}/rounds", json={"prompt": "What of boats?"}) for _ in range(6)]
            return list(await asyncio.gather(*asked))

    answers = asyncio.run(run())
    held = sorted(answer.json()["number"] for answer in answers if answer.status_code == 200)
    assert held == list(range(1, len(held) + 1))
    assert held
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert [each["state"] for each in meeting.get()["rounds"]] == ["closed"] * len(held)


@pytest.mark.promise("studio.conference-log")
def test_the_raw_traffic_is_logged_only_when_asked_for_and_without_secrets(open_door: OpenDoor, door: Doorway) -> None:
    quiet = Meeting(door, "critic")
    quiet.play(*tools(), ABSTAIN, ABSTAIN)
    assert not (door.workspace / "private").exists()
    logged = open_door("logged", rooms={"studio": {"conference_log": True}})
    meeting = Meeting(logged, "critic")
    secret = "sk-" + "a1b2c3d4" * 4
    meeting.play(*tools(), ABSTAIN, says("One."), prompt=f"Is {secret} in the book? My password: hunter2secret")
    log = logged.workspace / "private" / "conference_log.md"
    text = log.read_text(encoding="utf-8")
    assert secret not in text
    assert "hunter2secret" not in text
    assert text.count(f"{meeting.id} turn 1 critic (interpretation)") == 1
    assert text.count(f"{meeting.id} turn 1 assistant (tools)") == 2
    assert "One." in text
    assert log.stat().st_mode & 0o077 == 0


@pytest.mark.promise("studio.conference-log")
def test_a_switch_that_is_neither_true_nor_false_is_told_when_the_server_starts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as wrong:
        Doorway(tmp_path / "wrong", rooms={"studio": {"parallel": "perhaps"}})
    assert wrong.value.code == "config_bad_value"


def test_an_agent_that_was_switched_off_after_it_was_invited_is_not_heard(door: Doorway) -> None:
    meeting = Meeting(door, "critic")
    critic = door.get("/api/agents/critic").json()
    fields = {name: value for name, value in critic.items() if name not in {"agent_id", "endpoint"}}
    door.request("PUT", "/api/agents/critic", json={**fields, "enabled": False}, headers=door.person)
    held = meeting.hold("What does SCN-01 say of boats?")
    assert (reply_of(held, "critic")["status"], reply_of(held, "critic")["code"]) == ("unheard", "agent_disabled")
    assert LOCAL_OWNER.subject == meeting.get()["created_by"]
