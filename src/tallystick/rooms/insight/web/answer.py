"""An answer about tickets: each sentence with the figures and the words of tickets that bear it out."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tallystick.doors.web.kit import counted, text
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.ticket import ticket_chip

if TYPE_CHECKING:
    from tallystick.rooms.insight.nouns import Analysis

CHIPS = 6


def show_answer(room: Insight, analysis: "Analysis") -> None:
    """Show one."""
    answer = analysis.answer
    with ui.column().classes("tally-card gap-2"):
        text("h3", analysis.question).classes("tally-third tally-text")
        when = datetime.fromtimestamp(analysis.created_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        said = f"{when}, {counted(analysis.ticket_count, 'ticket')} read, {answer.get('backend', '')}"
        ui.label(said).classes("tally-soft")
        if not answer.get("sentences"):
            ui.label("Nothing of what was said is borne out by the tickets.").classes("tally-warn")
        for sentence in answer.get("sentences", ()):
            _sentence(room, sentence)
        for refused in answer.get("refused", ()):
            with ui.row().classes("tally-row"):
                ui.label(str(refused["text"])).classes("tally-struck tally-text")
                ui.label(str(refused["code"])).classes("tally-badge tally-bad")


def _sentence(room: Insight, sentence: Mapping[str, Any]) -> None:
    with ui.column().classes("gap-1 w-full"):
        ui.label(str(sentence["text"])).classes("tally-text")
        tickets, receipts = sentence.get("tickets", ())[:CHIPS], sentence.get("receipts", ())[:CHIPS]
        if tickets or receipts:
            with ui.row().classes("tally-row tally-evidence"):
                for ticket in tickets:
                    ticket_chip(room, int(ticket["ticket_id"]), str(ticket.get("quote", "")))
                for receipt in receipts:
                    ui.link(str(receipt)[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")
        _figures(sentence.get("figures", ()))


def _figures(figures: Sequence[Mapping[str, Any]]) -> None:
    """Each number with the query that gives it again, for those who want to see."""
    if not figures:
        return
    with ui.element("details").classes("tally-details"):
        many = len(figures)
        text("summary", "1 number, and its query" if many == 1 else f"{many} numbers, and their queries")
        for figure in figures:
            ui.label(f"{figure['shown']}  =  {figure['query']}").classes("tally-mono tally-text tally-soft")
