"""Desk: tickets by phase, and the review pane where a person decides with the evidence beside the draft."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import run, ui

from tallystick.doors.web.frame import page
from tallystick.doors.web.house import House, Place, Visitor
from tallystick.doors.web.parts.badge import badge
from tallystick.doors.web.parts.states import empty, failed, heading, section
from tallystick.rooms.desk.measuring import figures
from tallystick.rooms.desk.nouns import Review
from tallystick.rooms.desk.review import Before
from tallystick.rooms.desk.room import Desk
from tallystick.turns.agents.problem import Problem

SOON_S = 0.9
SHOWN = 60
"""Tickets of one column that are sent at once."""
COLUMNS = (
    ("TRIAGE", ("pending", "running"), "Triage"), ("TOOL", ("pending", "running"), "Gathering"),
    ("", ("review",), "For a person"), ("REPLY", ("pending", "running"), "Replying"),
    ("", ("done",), "Done"), ("", ("blocked", "failed"), "Blocked or failed"),
)  # fmt: skip


def register(house: House) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/desk", name="Desk", icon="support_agent"))

    @page(house, "/desk", "Desk")
    async def board(visitor: Visitor) -> None:
        heading("Desk", "Every answer rests on a document; what cannot be settled waits for you")
        room = house.room("desk")
        if not isinstance(room, Desk):
            empty("The desk is not installed", "pip install 'tallystick[all]'", icon="block")
            return
        await _Board(room, visitor).show()

    @page(house, "/desk/{ticket_id}", "Ticket")
    async def one(visitor: Visitor, ticket_id: str) -> None:
        room = house.room("desk")
        found = room.office.tickets.show(ticket_id) if isinstance(room, Desk) else None
        if found is None or not isinstance(room, Desk):
            empty("There is no such ticket", "It may stand in another workspace.", icon="search_off")
            return
        await _Ticket(house, room, visitor, found).show()

    return ("/desk",)


class _Board:
    """The tickets by phase."""

    def __init__(self, room: Desk, visitor: Visitor) -> None:
        self._room = room
        self._visitor = visitor
        self._seen: Any = None

    async def show(self) -> None:
        self._asking()
        self._place = ui.element("div").classes("tally-board")
        await self._again()
        ui.timer(SOON_S, self._again)

    def _asking(self) -> None:
        with ui.row().classes("tally-row"):
            text = ui.input("A customer writes…").props("outlined dense maxlength=5000").classes("col-grow")

            async def take() -> None:
                if not (text.value or "").strip():
                    return
                event = {"type": "message", "content": text.value, "actor": self._visitor.caller.subject}
                got = await run.io_bound(self._room.office.intake.take, event)
                if got is not None and got.status == "queued":
                    text.value = ""
                elif got is not None:
                    ui.notify(f"{got.status}: {got.reason}", type="warning")
                await self._again()

            text.on("keydown.enter", take)
            ui.button("Take it", icon="inbox", on_click=take).props("outline")

    async def _again(self) -> None:
        now = await run.io_bound(self._look)
        if now is None or now == self._seen:
            return
        self._seen = now
        counts, columns = now
        self._place.clear()
        with self._place:
            if not any(total for _, total in columns):
                empty("No tickets yet", "Write one above, or: tally desk import tickets.csv", icon="support_agent")
            for (_, _, title), (tickets, total) in zip(COLUMNS, columns, strict=True):
                _column(title, tickets, total)
        del counts

    def _look(self) -> tuple[dict[str, Any], list[tuple[list[tuple[str, str, str, str]], int]]]:
        with self._room.store.reading() as tx:
            columns = []
            for kind, statuses, _ in COLUMNS:
                found, total = tx.list(status=statuses, kind=kind or None, limit=SHOWN)
                lines = [
                    (one.ticket_id, str(one.kind or ""), one.status, " ".join(one.content.split())[:120])
                    for one in found
                ]
                columns.append((lines, total))
            return figures(tx) | {"oldest_review_ms": None}, columns


def _column(title: str, tickets: list[tuple[str, str, str, str]], total: int) -> None:
    with ui.column().classes("tally-column gap-2"):
        section(f"{title} {total:,}")
        with ui.column().classes("tally-column-list gap-2").props(f'tabindex="0" role="region" aria-label="{title}"'):
            for ticket_id, kind, status, words in tickets:
                with ui.link(target=f"/desk/{ticket_id}").classes("tally-card tally-ticket"):
                    with ui.row().classes("tally-row"):
                        badge(status)
                        ui.label(kind).classes("tally-soft")
                    ui.label(words or "(no text)").classes("tally-text")
            if total > len(tickets):
                ui.label(f"and {total - len(tickets):,} more").classes("tally-soft")


class _Ticket:
    """One ticket; before a person where one is asked."""

    def __init__(self, house: House, room: Desk, visitor: Visitor, found: Mapping[str, Any]) -> None:
        self._house = house
        self._room = room
        self._visitor = visitor
        self._found = found
        self._id = str(found["id"])

    async def show(self) -> None:
        beside = self._found["_desk"]
        heading(str(self._found.get("event", {}).get("type") or "Ticket"), self._id)
        with ui.row().classes("tally-row"):
            badge(str(self._found.get("status", "")))
            ui.label(str(beside["kind"] or "")).classes("tally-badge tally-quiet")
            verdict = beside["verdict"]
            if verdict:
                badge(str(verdict["status"]))
                ui.label(f"{verdict['rule_id']}: {verdict['reason']}").classes("tally-text")
        with ui.element("div").classes("tally-two"):
            with ui.column().classes("gap-2"):
                section("The customer wrote")
                ui.label(str(self._found.get("event", {}).get("content", ""))).classes("tally-card tally-text")
                await self._deciding()
            with ui.column().classes("gap-2"):
                section("Evidence")
                self._evidence()
        ui.link("Receipts of this ticket", "/receipts").classes("tally-soft")

    def _evidence(self) -> None:
        shown = self._room.reviews.show(self._id)
        pieces: Any = shown.evidence if isinstance(shown, Before) else _claimed(self._found)
        if not pieces:
            ui.label("None was found.").classes("tally-soft")
        for piece in pieces:
            with ui.column().classes("tally-card gap-1"):
                with ui.row().classes("tally-row"):
                    ui.label(str(piece.get("evidence_id", ""))).classes("tally-mono")
                    ui.label(str(piece.get("source", ""))).classes("tally-mono tally-soft")
                    badge("verified" if piece.get("holds", piece.get("quote_ok")) else "failed")
                ui.label(str(piece.get("snippet", ""))).classes("tally-text")
                if piece.get("receipt_id"):
                    ui.link("receipt", f"/receipts/{piece['receipt_id']}").classes("tally-chip")

    async def _deciding(self) -> None:
        shown = await run.io_bound(self._room.reviews.show, self._id)
        if not isinstance(shown, Before):
            return
        review = shown.review
        section("For a person")
        ui.label(f"{review.rule_id}: {review.reason}").classes("tally-text")
        if review.state not in {"waiting", "taken"}:
            ui.label(f"{review.state} by {review.person or 'nobody'}").classes("tally-soft")
            ui.label(review.draft).classes("tally-card tally-text")
            return
        self._text = ui.textarea("The reply", value=review.draft).props("outlined autogrow").classes("w-full")
        self._place = ui.column().classes("w-full gap-2")
        if not self._visitor.is_person:
            failed("Deciding needs a person.", "Log in with the start-up token that `tally serve` printed.")
            ui.link("Log in", f"/login?next=/desk/{self._id}")
            return
        self._buttons(review)

    def _buttons(self, review: Review) -> None:
        with ui.row().classes("tally-row"):
            if review.state == "taken":
                ui.label(f"in the hands of {review.person}").classes("tally-soft")
            ui.button("Take", icon="pan_tool", on_click=self._take).props('outline aria-keyshortcuts="t"')
            ui.button("Send", icon="send", on_click=self._send).props('color="positive" aria-keyshortcuts="a"')
            ui.button("Reject", icon="close", on_click=self._reject).props(
                'outline color="negative" aria-keyshortcuts="r"'
            )
            ui.button("More evidence", icon="search", on_click=self._more).props('outline aria-keyshortcuts="m"')
        ui.label("Keys: t takes, a sends, r rejects, m asks for more").classes("tally-soft")
        ui.keyboard(self._key, ignore=["input", "select", "textarea", "button"])

    async def _key(self, event: Any) -> None:
        if not event.action.keydown or event.action.repeat or event.modifiers.ctrl or event.modifiers.meta:
            return
        act = {"t": self._take, "a": self._send, "r": self._reject, "m": self._more}.get(str(event.key))
        if act is not None:
            await act()

    async def _take(self) -> None:
        await self._do(lambda: self._room.reviews.take(self._id, caller=self._visitor.caller))

    async def _send(self) -> None:
        shown = await run.io_bound(self._room.reviews.show, self._id)
        text = self._text.value or ""
        if isinstance(shown, Before) and shown.review.draft == text:
            await self._do(lambda: self._room.reviews.approve(self._id, caller=self._visitor.caller))
        else:
            await self._do(lambda: self._room.reviews.edit(self._id, text, caller=self._visitor.caller))

    async def _reject(self) -> None:
        await self._do(
            lambda: self._room.reviews.reject(self._id, caller=self._visitor.caller, reason="rejected on the page")
        )

    async def _more(self) -> None:
        await self._do(lambda: self._room.reviews.more(self._id, caller=self._visitor.caller))

    async def _do(self, how: Callable[[], Review | Problem]) -> None:
        after = await run.io_bound(how)
        self._place.clear()
        if isinstance(after, Problem):
            with self._place:
                # What was typed stays where it is.
                failed(after.code, after.message)
            return
        ui.navigate.to(f"/desk/{self._id}")


def _claimed(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    outputs = found.get("metadata", {}).get("final_outputs", {})
    context = outputs.get("tool_context", {}) if isinstance(outputs, Mapping) else {}
    pieces = context.get("evidence", []) if isinstance(context, Mapping) else []
    return [piece for piece in pieces if isinstance(piece, Mapping)]
