"""What a person is given beside a ticket on the page: its clock, the conversation, similar tickets, ready replies."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from tallystick.doors.web.kit import section
from tallystick.rooms.desk.assistance.card import TicketCard, span_in_words


def facts_of(card: TicketCard) -> str:
    """Return customer, age, clock and owner of a ticket that waits, in a line."""
    facts = [card.customer or "unknown customer", f"{span_in_words(card.age_ms)} old"]
    facts += ["overdue"] if card.overdue else []
    facts += [f"with {card.owner}"] if card.owner else []
    return " · ".join(facts)


def show_facts(card: TicketCard) -> None:
    """Show the card of a ticket, and why it has no draft."""
    ui.label(facts_of(card)).classes("tally-badge tally-warn" if card.overdue else "tally-badge tally-quiet")
    if card.no_draft:
        ui.label(f"No draft: {card.no_draft}").classes("tally-soft tally-text")


def show_conversation(beside: Mapping[str, Any]) -> None:
    """Show what was written before in the conversation."""
    earlier = beside.get("conversation") or []
    if not earlier:
        return
    section("Earlier in this conversation")
    for one in earlier:
        with ui.column().classes("tally-card gap-1"):
            ui.label(str(one["by"])).classes("tally-soft")
            ui.label(str(one["text"])).classes("tally-text")


def show_similar(beside: Mapping[str, Any], use: Callable[[str], None] | None) -> None:
    """Show answered tickets that are like this one; `use` puts an answer into the draft."""
    similar = beside.get("similar") or []
    if not similar:
        return
    section("Similar answered tickets")
    for one in similar:
        with ui.column().classes("tally-card gap-1"):
            ui.link(str(one["message"])[:160], f"/desk/{one['ticket_id']}")
            ui.label(str(one["answer"])).classes("tally-text")
            _use_button("Use this answer", str(one["answer"]), use)


def show_ready_texts(beside: Mapping[str, Any], replies: Mapping[str, str], use: Callable[[str], None]) -> None:
    """Offer a question back to the customer, and the owner's ready replies."""
    question = beside.get("question")
    if question:
        with ui.row().classes("tally-row"):
            ui.label(f"To ask the customer: {question}").classes("tally-text")
            _use_button("Use this question", str(question), use)
    if replies:
        chosen = ui.select(sorted(replies), label="Ready replies").props("outlined dense").classes("w-full")
        chosen.on_value_change(lambda event: use(replies[event.value]) if event.value in replies else None)


def _use_button(label: str, text: str, use: Callable[[str], None] | None) -> None:
    if use is not None:
        ui.button(label, icon="content_paste", on_click=lambda: use(text)).props("flat dense no-caps")
