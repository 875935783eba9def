"""A conference behind the HTTP door, its agents played by a scripted model server."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from tallystick.gate.record.receipt import Receipt
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import QUOTE, SCENE, call, claim, finish, serve_agent, write_story
from tests.scripted_server import Behaviour, Says, ScriptedServer, Seen

CONFERENCES = "/api/conferences"
PROMPT = "Does Ada sail?"
READ = {"file_path": SCENE}
ABSTAIN = Says("ABSTAIN")
FRAMING = (
    "The following data was retrieved for this discussion. You are {}. If this is relevant to your expertise, provide "
    "your perspective. If not, respond with only: ABSTAIN"
)
EVERYONE = ("assistant", "planner", "writer", "editor", "critic", "continuity")


class Meeting:
    """One conference, and what can be seen of it from outside."""

    def __init__(self, door: Doorway, *agents: str) -> None:
        self.door = door
        write_story(door.workspace)
        made = door.post(CONFERENCES, {"agents": ["assistant", *agents]})
        assert made.status_code == 201, made.text
        self.id: str = made.json()["conferenceId"]
        self.path = f"{CONFERENCES}/{self.id}"
        self.agents = ("assistant", *agents)

    def served(self, server: ScriptedServer) -> None:
        """Let the scripted server play every agent."""
        for agent_id in self.agents:
            serve_agent(self.door.workspace, server, agent_id)

    def hold(self, prompt: str = PROMPT, **more: Any) -> dict[str, Any]:
        answer = self.door.post(f"{self.path}/rounds", {"prompt": prompt, **more})
        assert answer.status_code == 200, answer.text
        held: dict[str, Any] = answer.json()
        return held

    def play(self, *script: Behaviour, prompt: str = PROMPT) -> tuple[dict[str, Any], list[Seen]]:
        """A round with this script; gives the round and what the server was asked."""
        with ScriptedServer(*script) as server:
            self.served(server)
            return self.hold(prompt), server.requests

    def get(self) -> dict[str, Any]:
        found: dict[str, Any] = self.door.get(self.path).json()
        return found

    def transcript(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = self.door.get(f"{self.path}/transcript?limit=500").json()["items"]
        return lines

    def ran(self) -> list[Receipt]:
        """The calls that ran in this conference."""
        return [each for each in self.receipts("outcome") if _ran(each.header)]

    def receipts(self, kind: str) -> list[Receipt]:
        return [each for each in self.door.gate.ledger.session(self.id) if each.header["kind"] == kind]


def _ran(header: Any) -> bool:
    return header["outcome"]["status"] != "rejected" and header.get("tool_id") not in {None, ""}


def tools(*more: tuple[str, dict[str, Any]]) -> list[Says]:
    """A tool phase: read the scene, then whatever else, then finish."""
    later = [call(tool, args, first=False) for tool, args in more]
    return [call("file_reader", READ), *later, finish()]


def says(text: str) -> Says:
    """An answer that holds."""
    return claim(QUOTE, text)


def reply_of(held: dict[str, Any], agent_id: str) -> dict[str, Any]:
    return next(each for each in held["replies"] if each["agent_id"] == agent_id)


def card_of(held: dict[str, Any], agent_id: str) -> tuple[str, str, str]:
    cards = held.get("cards") or held["attendees"]
    card = next(each for each in cards if each["agent_id"] == agent_id)
    return card["state"], card["subtitle"], card["colour"]


def prompts(requests: Sequence[Seen]) -> list[str]:
    """Everything each request said, as one text."""
    return [json.dumps(seen.body, ensure_ascii=False) for seen in requests]


def issue_of(workspace: Path, issue_id: str) -> tuple[dict[str, Any], str]:
    """The heading (with the links) and the body of an issue, from the files."""
    headings = orjson.loads((workspace / ".control-room/issues/issues.json").read_bytes())
    listed = next(value for value in headings.values() if isinstance(value, list))
    heading = next(each for each in listed if each["issue_id"] == issue_id)
    page = orjson.loads((workspace / f".control-room/issues/pages/{issue_id}.json").read_bytes())
    return heading | {"links": page["links"]}, page["body"]
