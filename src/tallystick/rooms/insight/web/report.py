"""The report page: text, tables, quotes and charts, with a recheck of every number."""

from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from tallystick.doors.web.kit import bars, failed, text
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.ticket import ticket_chip

if TYPE_CHECKING:
    from tallystick.rooms.insight.report.blocks import Block, Line, Section, Table
    from tallystick.rooms.insight.report.recheck import Recheck
    from tallystick.rooms.insight.report.report import Report

MOST = 20
"""Differences that are shown."""


def show_report(room: Insight, report: "Report", file_name: str) -> None:
    """Show it whole, with what can be done with it."""
    _tools(room, report, file_name)
    for line in report.head:
        ui.label(line).classes("tally-soft tally-text")
    with ui.element("article").classes("tally-report"):
        for section in report.sections:
            _section(room, section)


def _tools(room: Insight, report: "Report", file_name: str) -> None:
    with ui.row().classes("tally-row"):
        check = ui.button("Check every number again", icon="calculate").props("outline")
        ui.button(
            "Markdown", icon="download", on_click=lambda: ui.download.content(report.markdown(), f"{file_name}.md")
        ).props('flat aria-label="Download as Markdown"')
        ui.button(
            "HTML", icon="download", on_click=lambda: ui.download.content(report.html(), f"{file_name}.html")
        ).props('flat aria-label="Download as HTML"')
    place = ui.column().classes("w-full").props('role="status"')

    async def again() -> None:
        check.disable()
        found: Recheck | None = await run.io_bound(lambda: room.analyses.recheck(report.markdown()))
        check.enable()
        place.clear()
        with place:
            if found is not None:
                _rechecked(found)

    check.on_click(again)


def _rechecked(found: "Recheck") -> None:
    if found.ok:
        words = f"All {found.checked} numbers and quotes reproduced from the tickets as they are now."
        ui.label(words).classes("tally-card tally-good")
        return
    failed(f"{len(found.differences)} of {found.checked} differ.", "The tickets are not what they were.")
    for one in found.differences[:MOST]:
        now = "it cannot be computed any more" if one.now is None else f"now {one.now}"
        ui.label(f"{one.note_id} {one.label}: the report says {one.said}, {now}").classes("tally-text")


def _section(room: Insight, section: "Section") -> None:
    text(f"h{min(4, max(2, section.level))}", section.title)
    for block in section.blocks:
        _block(room, block)


def _block(room: Insight, block: "Block") -> None:
    from tallystick.rooms.insight.report.blocks import Chart, Paragraph, Table  # noqa: PLC0415 - numpy loads with it

    if isinstance(block, Paragraph):
        with ui.element("p").classes("tally-text"):
            _line(block.line)
    elif isinstance(block, Table):
        _table(block)
    elif isinstance(block, Chart):
        ui.label(block.title).classes("text-weight-medium")
        bars(block.title, [(label, float(noted.figure.value)) for label, noted in block.bars], upright=block.upright)
    else:
        for said in block.said:
            with ui.column().classes("tally-quote gap-1"):
                ui.label(said.words).classes("tally-text")
                ticket_chip(room, said.ticket_id)


def _table(table: "Table") -> None:
    wide = ui.element("div").classes("tally-wide").props('tabindex="0" role="region" aria-label="Table"')
    with wide, ui.element("table").classes("tally-report-table"):
        with ui.element("thead"), ui.element("tr"):
            for name in table.head:
                text("th", name).props('scope="col"')
        with ui.element("tbody"):
            for row in table.rows:
                with ui.element("tr"):
                    for cell in row:
                        with ui.element("td"):
                            _line(cell)


def _line(line: "Line") -> None:
    for piece in line:
        if isinstance(piece, str):
            text("span", piece)
        else:
            number: Any = text("span", piece.figure.shown).classes("tally-number")
            number.props["title"] = str(piece.figure.query)
