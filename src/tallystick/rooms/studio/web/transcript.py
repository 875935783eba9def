"""What was said at a table: the user's question, replies that hold, replies that were refused, the end of a round."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from tallystick.doors.web.kit import PageContext, badge, block, evidence_chips
from tallystick.rooms.studio.conference.nouns import Round

ENDS = {
    "stopped": "The round ended before anyone was asked.",
    "cancelled": "The round was cancelled.",
    "broken_off": "The round was broken off: the server stopped while it ran.",
}


def prompt_line(line: Mapping[str, Any]) -> None:
    """What the user asked."""
    with ui.column().classes("tally-bubble tally-mine gap-0"):
        ui.label(f"You, round {line.get('round')}").classes("tally-soft")
        ui.label(str(line.get("text", ""))).classes("tally-text")


async def reply_line(house: PageContext, line: Mapping[str, Any]) -> None:
    """What an agent said, with what it rests on; or what was refused, and why."""
    rejected = line.get("rejected")
    with ui.column().classes("tally-bubble gap-1" + (" tally-refused" if rejected else "")):
        with ui.row().classes("tally-row"):
            ui.label(str(line.get("name") or line.get("agent_id"))).classes("text-weight-bold")
            if line.get("status") != "accepted":
                badge(str(line.get("status")))
        if isinstance(rejected, Mapping):
            _refused(rejected)
        elif line.get("text"):
            ui.label(_without_evidence(str(line["text"]), line.get("evidence"))).classes("tally-text")
        else:
            ui.label(str(line.get("reason") or line.get("code") or "")).classes("tally-text tally-soft")
        await evidence_chips(house, line.get("check_receipt"), "" if rejected else str(line.get("text") or ""))


def _refused(rejected: Mapping[str, Any]) -> None:
    nearest = rejected.get("nearest")
    # The advice ends with the nearest line too; below it stands better.
    advice = str(rejected.get("reason")).partition(" Closest: ")[0]
    ui.label(f"{rejected.get('code')}: {advice}").classes("tally-bad tally-text")
    if isinstance(nearest, Mapping):
        ui.label(f"The nearest real line, {nearest.get('source')}:L{nearest.get('line')}:").classes("tally-soft")
        block(str(nearest.get("text", "")))
    with ui.expansion("What it said").classes("w-full"):
        ui.label(str(rejected.get("text", ""))).classes("tally-text tally-struck")


def _without_evidence(text: str, evidence: Any) -> str:
    """The chips say it better."""
    return text.replace(evidence, "").rstrip() if isinstance(evidence, str) and evidence else text


def round_end(each: Round, again: Callable[[int], None]) -> None:
    """The line under a round: its receipts, its issue, and how to go on if it did not come to its end."""
    with ui.row().classes("tally-row tally-round-end"):
        if each.state != "closed":
            badge(each.state)
            said = ENDS.get(each.state, each.state) + (f" {each.stop_hook}" if each.stop_hook else "")
            ui.label(said).classes("tally-soft tally-text")
            ui.button("Send again", icon="replay", on_click=lambda: again(each.number)).props("flat dense")
        ui.label(f"Round {each.number}: {len(each.receipts)} tool calls").classes("tally-soft")
        for receipt in each.receipts:
            ui.link(receipt[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")
        if each.issue_id:
            ui.link("Issue of this round", f"/issues/{each.issue_id}").classes("tally-chip")
