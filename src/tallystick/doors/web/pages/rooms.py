"""Rooms: list the installed rooms and their tools. Every tool can be called here, through the gate."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson
from nicegui import run, ui

from tallystick.app.discovery import closed_room, manifests
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.schema_form import SchemaForm
from tallystick.doors.web.components.states import empty, heading, section
from tallystick.doors.web.components.text import block
from tallystick.doors.web.components.tool_calls import here, propose, tell_trouble
from tallystick.doors.web.context import NavigationItem, PageContext, Visitor
from tallystick.doors.web.frame import page
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card

OWN, OUTSIDE = "This workspace", "Outside (MCP)"
SHOWN_CHARS = 20_000
FIRST_WORDS = 160


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    context.places.append(NavigationItem(path="/rooms", name="Rooms", icon="extension", order=80, roles=EVERY_ROLE))

    @page(context, "/rooms", "Rooms", roles=EVERY_ROLE)
    async def every(visitor: Visitor) -> None:
        heading("Rooms", "What is installed, and what it can do; every call goes through the gate")
        rooms: Mapping[str, list[Card]] = await run.io_bound(_rooms, context) or {}
        if not rooms:
            empty(
                "No tools here",
                'Name files with tools in tallystick.toml: [gate] tools = ["tools.py"]',
                icon="extension",
            )
        for name, cards in rooms.items():
            section(name)
            for card in cards:
                _line(context, visitor, card)
        _closed_rooms(context)

    @page(context, "/rooms/{tool}", "Tool", roles=EVERY_ROLE)
    async def one(visitor: Visitor, tool: str) -> None:
        card = next((card for card in context.gate.tools() if card.name == tool), None)
        if card is None:
            empty("There is no such tool", "The Rooms page lists all there are.", icon="search_off")
            return
        _Calling(context, card).show(visitor)

    return ("/rooms",)


def _closed_rooms(context: PageContext) -> None:
    """List the rooms that are off or not installed, with the command that changes it."""
    for name, manifest in manifests().items():
        if name not in context.gate.rooms():
            section(name.capitalize())
            ui.label(str(closed_room(manifest))).classes("tally-soft tally-text")


def _rooms(context: PageContext) -> dict[str, list[Card]]:
    """Group the registered tools by room."""
    grouped: dict[str, list[Card]] = {}
    for card in context.gate.tools():
        room = context.gate.room_of(card.name)
        where = room.capitalize() if room else OUTSIDE if card.origin == "upstream" else OWN
        grouped.setdefault(where, []).append(card)
    return dict(sorted(grouped.items(), key=lambda each: (each[0] in {OWN, OUTSIDE}, each[0])))


def _line(context: PageContext, visitor: Visitor, card: Card) -> None:
    with ui.row().classes("tally-row tally-line"):
        ui.link(card.name, f"/rooms/{quote(card.name)}").classes("tally-mono text-weight-bold")
        _marks(context, visitor, card)
        words = " ".join(card.description.split())
        ui.label(words if len(words) <= FIRST_WORDS else words[:FIRST_WORDS] + "…").classes("tally-soft tally-text")


def _marks(context: PageContext, visitor: Visitor, card: Card) -> None:
    """Show a tool's effect and its policy decision."""
    ui.label(card.effect).classes("tally-badge tally-quiet")
    verdict = context.gate.policy.rule_for(card).verdict
    if verdict != "allow":
        badge(str(verdict or "deny"))
    if card.roles and not visitor.may(card.roles):
        ui.label(f"needs {', '.join(sorted(card.roles))}").classes("tally-badge tally-bad")


class _Calling:
    """One tool: its form, and the result of a call."""

    def __init__(self, context: PageContext, card: Card) -> None:
        self._context = context
        self._card = card

    def show(self, visitor: Visitor) -> None:
        card = self._card
        heading(card.name)
        with ui.row().classes("tally-row"):
            _marks(self._context, visitor, card)
        ui.label(card.description.strip()).classes("tally-text")
        with ui.column().classes("tally-card gap-2"):
            self._form = SchemaForm(card.input_schema)
            if not card.input_schema.get("properties"):
                ui.label("It takes no arguments.").classes("tally-soft")
            self._button = ui.button("Call it", icon="play_arrow", on_click=self._call).props("no-caps")
        self._place = ui.column().classes("w-full gap-2").props('role="status" aria-label="What came of it"')

    async def _call(self) -> None:
        self._button.disable()
        try:
            outcome = await propose(self._context, here(), self._card.name, self._form.values())
        finally:
            self._button.enable()
        self._place.clear()
        with self._place:
            if outcome is not None:
                _came(outcome)
            if not tell_trouble(outcome) and outcome is not None:
                _result(outcome.result)


def _came(outcome: Outcome) -> None:
    with ui.row().classes("tally-row"):
        badge("held" if outcome.held is not None else "failed" if outcome.failure is not None else outcome.status)
        if outcome.failure is not None:
            ui.label(outcome.code or "").classes("tally-soft")
        ui.link(outcome.receipt_id[:17] + "…", f"/receipts/{outcome.receipt_id}").classes("tally-chip")


def _result(result: Any) -> None:
    ui.label("Came back").classes("tally-soft")
    shown = (
        result if isinstance(result, str) else orjson.dumps(result, option=orjson.OPT_INDENT_2, default=str).decode()
    )
    block(shown[:SHOWN_CHARS] + (" …" if len(shown) > SHOWN_CHARS else ""))
