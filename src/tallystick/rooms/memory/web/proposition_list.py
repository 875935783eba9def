"""What memory holds: all of it in a list that loads while scrolling, or what answers a question."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import events, run, ui

from tallystick.doors.web.kit import PageContext, empty, section
from tallystick.rooms.memory.recall import listings
from tallystick.rooms.memory.room import Memory

if TYPE_CHECKING:
    from tallystick.rooms.memory.recall.answers import RecallAnswer

COLOURS = {
    "accepted": "#1d8a4e",
    "provisional": "#4a7fc1",
    "tentative": "#75828c",
    "contested": "#b98100",
    "deprecated": "#9a6b3f",
    "rejected": "#c4463c",
}
"""Legible as areas on light and dark paper; words beside them say the same."""
MEANS = {
    "accepted": "may be relied on",
    "provisional": "supported, not enough to rely on",
    "tentative": "hardly supported",
    "contested": "sources disagree",
    "deprecated": "was so once, too old now",
    "rejected": "not so",
}


def state_badge(status: str) -> ui.label:
    """A state."""
    shown = ui.label(status).classes(f"tally-badge tally-state tally-state-{status if status in COLOURS else 'none'}")
    shown.props["title"] = MEANS.get(status, "")
    return shown


WINDOW = 100
"""Rows that are fetched at once."""
LOOK_S = 0.5
ASKED = 40
COLUMNS = [
    {"name": "status", "label": "State", "field": "status", "align": "left"},
    {"name": "subject", "label": "Subject", "field": "subject", "align": "left"},
    {"name": "predicate", "label": "Predicate", "field": "predicate", "align": "left"},
    {"name": "object", "label": "Object", "field": "object", "align": "left"},
    {"name": "belief", "label": "Belief", "field": "belief", "align": "right"},
]
DOUBTS = {
    "nothing_found": "Nothing is known about that.",
    "hardly_related": "Nothing here clearly speaks of that.",
    "said_of_another": "This may be about somebody else than the question.",
}
STATE_CELL = """<q-td :props="props"><span :class="'tally-badge tally-state tally-state-' + props.row.status">
{{ props.row.status }}</span> <span v-if="props.row.superseded" class="tally-soft">superseded</span></q-td>"""
LINK_CELL = """<q-td :props="props"><a class="tally-plain-link" :href="'/memory/' + props.row.id">
{{ props.row.subject }}</a></q-td>"""
"""Vue writes what stands in braces as text."""


class PropositionList:
    """All propositions, in one window."""

    def __init__(self, context: PageContext, room: Memory) -> None:
        self._context = context
        self._room = room
        self._status = self._words = ""
        self._total = 0
        self._seen = -1
        # Scrolling asks several times before the first answer is there: one reads, the others then see what it brought.
        self._loading = asyncio.Lock()

    async def show(self) -> None:
        """Build it."""
        words = ui.input("Ask memory, or give words").props("outlined clearable debounce=300").classes("w-full")
        words.on_value_change(lambda event: self._ask(str(event.value or "")))
        self._found = ui.column().classes("w-full gap-2").props('role="status"')
        self._whole = ui.column().classes("w-full gap-2")
        with self._whole:
            self._states = ui.row().classes("tally-row").props('role="group" aria-label="Only these states"')
            self._table = ui.table(columns=COLUMNS, rows=[], row_key="id", pagination=0)
            self._table.props('virtual-scroll flat dense hide-bottom tabindex="0" aria-label="Propositions"')
            self._table.classes("tally-table tally-list")
            self._table.add_slot("body-cell-status", STATE_CELL)
            self._table.add_slot("body-cell-subject", LINK_CELL)
            self._table.on("virtualScroll", self._scrolled, ["to"])
            self._table.on(
                "rowClick", lambda event: ui.navigate.to(f"/memory/{event.args[1]['id']}"), [[], ["id"], None]
            )
            self._note = ui.label("").classes("tally-soft").props('role="status"')
        await self._look()
        ui.timer(LOOK_S, self._look)

    async def _look(self) -> None:
        """Read again what is shown when the log has grown, here or elsewhere."""
        size = self._context.gate.ledger.size()
        if size == self._seen:
            return
        self._seen = size
        counts: dict[str, Any] = await run.io_bound(listings.status, self._room.projection, self._room.now()) or {}
        self._chips(counts.get("states", {}), counts.get("counts", {}).get("propositions", 0))
        await self._window()

    async def _window(self) -> None:
        async with self._loading:
            rows, self._total = await self._read(0, max(WINDOW, len(self._table.rows)))
            self._table.rows = rows
            self._say()

    async def _scrolled(self, event: events.GenericEventArguments) -> None:
        async with self._loading:
            there = len(self._table.rows)
            if there < self._total and event.args["to"] >= there - WINDOW // 4:
                rows, self._total = await self._read(there, WINDOW)
                self._table.add_rows(rows)
                self._say()

    async def _read(self, offset: int, limit: int) -> tuple[list[dict[str, Any]], int]:
        wanted = self._status or None

        def read() -> tuple[list[dict[str, Any]], int]:
            return listings.propositions(
                self._room.projection, status=wanted, subject=None, limit=limit, offset=offset, now=self._room.now()
            )

        found, total = await run.io_bound(read) or ([], 0)
        return [_row(one) for one in found], total

    def _chips(self, states: Mapping[str, int], every: int) -> None:
        self._states.clear()
        with self._states:
            self._chip("", "all", every)
            for status in COLOURS:
                if states.get(status):
                    self._chip(status, status, states[status])

    def _chip(self, status: str, name: str, many: int) -> None:
        pressed = "true" if status == self._status else "false"
        with ui.element("button").classes("tally-filter").props(f'type="button" aria-pressed="{pressed}"') as chip:
            if status:
                ui.element("span").classes("tally-dot").style(f"background:{COLOURS[status]}")
            ui.label(f"{name} {many:,}")

        async def only() -> None:
            self._status = status
            self._seen = -1
            self._table.rows = []
            await self._look()

        chip.on("click", only)

    def _say(self) -> None:
        shown = len(self._table.rows)
        more = f"{shown:,} of {self._total:,}; more come as you scroll"
        self._note.text = more if shown < self._total else f"{shown:,} shown"

    # -- asking --------------------------------------------------------------------------------------------------------

    async def _ask(self, words: str) -> None:
        self._words = words
        self._whole.set_visibility(not words.strip())
        if not words.strip():
            self._found.clear()
            return
        answer: RecallAnswer | None = await run.io_bound(
            lambda: self._room.queries.ask(query=words[:2_000], limit=ASKED, tokens=4_000)
        )
        if answer is None or words != self._words:
            # Somebody typed on; what they typed then is asked already.
            return
        self._found.clear()
        with self._found:
            if answer.doubt is not None:
                ui.label(DOUBTS.get(answer.doubt, answer.doubt)).classes("tally-warn")
            _facts([fact.as_dict() for fact in answer.facts])
            _passages([passage.as_dict() for passage in answer.passages])


def nothing_yet() -> None:
    """Memory is empty."""
    empty(
        "Memory is empty", 'Write what you know below, or: tally memory add "Ada lives in Lisbon."', icon="psychology"
    )


def _row(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": one["id"],
        "status": one["status"],
        "subject": one["subject"],
        "object": one["object"],
        "predicate": str(one["predicate"]).replace("_", " "),
        "belief": f"{one['belief'] // 100} %",
        "superseded": one["superseded_by"] is not None,
    }


def _facts(facts: Sequence[Mapping[str, Any]]) -> None:
    for fact in facts:
        with ui.row().classes("tally-row tally-line"):
            state_badge(str(fact["status"]))
            ui.link(says(fact), f"/memory/{fact['id']}").classes("text-weight-medium")
            ui.space()
            ui.label(str(fact["label"])).classes("tally-soft")


def _passages(passages: Sequence[Mapping[str, Any]]) -> None:
    if passages:
        section("What was said")
    for said in passages:
        with ui.column().classes("tally-quote gap-0"):
            ui.label(str(said["text"])).classes("tally-text")
            with ui.row().classes("tally-row"):
                more = "" if said["sources"] == 1 else f" and {said['sources'] - 1} more"
                ui.label(f"{said['source_id']}{more}, {said['observed_at'][:10]}").classes("tally-soft")
                ui.link("receipt", f"/receipts/{said['receipt_id']}").classes("tally-chip")


def says(one: Mapping[str, Any]) -> str:
    """A proposition as a sentence."""
    return f"{one['subject']} {str(one['predicate']).replace('_', ' ')} {one['object']}"
