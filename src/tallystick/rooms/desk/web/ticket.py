"""The ticket page: message, draft and decision beside the evidence."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.doors.web.kit import (
    PageContext,
    Visitor,
    badge,
    context_label,
    failed,
    file_view,
    heading,
    here,
    section,
)
from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.gate.role_names import DESK_READERS
from tallystick.rooms.desk.model import Review
from tallystick.rooms.desk.review import ReviewItem
from tallystick.rooms.desk.room import KB_FOLDER, Desk
from tallystick.rooms.desk.web.review_help import show_conversation, show_facts, show_ready_texts, show_similar
from tallystick.storage.files import FileSources

TEXTS = (".md", ".txt", ".html", ".htm")
SOON_S = 0.9
"""Who may see what waits for people."""
OPEN = frozenset({"waiting", "taken"})
UNSUPPORTED = "unsupported_sentence"
LONGEST = 90
Deciding = Callable[[], Review | Problem]


class TicketView:
    """One ticket in one window; before a person where one is asked."""

    def __init__(self, house: PageContext, room: Desk, visitor: Visitor, found: Mapping[str, Any]) -> None:
        self._house = house
        self._room = room
        self._visitor = visitor
        self._found = found
        self._id = str(found["id"])

    async def show(self) -> None:
        """Build it."""
        event = self._found.get("event", {})
        heading(_short(str(event.get("content") or event.get("type") or "Ticket")), self._id)
        shown = await run.io_bound(self._room.reviews.show, self._id)
        before = shown if isinstance(shown, ReviewItem) and self._visitor.may(DESK_READERS) else None
        self._facts(before)
        with ui.element("div").classes("tally-two"):
            with ui.column().classes("gap-2 tally-grow"):
                section("The customer wrote")
                ui.label(str(event.get("content", ""))).classes("tally-card tally-text")
                if before is not None:
                    show_conversation(before.beside or {})
                    self._deciding(before)
            with ui.column().classes("gap-2 tally-grow"):
                section("Evidence")
                self._evidence(before)
                if before is not None:
                    decides = before.review.state in OPEN and self._visitor.is_person
                    show_similar(before.beside or {}, self._use if decides else None)

    def _facts(self, before: ReviewItem | None) -> None:
        beside = self._found["_desk"]
        with ui.row().classes("tally-row"):
            badge(str(self._found.get("status", "")))
            ui.label(str(beside["kind"] or "").lower()).classes("tally-badge tally-quiet")
            verdict = beside["verdict"]
            if verdict:
                badge(str(verdict["status"]))
                ui.label(f"{verdict['rule_id']}: {verdict['reason']}").classes("tally-text")
            if before is not None:
                show_facts(before.card)

    def _evidence(self, before: ReviewItem | None) -> None:
        pieces: Any = _claimed(self._found) if before is None else before.evidence
        if not pieces:
            ui.label("None was found.").classes("tally-soft")
        for piece in pieces:
            evidence_card(self._house, self._room, piece)

    # -- deciding ------------------------------------------------------------------------------------------------------

    def _deciding(self, before: ReviewItem) -> None:
        review = before.review
        section("The reply")
        if review.state not in OPEN:
            with ui.row().classes("tally-row"):
                badge(review.state)
                ui.label(f"by {review.person or 'nobody'}: {review.reason}").classes("tally-soft tally-text")
            ui.label(review.draft).classes("tally-card tally-text")
            return
        self._draft, self._stands = review.draft, (review.state, review.person)
        label = "The draft; every sentence needs its evidence behind it"
        self._text = ui.textarea(label, value=review.draft).props("outlined autogrow").classes("w-full")
        self._place = ui.column().classes("w-full gap-2").props('role="status"')
        if not self._visitor.is_person:
            with self._place:
                failed("Deciding needs a person.", "Log in with the start-up token that `tally serve` printed.")
                ui.link("Log in", f"/login?next=/desk/{self._id}")
            return
        show_ready_texts(before.beside or {}, self._room.reviews.help.replies(), self._use)
        self._buttons(review)
        ui.timer(SOON_S, self._look)

    def _use(self, text: str) -> None:
        """Put a ready text into the draft, for a person to go on with."""
        self._text.value = text

    def _buttons(self, review: Review) -> None:
        with ui.row().classes("tally-row"):
            take = ui.button("Take", icon="pan_tool", on_click=self._take).props('outline aria-keyshortcuts="t"')
            ui.button("Send", icon="send", on_click=self._send).props('color="positive" aria-keyshortcuts="a"')
            ui.button("Reject", icon="close", on_click=self._ask_reason).props(
                'outline color="negative" aria-keyshortcuts="r"'
            )
            ui.button("More evidence", icon="search", on_click=self._more).props('outline aria-keyshortcuts="m"')
            ui.button("Give to…", icon="person_add", on_click=self._ask_whom).props("outline")
        if review.state == "taken":
            take.text = "Keep it"
            ui.label(f"In the hands of {review.person}").classes("tally-badge tally-warn")
        ui.label("Keys: t takes, a sends, r rejects, m asks for more").classes("tally-soft")
        ui.keyboard(self._key, ignore=["input", "select", "textarea"])
        self._form = ui.column().classes("w-full gap-2")

    async def _key(self, event: Any) -> None:
        if not event.action.keydown or event.action.repeat or event.modifiers.ctrl or event.modifiers.meta:
            return
        if event.key == "r":
            self._ask_reason()
            return
        act = {"t": self._take, "a": self._send, "m": self._more}.get(str(event.key))
        if act is not None:
            await act()

    async def _take(self) -> None:
        await self._do(lambda: self._room.reviews.take(self._id, caller=self._visitor.caller))

    async def _send(self, *, insist: bool = False) -> None:
        reviews, text, who = self._room.reviews, self._text.value or "", self._visitor.caller
        if text == self._draft and not insist:
            await self._do(lambda: reviews.approve(self._id, caller=who))
        else:
            await self._do(lambda: reviews.edit(self._id, text, caller=who, insist=insist))

    def _ask_reason(self) -> None:
        self._form.clear()
        with self._form:
            why = ui.input("Why is nothing to be sent?").classes("w-full").props("outlined autofocus maxlength=500")

            async def reject() -> None:
                reason, who = (why.value or "").strip(), self._visitor.caller
                if not reason:
                    why.props('error error-message="Say why"')
                    return
                await self._do(lambda: self._room.reviews.reject(self._id, caller=who, reason=reason))

            why.on("keydown.enter", reject)
            ui.button("Reject", on_click=reject).props('color="negative"')

    def _ask_whom(self) -> None:
        self._form.clear()
        with self._form:
            whom = ui.input("Whose is it from now on?").classes("w-full").props("outlined autofocus maxlength=200")

            async def give() -> None:
                to, who = (whom.value or "").strip(), self._visitor.caller
                if not to:
                    whom.props('error error-message="Give a name"')
                    return
                await self._do(lambda: self._room.reviews.reassign(self._id, to, caller=who))

            whom.on("keydown.enter", give)
            ui.button("Give", on_click=give)

    async def _more(self) -> None:
        await self._do(lambda: self._room.reviews.more(self._id, caller=self._visitor.caller))

    async def _do(self, how: Deciding) -> None:
        visitor = self._house.visitor(here())
        if visitor is None or not visitor.is_person:
            with self._place:
                failed("You are not logged in any more.", "Log in again; what you typed is still here.")
            return
        after = await run.io_bound(how)
        self._place.clear()
        if isinstance(after, Problem):
            with self._place:
                # What was typed stays where it is.
                failed(after.code.replace("_", " "), after.message)
                if after.code == UNSUPPORTED:
                    ui.button("Send it all the same", on_click=lambda: self._send(insist=True)).props("outline")
            return
        ui.navigate.to(f"/desk/{self._id}")

    async def _look(self) -> None:
        """Notify when another person takes or decides the review meanwhile."""
        review: Review | None = await run.io_bound(self._read)
        if review is None or (review.state, review.person) == self._stands:
            return
        self._stands = (review.state, review.person)
        self._place.clear()
        with self._place:
            failed(f"{review.state} by {review.person or 'nobody'} meanwhile.", "What you typed is still here.")
            ui.link("See how it stands now", f"/desk/{self._id}")

    def _read(self) -> Review | None:
        with self._room.store.reading() as tx:
            return tx.review(self._id, lock=False)


def _claimed(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    outputs = found.get("metadata", {}).get("final_outputs", {})
    context = outputs.get("tool_context", {}) if isinstance(outputs, Mapping) else {}
    pieces = context.get("evidence", []) if isinstance(context, Mapping) else []
    return [piece for piece in pieces if isinstance(piece, Mapping)]


def _short(words: str) -> str:
    plain = " ".join(words.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"


def evidence_card(house: PageContext, room: Desk, piece: Mapping[str, Any]) -> None:
    """Show one piece."""
    source, snippet = str(piece.get("source", "")), str(piece.get("snippet", ""))
    with ui.column().classes("tally-card gap-1"):
        with ui.row().classes("tally-row"):
            ui.label(str(piece.get("evidence_id", ""))).classes("tally-mono")
            if source.endswith(TEXTS):
                _document(house, room, source, snippet)
            else:
                ui.label(source).classes("tally-mono tally-soft")
            badge("verified" if piece.get("holds", piece.get("quote_ok")) else "failed")
            if label := context_label(piece):
                ui.label(label).classes("tally-badge tally-warn")
            if piece.get("receipt_id"):
                ui.link("receipt", f"/receipts/{piece['receipt_id']}").classes("tally-chip")
        ui.label(snippet).classes("tally-text")


def _document(house: PageContext, room: Desk, source: str, snippet: str) -> None:
    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.icon("description").props('aria-hidden="true"')
        ui.label(source)
    folder = room.options.kb or KB_FOLDER
    chip.on("click", lambda: _open(house, f"{folder}/{source}", snippet))


async def _open(house: PageContext, path: str, snippet: str) -> None:
    source: Source | None = await run.io_bound(_read, house, path)
    with ui.dialog().props('aria-label="The document"') as dialog, ui.card().classes("tally-dialog"):
        with ui.row().classes("tally-row"):
            ui.label(path).classes("text-weight-bold")
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close"')
        if source is None:
            ui.label("The document is not there any more, or not in this workspace.").classes("tally-bad")
        else:
            first, last = _lines(source, snippet)
            file_view(source.lines, first, last)
    dialog.on("hide", dialog.delete)
    dialog.open()


def _lines(source: Source, snippet: str) -> tuple[int, int]:
    """The lines that contain the words; the first line if they are not found."""
    wanted = [line.strip() for line in snippet.splitlines() if line.strip()]
    lines = [line.strip() for line in source.lines]
    found = [number for number, line in enumerate(lines, start=1) if line and any(one in line for one in wanted)]
    return (found[0], found[-1]) if found else (1, 1)


def _read(house: PageContext, path: str) -> Source | None:
    try:
        return FileSources(house.gate.workspace).read(path)
    except PathRefused:
        return None
