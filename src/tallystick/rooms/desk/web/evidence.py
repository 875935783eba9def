"""A piece of evidence: its words, where they stand, and whether they do; the document opens at them."""

from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from tallystick.doors.web.kit import PageContext, badge, context_label, file_view
from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.rooms.desk.room import KB_FOLDER, Desk
from tallystick.storage.files import FileSources

TEXTS = (".md", ".txt", ".html", ".htm")


def evidence_card(house: PageContext, room: Desk, piece: Mapping[str, Any]) -> None:
    """Show one piece."""
    source, snippet = str(piece.get("source", "")), str(piece.get("snippet", ""))
    with ui.column().classes("tally-card gap-1"):
        with ui.row().classes("tally-row"):
            ui.label(str(piece.get("evidence_id", ""))).classes("tally-mono")
            if source.endswith(TEXTS):
                _document(house, room, source, snippet)
            else:
                ui.label(source).classes("tally-mono tally-soft")
            badge("verified" if piece.get("holds", piece.get("quote_ok")) else "failed")
            if label := context_label(piece):
                ui.label(label).classes("tally-badge tally-warn")
            if piece.get("receipt_id"):
                ui.link("receipt", f"/receipts/{piece['receipt_id']}").classes("tally-chip")
        ui.label(snippet).classes("tally-text")


def _document(house: PageContext, room: Desk, source: str, snippet: str) -> None:
    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.icon("description").props('aria-hidden="true"')
        ui.label(source)
    folder = room.options.kb or KB_FOLDER
    chip.on("click", lambda: _open(house, f"{folder}/{source}", snippet))


async def _open(house: PageContext, path: str, snippet: str) -> None:
    source: Source | None = await run.io_bound(_read, house, path)
    with ui.dialog().props('aria-label="The document"') as dialog, ui.card().classes("tally-dialog"):
        with ui.row().classes("tally-row"):
            ui.label(path).classes("text-weight-bold")
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close"')
        if source is None:
            ui.label("The document is not there any more, or not in this workspace.").classes("tally-bad")
        else:
            first, last = _lines(source, snippet)
            file_view(source.lines, first, last)
    dialog.on("hide", dialog.delete)
    dialog.open()


def _lines(source: Source, snippet: str) -> tuple[int, int]:
    """The lines on which the words stand; the first, where they are not found as they are."""
    wanted = [line.strip() for line in snippet.splitlines() if line.strip()]
    lines = [line.strip() for line in source.lines]
    found = [number for number, line in enumerate(lines, start=1) if line and any(one in line for one in wanted)]
    return (found[0], found[-1]) if found else (1, 1)


def _read(house: PageContext, path: str) -> Source | None:
    try:
        return FileSources(house.gate.workspace).read(path)
    except PathRefused:
        return None
