"""The start page: held calls, unread notifications, ledger problems and links to the other pages, updated live."""

from typing import Any

from nicegui import run, ui

from tallystick.doors.presentation.counts import counted
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.bell import page_of
from tallystick.doors.web.components.states import empty, failed, heading, section
from tallystick.doors.web.context import NavigationItem, PageContext, Visitor
from tallystick.doors.web.frame import page
from tallystick.errors import TallyError
from tallystick.gate.decide.approvals import Hold, State
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.storage.notifications import Notification, Notifications, grouped

SHOWN = 20
SOON_S = 0.8
WAYS = (
    ("/conference", "Ask the agents"),
    ("/workspace", "Look at the files"),
    ("/receipts", "Check the receipts"),
    ("/insight", "Look into tickets"),
    ("/memory", "See what is known"),
    ("/desk", "Answer customers"),
)


def register(context: PageContext) -> tuple[str, ...]:
    """Register the page."""
    context.places.append(
        NavigationItem(path="/", name="Attention", icon="notifications_active", order=0, roles=EVERY_ROLE)
    )

    @page(context, "/", "Attention", roles=EVERY_ROLE)
    async def attention(visitor: Visitor) -> None:
        heading("What needs attention")
        await _Attention(context, visitor).show()

    return ("/",)


class _Attention:
    """The open items, redrawn when one appears or disappears."""

    def __init__(self, context: PageContext, visitor: Visitor) -> None:
        self._context = context
        self._visitor = visitor
        self._news = Notifications(context.gate.workspace)
        self._seen: Any = None

    async def show(self) -> None:
        self._size = ui.label("").classes("tally-soft")
        self._place = ui.column().classes("w-full gap-2")
        await self._again()
        self._ways()
        ui.timer(SOON_S, self._again)

    def _ways(self) -> None:
        section("The way on")
        there = {place.path for place in self._context.places if self._visitor.may(place.roles)}
        with ui.row().classes("tally-row"):
            for path, words in WAYS:
                if path in there:
                    ui.link(words, path).classes("tally-chip")

    async def _again(self) -> None:
        self._size.text = f"{counted(self._context.gate.ledger.size(), 'receipt')} in this workspace"
        now = await run.io_bound(self._look)
        if now is None or now == self._seen:
            return
        self._seen = now
        obstacle, held, news = now
        self._place.clear()
        with self._place:
            if obstacle is not None:
                failed("The ledger takes no calls.", str(obstacle))
            self._held(held)
            self._told(news)
            if not (held or news or obstacle):
                advice = "Held calls, rejected replies and finished runs appear here."
                empty("Nothing waits for you", advice, icon="done_all")

    def _look(self) -> tuple[Any, tuple[Hold, ...], tuple[Notification, ...]]:
        # Held calls and notifications name calls and sessions of all users.
        told = self._visitor.may(AUDIT_ROLES)
        held = tuple(self._context.gate.approvals.list(state=State.HELD, limit=SHOWN, offset=0)) if told else ()
        waiting = {f"/approvals/{hold.approval_id}" for hold in held}
        try:
            unread = self._news.list(unread=True, limit=SHOWN) if told else ()
        except TallyError:
            unread = ()  # the bell reports that the file is damaged
        return self._context.gate.ledger.obstacle(), held, tuple(each for each in unread if each.link not in waiting)

    def _held(self, held: tuple[Hold, ...]) -> None:
        if held:
            section("Held calls")
        for hold in held:
            with ui.row().classes("tally-card tally-row"):
                badge("held")
                ui.label(hold.tool).classes("tally-mono")
                ui.label(f"session {hold.session.session_id}").classes("tally-soft")
                ui.space()
                ui.link("Look at it", f"/approvals/{hold.approval_id}").classes("tally-plain-button")

    def _told(self, news: tuple[Notification, ...]) -> None:
        if news:
            section("News")
        for group in grouped(news):
            one = group[0]
            with ui.row().classes("tally-card tally-row"):
                ui.label(one.source).classes("tally-badge tally-quiet")
                with ui.column().classes("gap-0"):
                    for each in group:
                        ui.label(each.text).classes("tally-text")
                ui.space()
                ui.label(one.created[:16].replace("T", " ")).classes("tally-soft")
                if one.link is not None:
                    ui.link("Look at it", page_of(one.link)).classes("tally-plain-button")
