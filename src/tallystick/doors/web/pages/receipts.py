"""Receipts: search, open, verify, prove and download them."""

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson
from nicegui import run, ui

from tallystick.doors.presentation.outcomes import outcome_code
from tallystick.doors.web.components.bundle import bundling
from tallystick.doors.web.components.receipt_card import receipt_card, status_of
from tallystick.doors.web.components.states import empty, heading, section
from tallystick.doors.web.components.text import block
from tallystick.doors.web.context import NavigationItem, PageContext, Visitor
from tallystick.doors.web.frame import page
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.proof import Proof, proof_fault
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.record.report import AuditProblem, AuditReport
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.records import record
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


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    context.places.append(
        NavigationItem(path="/receipts", name="Receipts", icon="receipt_long", order=20, roles=AUDIT_ROLES)
    )

    @page(context, "/receipts", "Receipts", roles=AUDIT_ROLES)
    async def every(_visitor: Visitor, words: str = "") -> None:
        heading("Receipts", "Every call, run or refused: signed, chained, and here for good")
        if context.gate.ledger.size() == 0:
            empty(
                "No receipts yet",
                "Every tool call leaves one. Ask an agent something, or call a tool.",
                icon="receipt_long",
            )
            return
        _checking(context)
        await _List(context, words).show()

    @page(context, "/receipts/{receipt_id}", "Receipt", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, receipt_id: str) -> None:
        found = await run.io_bound(context.gate.ledger.find, receipt_id)
        if found is None:
            empty("There is no such receipt", "It may stand in another workspace's ledger.", icon="search_off")
            return
        heading("Receipt", f"Record {found.seq:,} of {context.gate.ledger.size():,}")
        receipt_card(found)
        _proving(context, found)
        if found.header["kind"] == "reply_check" and status_of(found.header) == "accepted":
            bundling(context, receipt_id, await run.io_bound(_reply_of, context, visitor, found) or "")

    return ("/receipts",)


class _List:
    """The list with its filters; older rows load on scrolling, new ones appear at the top."""

    def __init__(self, context: PageContext, words: str) -> None:
        self._context = context
        self._wanted = Wanted(words=words)
        self._feed = Feed(context.gate.ledger, self._wanted)
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
        self._feed = Feed(self._context.gate.ledger, self._wanted)
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


def _checking(context: PageContext) -> None:
    place = ui.column().classes("w-full")

    async def verify() -> None:
        button.disable()
        place.clear()
        with place:
            bar = ui.linear_progress(show_value=False).props('indeterminate aria-label="Checking"')
        report = await run.io_bound(verify_workspace, context.gate.workspace, context.gate.settings)
        bar.delete()
        button.enable()
        with place:
            if report is not None:
                audit_result(report, context.gate.ledger)

    button = ui.button("Verify everything now", icon="verified", on_click=verify).props("outline")


def _reply_of(context: PageContext, visitor: Visitor, check: Receipt) -> str:
    """Return the text of a checked reply if a conference that this visitor may read still has it."""
    conference = check.header.get("conference_id")
    if not conference:
        return ""
    for room in context.gate.rooms().values():
        access = room.conversation_access()
        text = None if access is None else access.reply_text(conference, check.receipt_id, visitor.caller)
        if text is not None:
            return text
    return ""


def _proving(context: PageContext, receipt: Receipt) -> None:
    section("Proof")
    place = ui.column().classes("w-full gap-2")

    async def prove() -> None:
        proof: Proof | None = await run.io_bound(context.gate.ledger.prove, receipt.receipt_id)
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
                "Download the proof",
                icon="download",
                on_click=lambda: ui.download.content(told, f"{receipt.receipt_id}.proof.json"),
            ).props("flat")

    with ui.row().classes("tally-row"):
        ui.button("Prove it", icon="account_tree", on_click=prove).props("outline")
        ui.button(
            "Download",
            icon="download",
            on_click=lambda: ui.download.content(receipt.flat_bytes(), f"{receipt.receipt_id}.json"),
        ).props("outline")


MORE = 200
"""Rows sent at once."""
CHUNK = 1_000
"""Records read at once, backwards."""


@record
class Wanted:
    """The filter."""

    words: str = ""
    """Each word must occur in the tool, session, agent, kind, code or id."""
    status: str = ""

    def fits(self, receipt: Receipt) -> bool:
        """Return whether a receipt matches."""
        header = receipt.header
        if self.status and status_of(header) != self.status:
            return False
        if not self.words:
            return True
        named = ("tool_id", "session_id", "agent_id", "kind", "receipt_id", "conference_id", "task_id")
        said = " ".join([*(str(header.get(name, "")) for name in named), outcome_code(header) or ""]).casefold()
        return all(word in said for word in self.words.casefold().split())


