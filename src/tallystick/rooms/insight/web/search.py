"""Search as you type: the nearest tickets, each with an explanation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from tallystick.doors.web.kit import failed, text
from tallystick.errors import ToolError
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.ticket import open_ticket

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Ticket

FOUND = 10
SHOWN = 600
"""Characters of a ticket in the list."""
Row = tuple["Ticket", Mapping[str, Any]]


class Search:
    """One dataset's search, in one window."""

    def __init__(self, room: Insight, dataset_id: int) -> None:
        self._room = room
        self._dataset_id = dataset_id
        self._asked = 0

    async def show(self, words: str) -> None:
        """Build it."""
        field = ui.input("What are you looking for?", value=words).props("outlined clearable debounce=250 autofocus")
        field.classes("w-full").on_value_change(lambda event: self._search(str(event.value or "")))
        self._note = ui.label("").classes("tally-soft").props('role="status"')
        self._place = ui.column().classes("w-full gap-2")
        await self._search(words)

    async def _search(self, words: str) -> None:
        self._asked += 1
        mine = self._asked
        if not words.strip():
            self._place.clear()
            self._note.text = "Words or a whole sentence: tickets are found by meaning, not by letters alone."
            return
        try:
            rows: list[Row] = await run.io_bound(self._find, words) or []
        except ToolError as error:
            if mine == self._asked:
                self._note.text = ""
                self._place.clear()
                with self._place:
                    failed(str(error), error.hint or "Make vectors first.")
            return
        if mine != self._asked:
            # Somebody typed on; what they typed then is looked for already.
            return
        self._note.text = f"The {len(rows)} nearest tickets" if rows else "Nothing is near to that."
        self._place.clear()
        with self._place:
            for ticket, why in rows:
                self._hit(ticket, why)

    def _find(self, words: str) -> list[Row]:
        from tallystick.rooms.insight.search.model import SearchRequest  # noqa: PLC0415 - numpy loads when somebody searches

        asked = SearchRequest(dataset_id=self._dataset_id, query_text=words[:2_000], k=FOUND, rerank=True)
        hits = self._room.searches.search(asked).hits
        ids = [hit.ticket.ticket_id for hit in hits]
        reasons = {one["ticket_id"]: one for one in self._room.searches.why(asked, ids)} if ids else {}
        return [(hit.ticket, {**reasons.get(hit.ticket.ticket_id, {}), "score": hit.score}) for hit in hits]

    def _hit(self, ticket: "Ticket", why: Mapping[str, Any]) -> None:
        said = ticket.said
        with ui.column().classes("tally-card gap-1"):
            with ui.row().classes("tally-row"):
                with ui.element("button").classes("tally-chip").props('type="button"') as chip:
                    ui.label(f"ticket {ticket.ticket_id}")
                chip.on("click", lambda: open_ticket(self._room, ticket.ticket_id))
                for each in (said.department, said.product, said.category):
                    if each:
                        ui.label(each).classes("tally-badge tally-quiet")
                ui.space()
                ui.label(f"{100 * max(0.0, float(why['score'])):.0f} % near").classes("tally-soft")
            if said.summary:
                ui.label(said.summary).classes("text-weight-medium tally-text")
            _marked(said.text[:SHOWN], why.get("marks", ()))
            _because(why)


def _marked(words: str, marks: Sequence[Mapping[str, Any]]) -> None:
    with ui.element("p").classes("tally-text tally-marked"):
        for piece, mark in _pieces(words, marks):
            if mark is None:
                text("span", piece)
            else:
                shown = text("mark", piece).classes("tally-close" if mark["kind"] == "close" else "")
                shown.props["title"] = f"near to “{mark['because']}”"


def _pieces(words: str, marks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any] | None]]:
    place = 0
    for mark in marks:
        start, end = int(mark["start"]), int(mark["end"])
        if start < place or end > len(words):
            continue
        if start > place:
            yield words[place:start], None
        yield words[start:end], mark
        place = end
    if place < len(words):
        yield words[place:], None


def _because(why: Mapping[str, Any]) -> None:
    same = sorted({str(mark["because"]) for mark in why.get("marks", ()) if mark["kind"] == "same"})
    close = sorted(
        {f"{mark['text'].casefold()} ≈ {mark['because']}" for mark in why.get("marks", ()) if mark["kind"] == "close"}
    )
    said = []
    if same:
        said.append("shares " + ", ".join(same[:6]))
    if close:
        said.append("means nearly the same: " + ", ".join(close[:6]))
    if why.get("sentence"):
        said.append(f"nearest sentence: “{str(why['sentence'])[:200]}”")
    ui.label("Why: " + ("; ".join(said) or "near in meaning as a whole")).classes("tally-soft tally-text")
