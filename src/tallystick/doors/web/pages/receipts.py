"""Receipts: search, open, verify, prove and download them."""

import asyncio
from typing import Any

import orjson
from nicegui import run, ui

from tallystick.doors.web.context import PageContext, Place, Visitor
from tallystick.doors.web.feeds.receipts import MORE, Feed, Wanted
from tallystick.doors.web.frame import page
from tallystick.doors.web.parts.audit import audit_result
from tallystick.doors.web.parts.bundle import bundling
from tallystick.doors.web.parts.receipt_card import receipt_card, status_of
from tallystick.doors.web.parts.states import empty, heading, section
from tallystick.doors.web.parts.text import block
from tallystick.gate.record.proof import Proof, proof_fault
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.storage.ledger import verify_workspace

COLUMNS = [
    {"name": "seq", "label": "#", "field": "seq", "align": "right"},
    {"name": "when", "label": "When (UTC)", "field": "when", "align": "left"},
    {"name": "what", "label": "What", "field": "what", "align": "left"},
    {"name": "status", "label": "Came of it", "field": "status", "align": "left"},
    {"name": "session", "label": "Session", "field": "session", "align": "left"},
    {"name": "agent", "label": "Agent", "field": "agent", "align": "left"},
]
STATUSES = ["", "accepted", "transformed", "rejected", "failed", "held"]
SOON_S = 0.5
"""Seconds between two checks for new receipts."""


