"""Held calls over kill -9 of the gateway, its client and its server: each runs exactly once or never."""

import json
import os
import random
import signal
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tests.sizes import size
from tests.verifying import verify
from tests.wrapped import Client, server

AT_ONCE = 10
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
ACCEPTED = {"tallystick/approval": {"action": "accept", "content": {}}}


class Yard:
    """A gateway that is started again and again, and one server whose log says what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.log, self.home = folder / "ws", folder / "log", folder
        self.workspace.mkdir()
        command, *args = server("--log", str(self.log))
        entries = {"notes": {"command": command, "args": args}}
        (self.workspace / "servers.json").write_text(json.dumps({"mcpServers": entries}))
        (self.workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n[policy]\nwrite = "ask"\n')

    def start(self) -> Client:
        own = [sys.executable, "-m", "tallystick", "mcp", "gateway", "--workspace", str(self.workspace), "--hold", "0"]
        client = Client(own, home=self.home)
        client.ask("server/discover", {"_meta": META})
        return client

    def approve_all(self) -> None:
        with Gate.open(self.workspace, plugins=False) as gate:
            for hold in gate.approvals.list(state="held"):
                gate.approvals.approve(hold.approval_id, person="p", channel="terminal")

    def ran(self) -> Counter[str]:
        """How often the server was asked to write each note."""
        asked = [json.loads(line) for line in self.log.read_text().splitlines() if line[:1] == "{"]
        calls = [one["params"] for one in asked if one.get("method") == "tools/call"]
        return Counter(str(call["arguments"]["text"]) for call in calls)


def call(text: str, **more: Any) -> dict[str, Any]:
    return {"name": "notes__write_note", "arguments": {"text": text}, "_meta": META, **more}


def server_of(gateway: Client) -> int:
    children = Path(f"/proc/{gateway.process.pid}/task/{gateway.process.pid}/children").read_text().split()
    every = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in children}
    return next(pid for pid, line in every.items() if b"upstream_script" in line)


def kill(gateway: Client, what: str) -> None:
    if what == "client":
        # To the gateway a client that was killed is one whose pipes have closed.
        assert gateway.process.stdin is not None
        gateway.process.stdin.close()
    else:
        with suppress(ProcessLookupError, StopIteration):
            os.kill(gateway.process.pid if what == "gateway" else server_of(gateway), signal.SIGKILL)


@pytest.mark.promise("gateway.held-killed")
def test_a_held_call_runs_once_or_never_whatever_is_killed(tmp_path: Path) -> None:
    yard, chance = Yard(tmp_path), random.Random(7)
    rounds = size(3, 100)
    shown: set[str] = set()
    for number in range(rounds):
        texts = [f"{number}-{one}" for one in range(AT_ONCE)]
        with yard.start() as gateway:
            states = {text: gateway.ask("tools/call", call(text))["result"]["requestState"] for text in texts}
        yard.approve_all()
        gateway = yard.start()
        kept = {gateway.begin("tools/call", retry(text, states[text])): text for text in texts}
        for _ in range(chance.randrange(AT_ONCE)):
            answer = json.loads(gateway.line() or b"{}")
            shown |= {kept[answer["id"]]} if is_result(answer) else set()
        kill(gateway, ("gateway", "server", "client")[number % 3])
        gateway.close()
        with yard.start() as gateway:
            for text in texts:
                answer = gateway.ask("tools/call", retry(text, states[text]))
                shown |= {text} if is_result(answer) else set()
    ran = yard.ran()
    assert set(ran.values()) == {1}
    assert shown <= set(ran)
    assert len(shown) > rounds * AT_ONCE // 2
    assert verify(yard.workspace).ok


def retry(text: str, state: str) -> dict[str, Any]:
    return call(text, requestState=state, inputResponses=ACCEPTED)


def is_result(answer: dict[str, Any]) -> bool:
    return "isError" not in answer.get("result", {"isError": True})
