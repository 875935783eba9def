"""Receipts: look for them, open one, check it now, prove it, take it away."""

from typing import Any

from nicegui import run, ui

from tallystick.doors.web.frame import page
from tallystick.doors.web.house import House, Place, Visitor
from tallystick.doors.web.parts.receipt_card import receipt_card, status_of
from tallystick.doors.web.parts.states import empty, heading
from tallystick.gate.record.receipt import Receipt

ROLES = ("auditor", "admin")
FIRST = 200
COLUMNS = [
    {"name": "seq", "label": "#", "field": "seq", "align": "right"},
    {"name": "when", "label": "When", "field": "when", "align": "left"},
    {"name": "what", "label": "Tool", "field": "what", "align": "left"},
    {"name": "status", "label": "Came of it", "field": "status", "align": "left"},
    {"name": "session", "label": "Session", "field": "session", "align": "left"},
]


def register(house: House) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/receipts", name="Receipts", icon="receipt_long", roles=ROLES))

    @page(house, "/receipts", "Receipts", roles=ROLES)
    async def every(_visitor: Visitor) -> None:
        heading("Receipts", "Every call, run or refused, signed and chained")
        rows = await run.io_bound(_newest, house)
        if not rows:
            empty("No receipts yet", "Every tool call leaves one. Try: tally call file_locator …", icon="receipt_long")
            return
        table = ui.table(columns=COLUMNS, rows=rows, row_key="id", pagination=0).props("virtual-scroll flat dense")
        table.classes("tally-table").style("height: 70vh")
        table.on("rowClick", lambda event: ui.navigate.to(f"/receipts/{event.args[1]['id']}"))

    @page(house, "/receipts/{receipt_id}", "Receipt", roles=ROLES)
    async def one(_visitor: Visitor, receipt_id: str) -> None:
        found = await run.io_bound(house.gate.ledger.find, receipt_id)
        if found is None:
            empty("There is no such receipt", "It may stand in another workspace's ledger.", icon="search_off")
            return
        receipt_card(found)

    return ("/receipts",)


def _newest(house: House) -> list[dict[str, Any]]:
    ledger = house.gate.ledger
    last = list(ledger.read(max(0, ledger.size() - FIRST)))
    return [_row(receipt) for receipt in reversed(last)]


def _row(receipt: Receipt) -> dict[str, Any]:
    header = receipt.header
    return {
        "id": receipt.receipt_id, "seq": receipt.seq, "when": str(header.get("timestamp", ""))[:19].replace("T", " "),
        "what": header.get("tool_id") or header["kind"], "status": status_of(header),
        "session": header.get("session_id", ""),
    }  # fmt: skip