def register(house: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    house.places.append(Place(path="/receipts", name="Receipts", icon="receipt_long", order=20, roles=AUDIT_ROLES))

    @page(house, "/receipts", "Receipts", roles=AUDIT_ROLES)
    async def every(_visitor: Visitor, words: str = "") -> None:
        heading("Receipts", "Every call, run or refused: signed, chained, and here for good")
        if house.gate.ledger.size() == 0:
            empty(
                "No receipts yet", "Every tool call leaves one. Ask an agent something, or call a tool.",
                icon="receipt_long",
            )  # fmt: skip
            return
        _checking(house)
        await _List(house, words).show()

    @page(house, "/receipts/{receipt_id}", "Receipt", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, receipt_id: str) -> None:
        found = await run.io_bound(house.gate.ledger.find, receipt_id)
        if found is None:
            empty("There is no such receipt", "It may stand in another workspace's ledger.", icon="search_off")
            return
        heading("Receipt", f"Record {found.seq:,} of {house.gate.ledger.size():,}")
        receipt_card(found)
        _proving(house, found)
        if found.header["kind"] == "reply_check" and status_of(found.header) == "accepted":
            bundling(house, receipt_id, await run.io_bound(_reply_of, house, visitor, found) or "")

    return ("/receipts",)


class _List:
    """The list with its filters; older rows load on scrolling, new ones appear at the top."""

    def __init__(self, house: PageContext, words: str) -> None:
        self._house = house
        self._wanted = Wanted(words=words)
        self._feed = Feed(house.gate.ledger, self._wanted)
        # Scrolling triggers several requests before the first is done: one reads, and the others then see its result.
        self._reading = asyncio.Lock()

    async def show(self) -> None:
        with ui.row().classes("tally-row"):
            words = ui.input("Tool, session, agent or code", value=self._wanted.words).props(
                "dense outlined clearable debounce=300"
            )
            words.classes("col-grow").on_value_change(lambda event: self._narrow(words=event.value or ""))
            status = ui.select({"": "Whatever came of it", **{one: one for one in STATUSES if one}}, value="")
            status.props('dense outlined aria-label="What came of it"')
            status.on_value_change(lambda event: self._narrow(status=event.value or ""))
        self._table = ui.table(columns=COLUMNS, rows=[], row_key="id", pagination=0)
        self._table.props('virtual-scroll flat dense hide-bottom tabindex="0" aria-label="Receipts"')
        self._table.classes("tally-table tally-list")
        self._table.on("rowClick", lambda event: ui.navigate.to(f"/receipts/{event.args[1]['id']}"), [[], ["id"], None])
        self._table.add_slot("body-cell-seq", LINK)
        self._table.on("virtualScroll", self._scrolled, ["to"])
        self._note = ui.label("").classes("tally-soft").props('role="status"')
        await self._again()
        ui.timer(SOON_S, self._look)

    async def _narrow(self, **changed: str) -> None:
        self._wanted = Wanted(**{"words": self._wanted.words, "status": self._wanted.status, **changed})
        self._feed = Feed(self._house.gate.ledger, self._wanted)
        await self._again()

    async def _again(self) -> None:
        async with self._reading:
            self._table.rows = await run.io_bound(self._feed.older, MORE) or []
            self._say()

    async def _scrolled(self, event: Any) -> None:
        async with self._reading:
            if event.args["to"] >= len(self._table.rows) - MORE // 4 and not self._feed.done:
                self._table.add_rows(await run.io_bound(self._feed.older, MORE) or [])
                self._say()

    async def _look(self) -> None:
        async with self._reading:
            if self._feed.has_newer():
                new = await run.io_bound(self._feed.newer) or []
                self._table.rows = [*new, *self._table.rows]
                self._say()

    def _say(self) -> None:
        shown = len(self._table.rows)
        if shown == 0:
            self._note.text = "Nothing fits. Take a word away."
        else:
            self._note.text = f"{shown:,} shown" + ("" if self._feed.done else "; more come as you scroll")


LINK = """<q-td :props="props"><a class="tally-plain-button tally-mono" :href="'/receipts/' + props.row.id"
:aria-label="'Receipt ' + props.row.seq">{{ props.row.seq }}</a></q-td>"""
"""Rows are clickable; the link also works by keyboard. Vue renders the text in braces as plain text."""


def _checking(house: PageContext) -> None:
    place = ui.column().classes("w-full")

    async def verify() -> None:
        button.disable()
        place.clear()
        with place:
            bar = ui.linear_progress(show_value=False).props('indeterminate aria-label="Checking"')
        report = await run.io_bound(verify_workspace, house.gate.workspace, house.gate.settings)
        bar.delete()
        button.enable()
        with place:
            if report is not None:
                audit_result(report, house.gate.ledger)

    button = ui.button("Verify everything now", icon="verified", on_click=verify).props("outline")


def _reply_of(house: PageContext, visitor: Visitor, check: Receipt) -> str:
    """Return the text of a checked reply if a conference that this visitor may read still has it."""
    conference = check.header.get("conference_id")
    if not conference:
        return ""
    for room in house.gate.rooms().values():
        access = room.conversation_access()
        text = None if access is None else access.reply_text(conference, check.receipt_id, visitor.caller)
        if text is not None:
            return text
    return ""


def _proving(house: PageContext, receipt: Receipt) -> None:
    section("Proof")
    place = ui.column().classes("w-full gap-2")

    async def prove() -> None:
        proof: Proof | None = await run.io_bound(house.gate.ledger.prove, receipt.receipt_id)
        place.clear()
        with place:
            fault = "it could not be made" if proof is None else proof_fault(proof, None)
            if proof is None or fault is not None:
                ui.label(f"The proof does not hold: {fault}").classes("tally-bad").props('role="alert"')
                return
            words = f"It stands in the log: {len(proof.path)} hashes lead from this record to the signed root."
            ui.label(words).classes("tally-good").props('role="status"')
            block(proof.checkpoint.decode())
            told = orjson.dumps(proof.as_dict(), option=orjson.OPT_INDENT_2)
            ui.button(
                "Download the proof", icon="download",
                on_click=lambda: ui.download.content(told, f"{receipt.receipt_id}.proof.json"),
            ).props("flat")  # fmt: skip

    with ui.row().classes("tally-row"):
        ui.button("Prove it", icon="account_tree", on_click=prove).props("outline")
        ui.button(
            "Download", icon="download",
            on_click=lambda: ui.download.content(receipt.flat_bytes(), f"{receipt.receipt_id}.json"),
        ).props("outline")  # fmt: skip
