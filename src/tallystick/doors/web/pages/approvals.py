"""Approvals: show the calls that wait for approval, and answer them. Answering runs nothing; the caller continues."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from nicegui import run, ui

from tallystick.app.approvals import Revealed
from tallystick.doors.presentation.requests import shown_arguments
from tallystick.doors.presentation.visible import hidden_in, visible, visible_json
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.states import empty, failed, heading, section
from tallystick.doors.web.components.text import block
from tallystick.doors.web.context import NavigationItem, PageContext, Visitor
from tallystick.doors.web.frame import page
from tallystick.gate.decide.approvals import LIVE, Hold, State, Unmoved
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.gate.session import Caller

CHANNEL = "token"
MOST = 100
SOON_S = 0.8
GLIMPSE = 90
"""Maximum characters of the arguments in the list."""
WHY = {
    "not_found": "There is no such request any more.",
    "not_waiting": "Somebody has answered it already.",
    "expired": "Its time is over; the caller has to ask again.",
    "same_call_waits": "The same call with these arguments waits already.",
    "bad_arguments": "These arguments do not fit the tool.",
    "record_mismatch": "The stored request is not the one the ledger recorded. Verify the ledger, then reject it.",
    "not_masked": "Nothing is masked there.",
}


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    context.places.append(
        NavigationItem(path="/approvals", name="Approvals", icon="how_to_reg", order=25, roles=AUDIT_ROLES)
    )

    @page(context, "/approvals", "Approvals", roles=AUDIT_ROLES)
    async def every(_visitor: Visitor) -> None:
        heading("Approvals", "Calls that policy holds until a person has answered")
        place = ui.column().classes("w-full gap-2")
        seen: list[tuple[str, str]] = []

        async def show() -> None:
            found: tuple[Hold, ...] = await run.io_bound(context.gate.approvals.list, limit=MOST) or ()
            now = [(hold.approval_id, hold.state.value) for hold in found]
            if now == seen and place.default_slot.children:
                return
            seen[:] = now
            place.clear()
            with place:
                _list(found)

        await show()
        ui.timer(SOON_S, show)

    @page(context, "/approvals/{approval_id}", "Approval", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, approval_id: str) -> None:
        hold: Hold | None = await run.io_bound(context.gate.approvals.get, approval_id)
        if hold is None:
            empty("There is no such request", "It may have been answered long ago.", icon="search_off")
            return
        _Answering(context, visitor, hold).show()

    return ("/approvals",)


def _list(found: tuple[Hold, ...]) -> None:
    waiting = [hold for hold in found if hold.state is State.HELD]
    if not waiting:
        empty("Nothing is held", "A call that policy wants a person to see appears here by itself.", icon="task_alt")
    for hold in waiting:
        with ui.row().classes("tally-card tally-row"):
            badge("held")
            ui.link(visible(hold.tool), f"/approvals/{hold.approval_id}").classes("tally-mono text-weight-bold")
            ui.label(_glimpse(hold)).classes("tally-mono tally-soft tally-cut")
            ui.space()
            ui.label(_left(hold)).classes("tally-soft")
    others = [hold for hold in found if hold.state is not State.HELD]
    if others:
        section("Answered")
        for hold in others:
            with ui.row().classes("tally-row tally-line"):
                badge(hold.state.value)
                ui.link(visible(hold.tool), f"/approvals/{hold.approval_id}").classes("tally-mono")
                ui.label(visible(hold.person or "")).classes("tally-soft")


class _Answering:
    """One held call and the buttons to approve, reject or edit it."""

    def __init__(self, context: PageContext, visitor: Visitor, hold: Hold) -> None:
        self._context = context
        self._visitor = visitor
        self._hold = hold

    def show(self) -> None:
        hold = self._hold
        asked_by = visible(hold.session.agent_id or hold.caller)
        heading(visible(hold.tool), f"asked by {asked_by} in session {hold.session.session_id}")
        with ui.column().classes("tally-card gap-2"):
            with ui.row().classes("tally-row"):
                badge(hold.state.value)
                ui.label(visible(f"because: {hold.reason}" + (f" at {hold.pointer}" if hold.pointer else "")))
                ui.space()
                left = ui.label(_left(hold)).classes("tally-soft").props('role="timer"')
                ui.timer(1.0, lambda: left.set_text(_left(hold)))
            block(_arguments(hold))
            for found in hidden_in(shown_arguments(hold)):
                ui.label(f"Characters that cannot be seen: {found}").classes("tally-warn")
            self._masked()
        self._place = ui.column().classes("w-full gap-2")
        with self._place:
            if hold.state is not State.HELD:
                answered = visible(f"{hold.state.value} by {hold.person or 'nobody'}: {hold.note or ''}")
                ui.label(answered).classes("tally-soft")
            elif not self._visitor.is_person:
                failed("Answering needs a person.", "Log in with the start-up token that `tally serve` printed.")
                ui.link("Log in", f"/login?next=/approvals/{hold.approval_id}").classes("tally-plain-button")
            else:
                self._answers()

    def _masked(self) -> None:
        """Add a button for a person to reveal each masked argument, on this page only; revealing is recorded."""
        if not self._visitor.is_person or self._hold.state not in LIVE:
            return
        for field in self._context.gate.approvals.masked(self._hold):
            place = ui.column().classes("w-full gap-1")
            with place:
                label = f"Reveal {visible(field)}"
                ui.button(label, icon="visibility", on_click=partial(self._reveal, field, place)).props("flat no-caps")

    async def _reveal(self, field: str, place: ui.column) -> None:
        who = self._visitor.caller.subject
        if not self._visitor.is_person:
            return
        reveal = partial(self._context.gate.approvals.reveal, self._id, field, person=who, channel=CHANNEL)
        shown = await run.io_bound(reveal)
        place.clear()
        with place:
            if isinstance(shown, Revealed):
                ui.label(f"{visible(field)}, as the call holds it; that you looked is recorded").classes("tally-soft")
                block(visible_json(shown.value, indent=2))
            elif shown is not None:
                failed(WHY.get(shown.why, shown.why), "Nothing was shown.")

    def _answers(self) -> None:
        with ui.row().classes("tally-row"):
            ui.button("Approve", icon="check", on_click=self._approve).props('color="positive" aria-keyshortcuts="a"')
            ui.button("Reject", icon="close", on_click=self._ask_reason).props(
                'outline color="negative" aria-keyshortcuts="r"'
            )
            ui.button("Change and approve", icon="edit", on_click=self._ask_arguments).props(
                'outline aria-keyshortcuts="e"'
            )
        ui.label("Keys: a approves, r rejects, e changes").classes("tally-soft")
        ui.keyboard(self._key, ignore=["input", "select", "textarea", "button"])
        self._form = ui.column().classes("w-full gap-2")

    async def _key(self, event: Any) -> None:
        if not event.action.keydown or event.action.repeat or event.modifiers.ctrl or event.modifiers.meta:
            return
        if event.key == "a":
            await self._approve()
        elif event.key == "r":
            self._ask_reason()
        elif event.key == "e":
            self._ask_arguments()

    async def _approve(self) -> None:
        await self._say(lambda who: self._context.gate.approvals.approve(self._id, person=who, channel=CHANNEL))

    def _ask_reason(self) -> None:
        self._form.clear()
        with self._form:
            why = ui.input("Why not? The caller is told").classes("w-full").props("outlined autofocus maxlength=1000")

            async def reject() -> None:
                reason = (why.value or "").strip()
                if not reason:
                    why.props('error error-message="Say why"')
                    return
                await self._say(
                    lambda who: self._context.gate.approvals.reject(
                        self._id, person=who, channel=CHANNEL, reason=reason
                    )
                )

            why.on("keydown.enter", reject)
            ui.button("Reject", on_click=reject).props('color="negative"')

    def _ask_arguments(self) -> None:
        self._form.clear()
        with self._form:
            text = ui.textarea("The arguments to allow instead (JSON)", value=_arguments(self._hold))
            text.classes("w-full tally-mono").props("outlined autogrow autofocus")

            async def change() -> None:
                try:
                    args = orjson.loads(text.value or "")
                except orjson.JSONDecodeError as error:
                    text.props(f'error error-message="This is no JSON: line {error.lineno}, column {error.colno}"')
                    return
                if not isinstance(args, dict):
                    text.props('error error-message="Arguments are an object: {…}"')
                    return
                await self._say(
                    lambda who: self._context.gate.approvals.edit(self._id, args, person=who, channel=CHANNEL)
                )

            ui.button("Approve these", on_click=change).props('color="positive"')

    @property
    def _id(self) -> str:
        return self._hold.approval_id

    async def _say(self, answer: Callable[[str], Hold | Unmoved]) -> None:
        who: Caller = self._visitor.caller
        if not self._visitor.is_person:
            return
        result = await run.io_bound(answer, who.subject)
        if isinstance(result, Unmoved):
            with self._place:
                failed(WHY.get(result.why, result.why), "Nothing was changed by this.")
            return
        ui.navigate.to("/approvals")


def _arguments(hold: Hold) -> str:
    """Return all arguments: the person who answers must be able to read what is approved."""
    return visible_json(shown_arguments(hold), indent=2)


def _glimpse(hold: Hold) -> str:
    text = visible_json(shown_arguments(hold))
    return text if len(text) <= GLIMPSE else text[:GLIMPSE] + " …"


def _left(hold: Hold) -> str:
    seconds = hold.expires // 1000 - int(time.time())
    if hold.state is not State.HELD:
        return ""
    if seconds <= 0:
        return "expired"
    hours, minutes = divmod(seconds // 60, 60)
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min {seconds % 60} s left"
