"""One receipt for people: the request, the outcome and the facts of its header."""

from collections.abc import Mapping
from typing import Any

import orjson
from nicegui import ui

from tallystick.doors.presentation.outcomes import outcome_status
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.text import block, text
from tallystick.gate.record.receipt import Receipt

SHOWN_CHARS = 20_000
"""Maximum characters of one payload; the download has the rest."""


def receipt_card(receipt: Receipt) -> None:
    """Show a complete receipt."""
    header = receipt.header
    with ui.column().classes("tally-card gap-2"):
        with ui.row().classes("tally-row"):
            badge(status_of(header))
            ui.label(header.get("tool_id") or header["kind"]).classes("text-weight-bold")
            ui.label(str(header.get("timestamp", ""))).classes("tally-soft")
        ui.label(receipt.receipt_id).classes("tally-mono tally-text")
        _facts(header)
        if receipt.erased:
            ui.label("The payload was erased. Every proof still holds.").classes("tally-soft")
            return
        _payload("Asked", receipt.inputs)
        _payload("Came back", receipt.outputs if receipt.excerpt is None else receipt.excerpt)


def status_of(header: Mapping[str, Any]) -> str:
    """Return the outcome as one word; the record's kind if it has no outcome."""
    return outcome_status(header) or str(header["kind"])


def _facts(header: Mapping[str, Any]) -> None:
    named = ("seq", "session_id", "agent_id", "conference_id", "task_id", "turn_id", "policy_digest", "duration_us")
    outcome = header.get("outcome") or {}
    said = [(name, header[name]) for name in named if header.get(name) is not None]
    said += [(name, outcome[name]) for name in ("code", "fault", "category", "reason") if name in outcome]
    with ui.element("dl").classes("tally-facts"):
        for name, value in said:
            text("dt", name.replace("_", " "))
            text("dd", str(value))


def _payload(title: str, value: Any) -> None:
    if value is None:
        return
    shown = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    ui.label(title).classes("tally-soft")
    block(shown[:SHOWN_CHARS] + (" …" if len(shown) > SHOWN_CHARS else ""))
