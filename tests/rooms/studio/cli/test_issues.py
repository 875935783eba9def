"""`tally issues`, `tally notifications` and `tally telemetry`."""

import json
from pathlib import Path

import pytest

from tallystick.storage.notifications import Notifications
from tests.doors.cli.conftest import Tally
from tests.rooms.studio.issues.trackers import ticking

WORDS = "Line 12 of the scene says something else than the card."


@pytest.mark.promise("issues.cli")
def test_issues_are_opened_listed_shown_discussed_and_closed(tally: Tally, workspace: Path) -> None:
    assert tally("issues", "list").err.strip().startswith("There are no such issues.")
    made = tally("issues", "new", "The compass", "--body", "Silver, or brass?", "--tag", "canon", "--json").json
    assert made["number"] == 1
    tally("issues", "new", "Another", "--priority", "high", "--assigned-to", "critic")
    listed = tally("issues", "list", "--json").json
    assert (listed["total"], listed["items"][0]["title"]) == (2, "Another")
    assert tally("issues", "list", "--tag", "canon", "--json").json["total"] == 1
    assert tally("issues", "list", "--priority", "high", "--assigned-to", "critic", "--json").json["total"] == 1
    assert "The compass" in tally("issues", "list").out
    said = tally("issues", "comment", "1", WORDS, "--agent", "critic")
    assert said.out == f"critic: {WORDS}\n"
    shown = tally("issues", "show", "1")
    assert WORDS in shown.out
    assert tally("issues", "show", made["issue_id"], "--json").json["comments"][0]["by"] == "agent"
    assert tally("issues", "close", "1", "--reason", "settled", "--json").json["status"] == "closed"
    assert tally("issues", "list", "--json").json["total"] == 1
    assert tally("issues", "list", "--status", "all", "--json").json["total"] == 2


@pytest.mark.promise("issues.cli")
def test_mistakes_have_their_codes(tally: Tally, workspace: Path) -> None:
    tally("issues", "new", "x")
    for words, code, error in (
        (("show", "7"), 1, "issue_unknown"), (("close", "7"), 1, "issue_unknown"),
        (("comment", "1", WORDS, "--agent", "ghost"), 1, "agent_unknown"),
        (("close", "1", "--agent", "ghost"), 1, "agent_unknown"), (("new", "x", "--agent", "ghost"), 1, "agent_unknown"),
        (("comment", "1", "ok"), 1, "comment_too_short"), (("comment", "7", WORDS), 1, "issue_unknown"),
        (("list", "--status", "x"), 2, "usage"), (("new",), 2, "usage"), (("new", "x", "--priority", "x"), 2, "usage"),
        (("new", "--from-chat", "nothing"), 1, "session_unknown"), (("new", "y" * 400), 1, "issue_invalid"),
    ):  # fmt: skip
        ran = tally("issues", *words)
        assert (ran.code, ran.error) == (code, error), words
    tally("issues", "close", "1")
    assert tally("issues", "close", "1").error == "issue_unmoved"


@pytest.mark.promise("issues.cli")
def test_a_conversation_becomes_an_issue(tally: Tally, workspace: Path) -> None:
    (workspace / "notes.md").write_text("The storm came on a Friday.\n")
    said = tally("chat", "--once", "When did the storm come?", "--session", "s1", "--offline", "--json")
    assert said.code == 0, said.err
    made = tally("issues", "new", "--from-chat", "s1", "--tag", "canon", "--json").json
    whole = tally("issues", "show", made["issue_id"], "--json").json
    assert whole["title"] == "When did the storm come?"
    assert {link["id"] for link in whole["links"]} >= {"s1", *said.json["receipts"]}


@pytest.mark.promise("telemetry.turns")
def test_telemetry_shows_what_a_command_used(tally: Tally, workspace: Path) -> None:
    assert tally("telemetry", "--json").json["totals"]["activations"] == 0
    tally("chat", "--once", "What is here?", "--session", "s1", "--offline")
    found = tally("telemetry", "--json").json
    assert (found["totals"]["activations"], [each["agent_id"] for each in found["agents"]]) == (1, ["assistant"])
    assert "assistant" in tally("telemetry").out
    assert tally("telemetry", "--session", "s1", "--json").json["totals"]["activations"] == 1
    assert tally("telemetry", "--session", "s2").error == "nothing_counted"
    assert tally("telemetry", "--conference", "c1").error == "nothing_counted"


@pytest.mark.promise("notifications.made")
def test_notifications_show_a_held_call_until_it_was_read(tally: Tally, workspace: Path, held: str) -> None:
    (news,) = tally("notifications", "--json").json["items"]
    assert news["link"] == f"/approvals/{held}"
    assert "send_mail" in tally("notifications", "--read").out
    assert tally("notifications").err.strip() == "No new notifications."
    assert len(tally("notifications", "--all", "--json").json["items"]) == 1
    assert json.loads((workspace / "data" / "notifications.json").read_text())["notifications"][0]["read"] is True


@pytest.mark.promise("notifications.made")
def test_looking_at_notifications_where_there_are_none_makes_no_folder(tally: Tally, workspace: Path) -> None:
    assert tally("notifications", "--read").code == 0
    assert not (workspace / "data").exists()


@pytest.mark.promise("notifications.grouped")
def test_notifications_of_one_thing_stand_together_with_its_page_named_once(tally: Tally, workspace: Path) -> None:
    kept = Notifications(workspace, now=ticking())
    for text, link in (("critic was rejected.", "/conference/c1"), ("A run ended.", "/runs/r1"), ("Alone.", None),
                       ("writer was rejected.", "/conference/c1")):  # fmt: skip
        kept.add(level="warn", source="conference", text=text, link=link)
    shown = tally("notifications").out.splitlines()
    assert [line.partition("conference: ")[2] for line in shown] == [
        "writer was rejected.  /conference/c1", "critic was rejected.", "Alone.", "A run ended.  /runs/r1",
    ]  # fmt: skip
    assert len(tally("notifications", "--json").json["items"]) == 4
