"""An agent's own words are no evidence, whichever way they come back to it; everybody else's are."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tallystick import Tool, tool
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import CHAT, SCENE, call, finish, receipts_in, serve_agent, write_story
from tests.rooms.memory.http.test_memory import observation
from tests.scripted_server import Says, ScriptedServer

CHECK = "/api/evidence/check"
CLAIM = "the sky is made of brass plates"
OURS = "she had never once set foot on a boat"
LONG_AGO = 1_700_000_000

pytestmark = pytest.mark.promise("reply.own-text")


def file_tools(workspace: Path) -> list[Tool]:
    """Tools that change files, as a plugin brings them."""

    @tool(effect="write")
    def write_note(path: str, text: str) -> str:
        """Write a file."""
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return path

    @tool(effect="write")
    def append_note(path: str, lines: list[str]) -> int:
        """Add lines to a file, with a heading."""
        with (workspace / path).open("a", encoding="utf-8") as file:
            file.write("\n## Added\n\n" + "\n".join(lines) + "\nThat is all.\n")
        return len(lines)

    @tool(effect="write")
    def copy_note(path: str, to: str) -> str:
        """Copy a file."""
        (workspace / to).write_text((workspace / path).read_text(encoding="utf-8"), encoding="utf-8")
        return to

    @tool(effect="read")
    def shout(words: list[str]) -> dict[str, str]:
        """Give words back in capitals."""
        return {"said": f"You said: {' '.join(words).upper()}!"}

    @tool(effect="read")
    def decode(document: str) -> Any:
        """Read a JSON document."""
        return json.loads(document)

    return [write_note, append_note, copy_note, shout, decode]


@pytest.fixture
def door(open_door: OpenDoor) -> Doorway:
    made = open_door()
    write_story(made.workspace)
    made.gate.register(*file_tools(made.workspace))
    return made


def run(door: Doorway, name: str, args: dict[str, Any], *, agent: str | None = "critic", session: str = "s1") -> str:
    answer = door.call(name, args, session=session, **({} if agent is None else {"agent": agent}))
    assert answer.status_code == 200, answer.text
    receipt_id: str = answer.json()["receipt_id"]
    return receipt_id


def fault(door: Doorway, line: str, *, agent: str | None = "critic", session: str = "s1", body: str = "So.") -> str:
    """The code of the first item that does not hold, or `ok`."""
    # Some roles have to look at the scenes; what else is cited is what is tested.
    asked: dict[str, Any] = {"reply": f"{body}\nEvidence: {line}; {SCENE}:L1", "session": session}
    found = door.post(CHECK, asked if agent is None else {**asked, "agent": agent}).json()
    if found["ok"]:
        return "ok"
    (wrong, *_) = (item for item in found["items"] if not item["ok"])
    if wrong["code"] == "own_text":
        assert found["code"] == found["bucket"] == "evidence_invalid"
        assert "cite" in wrong["reason"].lower()
    return str(wrong["code"])


def remembered(door: Doorway, text: str, *, agent: str | None = "critic", session: str = "s1") -> None:
    run(door, "record_observation", observation(text)["payload"], agent=agent, session=session)


def recalled(door: Doorway, words: str, *, agent: str | None = "critic", session: str = "s1") -> str:
    return run(door, "mem.search", {"query": words}, agent=agent, session=session)


@pytest.mark.parametrize("agent", ["critic", None])
def test_a_result_that_repeats_its_own_question_proves_nothing(door: Doorway, agent: str | None) -> None:
    locator = run(door, "file_locator", {"search_criteria": CLAIM}, agent=agent)
    assert fault(door, f'"{CLAIM}" receipt {locator}', agent=agent) == "own_text"
    shouted = run(door, "shout", {"words": CLAIM.split()}, agent=agent)
    assert fault(door, f'"{CLAIM.upper()}" receipt {shouted}', agent=agent) == "own_text"
    # As JSON in JSON, with an invisible character and in another Unicode form.
    masked = json.dumps({"a": "The\u00adsky is  made of\nbrass plates", "b": "caf\u00e9"}).replace(
        "brass", "bra\\u0073s"
    )
    decoded = run(door, "decode", {"document": masked.replace("\\u00ad", " ")}, agent=agent)
    assert fault(door, f'"The sky is made of brass plates" receipt {decoded}', agent=agent) == "own_text"
    # What the tool itself adds may be quoted, and so may a file that was found by the question.
    assert fault(door, f'"FAST_SCAN" receipt {locator}', agent=agent) == "ok"
    found = run(door, "file_locator", {"search_criteria": OURS, "scan_mode": "DEEP_SCAN"}, agent=agent)
    assert fault(door, f'"{OURS}" receipt {found}', agent=agent) == "ok"
    assert fault(door, f'"{OURS}" {SCENE}; receipt {found}', agent=agent) == "ok"


@pytest.mark.parametrize("agent", ["critic", None])
def test_what_an_agent_put_into_memory_is_no_source_for_it(door: Doorway, agent: str | None) -> None:
    remembered(door, f"Note: {CLAIM}, it is said.", agent=agent)
    recall = recalled(door, "What is the sky?", agent=agent)
    assert fault(door, f'"{CLAIM}" receipt {recall}', agent=agent) == "own_text"
    # Another agent may quote it: it did not write it.
    other = recalled(door, "What is the sky?", agent="editor", session="s2")
    assert fault(door, f'"{CLAIM}" receipt {other}', agent="editor", session="s2") == "ok"
    # And what others put there is a source.
    remembered(door, "Ada painted the north wall of the tower white.", agent="editor", session="s2")
    white = recalled(door, "Which wall is white?", agent=agent)
    assert fault(door, f'"painted the north wall of the tower white" receipt {white}', agent=agent) == "ok"


def test_what_an_agent_wrote_in_an_earlier_session_is_no_source_either(door: Doorway) -> None:
    remembered(door, CLAIM, session="earlier")
    assert fault(door, f'"{CLAIM}" receipt {recalled(door, "the sky")}') == "own_text"


def test_a_file_that_the_agent_wrote_is_no_source_for_it(door: Doorway) -> None:
    run(door, "write_note", {"path": "Notes/sky.md", "text": f"Intro.\n{CLAIM.capitalize()}.\nEnd.\n"})
    assert fault(door, f'"{CLAIM.capitalize()}" Notes/sky.md:L2') == "own_text"
    assert fault(door, '"made of brass" Notes/sky.md:L2') == "own_text"
    run(door, "copy_note", {"path": "Notes/sky.md", "to": "Notes/copy.md"})
    assert fault(door, f'"{CLAIM.capitalize()}" Notes/copy.md') == "own_text"
    read = run(door, "file_reader", {"file_path": "Notes/copy.md"})
    assert fault(door, f'"{CLAIM.capitalize()}" receipt {read}') == "own_text"
    # In the body as on the line.
    body = f'It says "{CLAIM.capitalize()}".'
    assert fault(door, f'Notes/sky.md:L1; "{OURS}" {SCENE}', body=body) == "own_text"
    assert fault(door, f'"{CLAIM.capitalize()}" Notes/sky.md:L2', agent="editor") == "ok"


def test_lines_that_the_agent_added_to_a_file_are_its_own_and_the_others_are_not(door: Doorway) -> None:
    run(door, "append_note", {"path": SCENE, "lines": ["The sky is", "made of brass plates"]})
    assert fault(door, f'"The sky is made of brass plates" {SCENE}') == "own_text"
    assert fault(door, f'"{OURS}" {SCENE}') == "ok"
    assert fault(door, f'"That is all" {SCENE}:L10') == "ok"


def test_what_stood_in_a_source_before_the_agent_wrote_it_down_stays_a_source(door: Doorway) -> None:
    short = door.workspace / "Notes" / "one-line.md"
    short.parent.mkdir()
    short.write_text(f"{OURS}\n", encoding="utf-8")
    read = run(door, "file_reader", {"file_path": SCENE})
    remembered(door, f"From the scene: {OURS}.")
    run(door, "write_note", {"path": "Notes/mine.md", "text": f"{OURS}\nand more of mine, which nobody else said\n"})
    # The file was changed since, but the agent had read the sentence before it wrote it down.
    os.utime(door.workspace / SCENE, (LONG_AGO, LONG_AGO))
    (door.workspace / SCENE).write_text(f"# New\n\n{OURS} at all.\n", encoding="utf-8")
    assert fault(door, f'"{OURS}" {SCENE}') == "ok"
    assert fault(door, f'"{OURS}" receipt {read}') == "ok"
    assert fault(door, f'"{OURS}" receipt {recalled(door, "boat")}') == "ok"
    assert fault(door, f'"{OURS}" Notes/one-line.md') == "ok"
    assert fault(door, '"more of mine, which nobody else said" Notes/mine.md') == "own_text"


def test_an_old_file_is_a_source_though_the_agent_never_read_it_before_it_wrote_the_same(door: Doorway) -> None:
    old = door.workspace / "Notes" / "old.md"
    old.parent.mkdir()
    old.write_text("The users said: brass plates cover the whole northern sky.\n", encoding="utf-8")
    words = "brass plates cover the whole northern sky"
    time.sleep(0.3)
    run(door, "write_note", {"path": "Notes/new.md", "text": words})
    assert fault(door, f'"{words}" Notes/old.md') == "ok"
    assert fault(door, f'"{words}" Notes/new.md') == "own_text"


def test_a_short_common_phrase_of_a_file_may_be_quoted_by_whoever_wrote_it_elsewhere(door: Doorway) -> None:
    run(door, "write_note", {"path": "Notes/mine.md", "text": "We meet again in all that time, and then no more.\n"})
    (door.workspace / SCENE).write_text("# One\n\nAnd in all that time she read.\n", encoding="utf-8")
    assert fault(door, f'"in all that time" {SCENE}:L3') == "ok"
    assert fault(door, '"in all that time" Notes/mine.md:L1') == "own_text"


@pytest.mark.parametrize("agent", ["critic", "editor"])
def test_an_issue_is_no_source_for_the_agent_that_opened_it(door: Doorway, agent: str) -> None:
    made = door.post("/api/issues", {"title": "The sky", "body": f"I hold that {CLAIM}.", "agent": agent})
    assert made.status_code == 201
    found = run(door, "search_issues", {})
    assert fault(door, f'"{CLAIM}" receipt {found}') == ("own_text" if agent == "critic" else "ok")


def test_what_an_agent_said_in_a_chat_is_no_source_when_the_chat_became_an_issue(door: Doorway) -> None:
    said = f"I say that {CLAIM}."
    with ScriptedServer(Says(said)) as server:
        serve_agent(door.workspace, server)
        talk = door.post(CHAT, {"message": "And the sky?", "agentId": "critic", "skipTools": True}).json()
    assert talk["reply"] == said
    door.post("/api/issues/from-chat", {"sessionId": talk["sessionId"], "title": "Sky"})
    found = run(door, "search_issues", {})
    assert fault(door, f'"I say that {CLAIM}" receipt {found}') == "own_text"


@pytest.mark.parametrize("chain", ["echo", "memory"])
def test_a_turn_is_refused_its_own_words_without_anybody_asking_for_it(door: Doorway, chain: str) -> None:
    steps = {
        "echo": [call("file_locator", {"search_criteria": CLAIM})],
        "memory": [
            call("record_observation", observation(CLAIM)["payload"]),
            call("mem.search", {"query": "sky"}, first=False),
        ],
    }[chain]
    answer = Says(lambda seen: f'So it is.\nEvidence: {SCENE}:L3; "{CLAIM}" receipt {receipts_in(seen)[-1]}')
    with ScriptedServer(*steps, finish(), answer, answer, answer) as server:
        serve_agent(door.workspace, server)
        # A critic is offered memory's tools only where a turn names them.
        offered = {"allowedTools": ["file_locator", "record_observation", "mem.search"]}
        asked = {"message": "What is the sky made of?", "agentId": "critic", "toolPolicy": offered}
        said = door.post(CHAT, asked).json()
    assert said["reply"] is None, said
    assert "own_text" in json.dumps(said["rejected"]["findings"])


def test_the_openai_door_withholds_it_as_well(door: Doorway) -> None:
    answer = Says(lambda seen: f'So it is.\nEvidence: {SCENE}:L3; "{CLAIM}" receipt {receipts_in(seen)[-1]}')
    script = [call("file_locator", {"search_criteria": CLAIM}), finish(), answer, answer, answer]
    with ScriptedServer(*script) as server:
        serve_agent(door.workspace, server)
        messages = [{"role": "user", "content": "What is the sky made of?"}]
        said = door.post("/v1/chat/completions", {"model": "critic", "messages": messages})
    assert CLAIM not in said.text.replace(json.dumps(messages), "") or "own_text" in said.text
    checks = [each for each in door.receipts() if each.header["kind"] == "reply_check"]
    assert checks
    assert {each.outputs["fault"] for each in checks} == {"own_text"}


@pytest.mark.promise("doors.closed")
def test_a_server_that_is_closed_holds_no_file_of_its_workspace(open_door: OpenDoor) -> None:
    door = open_door()
    remembered(door, "The harbour light is green.")
    recalled(door, "harbour light")
    run(door, "file_locator", {"search_criteria": "harbour"})
    assert held_files(door.workspace)
    door.close()
    assert held_files(door.workspace) == []


def held_files(folder: Path) -> list[str]:
    """The files below a folder that this process has open."""
    opened = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [each for each in opened if each.startswith(f"{folder}/")]
