"""A workspace with a story in it, agents with scripted models, and what such a model says."""

import json
import threading
from pathlib import Path
from typing import Any

from tallystick.agents.roster import Roster
from tallystick.storage.agents import Registry
from tallystick.turns.agent import Endpoint
from tests.scripted_server import Hangs, Says, ScriptedServer, Seen, Wire

SCENE = "Story/Scenes/SCN-01.md"
STORY = """# The lighthouse

Ada kept the light for thirty years, and in all that time
she had never once set foot on a boat.
The supply ship came on Fridays. She waved from the gallery.
"""
QUOTE = '"she had never once set foot on a boat" Story/Scenes/SCN-01.md:L4'
CHAT = "/api/ai/chat"


def write_story(workspace: Path) -> None:
    file = workspace / SCENE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(STORY, encoding="utf-8")


def set_endpoint(workspace: Path, agent_id: str, **fields: Any) -> None:
    """Give an agent a model."""
    usual: dict[str, Any] = {"provider": "lmstudio", "model": "scripted", "retries": 0, "timeout_s": 20}
    endpoint = Endpoint(agent_id=agent_id, **{**usual, **fields})
    assert isinstance(Registry(workspace).change(lambda roster: roster.set_endpoint(endpoint)), Roster)


def serve_agent(workspace: Path, server: ScriptedServer, agent_id: str = "critic", **fields: Any) -> None:
    """Give an agent the scripted model."""
    set_endpoint(workspace, agent_id, base_url=server.base_url, **fields)


def call(tool: str, args: dict[str, Any], *, first: bool = True) -> Says:
    """A call with this step's nonce."""

    def said(seen: Seen) -> str:
        action = {} if first else {"action": "tool"}
        return json.dumps({**action, "tool": tool, "args": args, "nonce": seen.nonce})

    return Says(said)


def finish() -> Says:
    return Says(lambda seen: json.dumps({"action": "final", "nonce": seen.nonce}))


def receipts_in(seen: Seen) -> list[str]:
    """The receipts that the prompt names, in order."""
    words = (word.removeprefix("receipt_id=") for word in seen.text.split() if word.startswith("receipt_id="))
    return list(dict.fromkeys(words))


def claim(quote: str = QUOTE, text: str = "She does not sail.") -> Says:
    """An answer that cites a quote and every receipt of the turn."""
    return Says(lambda seen: f"{text}\nEvidence: {'; '.join([quote, *(f'receipt {r}' for r in receipts_in(seen))])}")


def grounded() -> list[Says]:
    """A whole good turn: read the scene, finish, answer."""
    return [call("file_reader", {"file_path": SCENE}), finish(), claim()]


def events(text: str) -> list[tuple[str, Any]]:
    """The events of a stream, heartbeats left out."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found


class HangsAndTells(Hangs):
    """Never answers, and says when it was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    async def answer(self, seen: Seen, wire: Wire) -> None:
        self.asked.set()
        await super().answer(seen, wire)