class Feed:
    """One reader's position in the log."""

    def __init__(self, ledger: Ledger, wanted: Wanted) -> None:
        self._ledger = ledger
        self._wanted = wanted
        self._top = ledger.size()
        self._rows = self._backwards(self._top)
        self.done = False
        """Whether the beginning of the log was reached."""

    def older(self, count: int) -> list[dict[str, Any]]:
        """Return the next rows back in time."""
        rows = list(islice(self._rows, count))
        self.done = len(rows) < count
        return rows

    def has_newer(self) -> bool:
        """Return whether there are new records; cheap."""
        return self._ledger.size() > self._top

    def newer(self) -> list[dict[str, Any]]:
        """Return the new rows, newest first."""
        found = [receipt for receipt in self._ledger.read(self._top) if receipt.seq >= self._top]
        self._top += len(found)
        return [row_of(receipt) for receipt in reversed(found) if self._wanted.fits(receipt)]

    def _backwards(self, end: int) -> Iterator[dict[str, Any]]:
        while end > 0:
            start = max(0, end - CHUNK)
            chunk = list(islice(self._ledger.read(start), end - start))
            yield from (row_of(receipt) for receipt in reversed(chunk) if self._wanted.fits(receipt))
            end = start


def row_of(receipt: Receipt) -> dict[str, Any]:
    """Convert a receipt to a row."""
    header = receipt.header
    status = status_of(header)
    shown = f"{status} ({outcome_code(header)})" if status == "failed" else status
    return {
        "id": receipt.receipt_id,
        "seq": receipt.seq,
        "when": str(header.get("timestamp", ""))[:19].replace("T", " "),
        "what": header.get("tool_id") or header["kind"],
        "status": shown,
        "session": header.get("session_id", ""),
        "agent": header.get("agent_id") or "",
    }


MOST = 20
MEANS = {
    "signature_invalid": "The record is not what was signed: somebody changed it, or wrote it without the key.",
    "chain_broken": "The record does not follow the one before it: something was put in, taken out or moved.",
    "sequence_broken": "A number is missing or stands twice: something was taken out or put in.",
    "payload_differs": "What was asked or came back is not what the record says.",
    "payload_missing": "What was asked or came back is gone, and no erasure says so.",
    "rolled_back": "Somebody outside has seen more records than there are: the end of the log was cut off.",
    "head_differs": "The head was made over other records than these.",
    "acknowledged_lost": "A record that was confirmed to its caller is gone.",
    "tree_differs": "The tree over all records is another than the one that was signed.",
    "checkpoint_differs": "A signed note was made over other records than these.",
    "view_differs": "The file of a session shows something else than the log holds.",
}
"""Explanations of problem codes; for other codes the reason in the report is shown."""


def audit_result(report: AuditReport, ledger: Ledger) -> None:
    """Show a report."""
    if report.ok:
        by = " and ".join(report.proved_by) or "nothing outside"
        words = f"All {report.size:,} receipts verify; proved up to {report.proved_up_to:,} by {by}."
        ui.label(words).classes("tally-card tally-good").props('role="status"')
        return
    with ui.column().classes("tally-card gap-2").props('role="alert"'):
        ui.label(f"The ledger does not verify: {len(report.problems)} found").classes("tally-bad text-weight-bold")
        section("What changed")
        for problem in report.problems[:MOST]:
            _problem(problem, ledger)


def _problem(problem: AuditProblem, ledger: Ledger) -> None:
    with ui.column().classes("gap-0 tally-problem"):
        where = problem.receipt_id or ("" if problem.seq is None else f"record {problem.seq}")
        ui.label(f"{problem.code} {where}".strip()).classes("tally-mono tally-bad")
        ui.label(MEANS.get(problem.code, problem.reason)).classes("tally-text")
        if problem.code in MEANS:
            ui.label(problem.reason).classes("tally-soft tally-text")
        before = _before(problem, ledger)
        if before is not None:
            ui.label(f"The last record before it that holds: {before}").classes("tally-soft tally-mono")


def _before(problem: AuditProblem, ledger: Ledger) -> str | None:
    """Return the last record before the problem that still verifies: later records cannot be relied on."""
    if problem.seq is None or problem.seq == 0:
        return None
    try:
        return next(iter(ledger.read(problem.seq - 1))).receipt_id
    except Exception:  # noqa: BLE001 - a damaged log may fail in any way, and this line is optional
        return None
