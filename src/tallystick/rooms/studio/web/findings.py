"""Findings beside the text, and file search. Both are calls through the gate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from nicegui import ui

from tallystick.doors.web.kit import PageContext, Visitor, badge, failed
from tallystick.gate.execute.outcome import Outcome

SESSION = "page"
FOUND = 20


async def called(context: PageContext, visitor: Visitor, tool: str, args: Mapping[str, Any]) -> Outcome:
    """Call a tool on behalf of the visitor."""
    return await context.gate.call(tool, args, session=SESSION, caller=visitor.caller)


def told(outcome: Outcome) -> None:
    """Show why a call has no result."""
    if outcome.rejection is not None:
        failed(f"refused: {outcome.rejection.code}", outcome.rejection.reason)
    elif outcome.failure is not None:
        failed("The tool failed", " ".join(filter(None, (outcome.failure.message, outcome.failure.hint))))
    elif outcome.held is not None:
        failed("The call is held for a person", f"See /approvals/{outcome.held.approval_id}")


def left_out(outcomes: Sequence[Outcome]) -> None:
    """Say which files of the book were not compared with."""
    results = [outcome.result for outcome in outcomes if outcome.ok]
    complaints = {(one["path"], one["code"]): one for result in results for one in result["complaints"]}
    for one in complaints.values():
        if one["left_out"]:
            ui.label(f"left out: {one['path']}: {one['message']}").classes("tally-soft tally-text")


def search_box(context: PageContext, visitor: Visitor) -> None:
    """Search files by content."""
    words = ui.input("Find in the files").props("outlined dense clearable").classes("w-full")
    place = ui.column().classes("w-full gap-1").props('role="status"')

    async def search() -> None:
        place.clear()
        if not (words.value or "").strip():
            return
        wanted = {"search_criteria": words.value, "scan_mode": "DEEP_SCAN", "max_results": FOUND}
        outcome = await called(context, visitor, "file_locator", wanted)
        with place:
            if not outcome.ok:
                told(outcome)
                return
            files = outcome.result.get("results", [])
            if not files:
                ui.label("Nothing found.").classes("tally-soft")
            for found in files:
                _hit(found)

    words.on("keydown.enter", search)


def _hit(found: Mapping[str, Any]) -> None:
    path = str(found.get("path", ""))
    first: Mapping[str, Any] = next(iter(found.get("hits", ())), {})
    line = first.get("line")
    target = f"/workspace?path={quote(path)}" + (f"&line={int(line)}" if isinstance(line, int) else "")
    ui.link(path, target).classes("tally-file")
    if first.get("text"):
        ui.label(str(first["text"])[:120]).classes("tally-soft tally-text")


def finding_card(finding: Mapping[str, Any], go: Callable[[str, int], None]) -> None:
    """One finding with both lines; a click goes there."""
    with ui.column().classes("tally-card gap-1"):
        with ui.row().classes("tally-row"):
            badge(str(finding.get("severity", "")))
            ui.label(str(finding.get("rule_id", ""))).classes("tally-mono tally-soft")
            if finding.get("waived"):
                ui.label("waived").classes("tally-badge tally-quiet")
        ui.label(str(finding.get("message", ""))).classes("tally-text")
        for side in ("canon", "scene"):
            if isinstance(finding.get(side), Mapping):
                _place(finding[side], go)


def _place(place: Mapping[str, Any], go: Callable[[str, int], None]) -> None:
    path, line = str(place.get("path", "")), int(place.get("line", 1))
    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.label(f"{path}:{line}").classes("tally-mono")
        ui.label(f"“{str(place.get('quote', ''))[:140]}”")
    chip.on("click", lambda: go(path, line))
