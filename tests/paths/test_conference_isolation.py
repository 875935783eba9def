"""Isolation, proved: no phase-2 prompt holds a word of another's reply, of this round or of any before it.

Each reply carries a word that stands nowhere else, so that it is seen wherever it turns up.
"""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase

import pytest

from tests.conferences import EVERYONE, Meeting, prompts, says, tools
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import SCENE, call, finish, serve_agent
from tests.scripted_server import Behaviour, Says, ScriptedServer, Seen, Wire
from tests.sizes import size

ROUNDS = size(3, 12)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Doorway]:
    opened = Doorway(tmp_path / "work")
    yield opened
    opened.close()


def marked(round_number: int, agent_id: str) -> str:
    # Letters alone: a number or a name would have to stand in the quote.
    return f"zq{ascii_lowercase[round_number]}{agent_id}zq"


def word_of(agent_id: str, number: int) -> Says:
    word = marked(number, agent_id)
    # Every other round is refused: refused words must stay away as well.
    return says(word) if number % 2 else Says(f"{word} and no evidence at all.")


@pytest.mark.promise("studio.conference-isolation", "studio.conference-once")
def test_no_prompt_holds_anothers_reply_of_this_round_or_any_earlier_one(door: Doorway) -> None:
    meeting = Meeting(door, "writer", "editor", "critic", "continuity")
    seen: list[tuple[int, str, str]] = []
    for number in range(1, ROUNDS + 1):
        holds = number % 2 == 1
        # A refused answer is written again once.
        asks = [agent_id for agent_id in meeting.agents for _ in range(1 if holds else 2)]
        script = [*tools(), *(word_of(agent_id, number) for agent_id in asks)]
        held, asked = meeting.play(*script, prompt=f"Round {number}: does Ada sail?")
        assert held["state"] == "closed"
        assert {reply["status"] for reply in held["replies"]} == {"accepted" if holds else "rejected"}
        speakers = ["tools"] * len(tools()) + asks
        seen += [(number, who, text) for who, text in zip(speakers, prompts(asked), strict=True)]
        recorded = {given["agent_id"]: given["prompt_sha256"] for given in meeting.get()["rounds"][-1]["replies"]}
        assert len(set(recorded.values())) == len(meeting.agents), "every prompt is another's"
    words = [marked(number, who) for number in range(1, ROUNDS + 1) for who in meeting.agents]
    shown = [(number, who, word) for (number, who, text), word in itertools.product(seen, words) if word in text]
    # Whoever writes again is shown their own refused words of this round, and nobody else's.
    again = [(number, who, marked(number, who)) for number in range(2, ROUNDS + 1, 2) for who in meeting.agents]
    assert shown == again
    # The user sees it all.
    told = str(meeting.transcript())
    assert all(word in told for word in words)


@pytest.mark.promise("studio.conference-isolation", "studio.conference-log")
def test_what_was_said_cannot_be_had_through_a_tool_either(tmp_path: Path) -> None:
    door = Doorway(tmp_path / "logged", rooms={"studio": {"conference_log": True}})
    try:
        meeting = Meeting(door, "critic")
        meeting.play(*tools(), says("Cormorant."), says("Kittiwake."))
        log = "private/conference_log.md"
        assert "Kittiwake" in (door.workspace / log).read_text(encoding="utf-8")
        folder = f".control-room/conferences/{meeting.id}"
        for path in (f"{folder}/transcript.jsonl", f"{folder}/conference.json", log, "Private/Conference_Log.md"):
            read = door.call("file_reader", {"file_path": path}).json()
            assert read.get("result") is None, path
        found = door.call("file_locator", {"search_criteria": "Kittiwake", "scan_mode": "DEEP_SCAN"}).json()
        assert found["result"]["results"] == []
        # Every round is an issue that agents may find; what they find are its facts.
        issues = door.call("search_issues", {"tags": ["conference"]}).json()
        assert f"Conference {meeting.id} — Turn 1" in str(issues["result"])
        assert "Kittiwake" not in str(issues["result"])
        assert "Cormorant" not in str(issues["result"])
    finally:
        door.close()


@pytest.mark.promise("studio.conference-once")
def test_six_agents_and_three_tool_calls_make_three_receipts(door: Doorway) -> None:
    meeting = Meeting(door, *EVERYONE[1:])
    three = tools(("file_locator", {"search_criteria": "Ada"}), ("file_reader", {"file_path": SCENE, "start_line": 3}))
    # The planner cites no outline: refused, and asked once more.
    asks = [agent_id for agent_id in EVERYONE for _ in range(2 if agent_id == "planner" else 1)]
    held, asked = meeting.play(*three, *(says(agent_id) for agent_id in asks))
    assert [reply["agent_id"] for reply in held["replies"] if reply["status"] != "accepted"] == ["planner"]
    assert len(held["receipts"]) == len(meeting.ran()) == 3
    assert [each.receipt_id for each in meeting.ran()] == held["receipts"]
    assert {each.header["agent_id"] for each in meeting.ran()} == {"assistant"}
    assert len(asked) == 4 + 6 + 1
    for text in prompts(asked)[4:]:
        assert all(receipt in text for receipt in held["receipts"])


@pytest.mark.promise("studio.conference-parallel")
def test_agents_on_other_endpoints_may_be_asked_at_once_and_are_shown_in_order(tmp_path: Path) -> None:
    door = Doorway(tmp_path / "parallel", rooms={"studio": {"parallel": True}})
    try:
        meeting = Meeting(door, "critic", "continuity")
        asked = threading.Event()
        with (
            ScriptedServer(call("file_reader", {"file_path": SCENE}), finish(), says("First.")) as chief,
            # The critic answers only when the one after it has been asked: one by one, it never would.
            ScriptedServer(Waits(asked, says("Second."))) as critic,
            ScriptedServer(Tells(asked, says("Third."))) as continuity,
        ):
            for agent_id, server in (("assistant", chief), ("critic", critic), ("continuity", continuity)):
                serve_agent(door.workspace, server, agent_id)
            held = meeting.hold()
        assert [reply["agent_id"] for reply in held["replies"]] == ["assistant", "critic", "continuity"]
        told = [line["agent_id"] for line in meeting.transcript() if line["kind"] == "reply"]
        assert told == ["assistant", "critic", "continuity"]
    finally:
        door.close()


class Tells(Behaviour):
    """Answers, and lets others know that it was asked."""

    def __init__(self, asked: threading.Event, then: Behaviour) -> None:
        self._asked = asked
        self._then = then

    async def answer(self, seen: Seen, wire: Wire) -> None:
        self._asked.set()
        await self._then.answer(seen, wire)


class Waits(Behaviour):
    """Answers when another was asked."""

    def __init__(self, asked: threading.Event, then: Behaviour) -> None:
        self._asked = asked
        self._then = then

    async def answer(self, seen: Seen, wire: Wire) -> None:
        assert await asyncio.to_thread(self._asked.wait, 20)
        await self._then.answer(seen, wire)
