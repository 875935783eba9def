"""Gates, envelopes and receipts for tests of whole calls, each in one word."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick import Gate, Tool
from tallystick.app.discovery import manifests
from tallystick.gate.record.receipt import Receipt
from tallystick.settings import Settings, parse_settings
from tallystick.turns.turn import Turn


def quick_settings(**sections: Any) -> Settings:
    """Settings without fsync and approval of writes, the point of few tests, and with the test's own state folder."""
    sections["ledger"] = {"durability": "os", **sections.get("ledger", {})}
    sections["policy"] = {"write": "allow", **sections.get("policy", {})}
    sections["storage"] = {"state_dir": os.environ["TALLY_STATE_DIR"], **sections.get("storage", {})}
    return parse_settings(sections)


def every_room(sections: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The section `rooms` that switches every installed room on, with these settings of rooms."""
    return {"enabled": list(manifests()), **(sections or {})}


def open_gate(
    workspace: Path, *tools: Tool, observer: Any = None, plugins: bool | None = None, **sections: Any
) -> Gate:
    """A gate with these tools and no others; without any, or with `plugins`, with those of the installed rooms."""
    with_rooms = not tools if plugins is None else plugins
    sections["rooms"] = every_room(sections.get("rooms"))
    gate = Gate.open(workspace, settings=quick_settings(**sections), observer=observer, plugins=with_rooms)
    gate.register(*tools)
    return gate


def said(tool: str, args: Mapping[str, Any], nonce: str | None) -> str:
    """What a model says on step one."""
    return json.dumps({"tool": tool, "args": dict(args), "nonce": nonce})


def then_said(tool: str, args: Mapping[str, Any], nonce: str | None) -> str:
    """What a model says after a result."""
    return json.dumps({"action": "tool", "tool": tool, "args": dict(args), "nonce": nonce})


def final(turn: Turn) -> str:
    return json.dumps({"action": "final", "nonce": turn.nonce})


def receipts(gate: Gate, kind: str | None = None) -> list[Receipt]:
    """Everything in the ledger, or everything of one kind, in order."""
    return [receipt for receipt in gate.ledger.read() if kind is None or receipt.header["kind"] == kind]


def outcomes(gate: Gate) -> list[Receipt]:
    return receipts(gate, "outcome")


def kinds(gate: Gate) -> list[str]:
    return [receipt.header["kind"] for receipt in gate.ledger.read()]


def every_byte(workspace: Path) -> bytes:
    """All that lies on disk in a workspace."""
    return b"".join(path.read_bytes() for path in sorted(workspace.rglob("*")) if path.is_file())
