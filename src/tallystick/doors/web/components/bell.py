"""The notification bell, updated live. The read state is shared by all sessions."""

from collections.abc import Sequence

from nicegui import run, ui

from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.person import person
from tallystick.doors.web.components.text import text
from tallystick.doors.web.context import PageContext
from tallystick.errors import TallyError
from tallystick.storage.notifications import LEVELS, Notification, Notifications, grouped

SOON_S = 0.5
"""Seconds between two checks of the file's stamp: new notifications appear within a second."""
SHOWN = 20
MANY = 99
MENU = 'anchor="bottom right" self="top right" role="dialog" aria-label="Notifications"'
"""A dialog for screen readers, not a menu: it contains text, not only commands."""


class Bell:
    """The button in the frame, its counter and its list."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._kept = Notifications(context.gate.workspace)
        self._stamp: object = ()

    def show(self) -> None:
        """Build the bell in the current container; the first check sets the counter."""
        self._button = ui.button(icon="notifications").props('flat round dense aria-label="Notifications"')
        with self._button:
            self._number = ui.badge("", color="negative").props("floating").classes("tally-bell-number")
            self._number.set_visibility(False)
            with ui.menu().props(MENU).classes("tally-bell"):
                self._place = ui.column().classes("gap-0 w-full").props('role="list" aria-label="Notifications"')
        ui.timer(SOON_S, self._look)
        ui.timer(0, self._look, once=True)

    async def _look(self) -> None:
        stamp = self._kept.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            unread = await run.io_bound(self._kept.count, unread=True) or 0
            found = await run.io_bound(self._kept.list, limit=SHOWN) or ()
        except TallyError as error:
            self._say_damaged(error)
            return
        self._count(unread)
        self._place.clear()
        with self._place:
            self._head(unread)
            for group in grouped(found):
                self._line(group)

    def _count(self, unread: int) -> None:
        self._number.set_visibility(unread > 0)
        self._number.text = str(unread) if unread <= MANY else f"{MANY}+"
        self._button.props["aria-label"] = f"Notifications, {unread} unread" if unread else "Notifications"
        self._button.update()

    def _head(self, unread: int) -> None:
        with ui.row().classes("tally-row tally-bell-head").props('role="listitem"'):
            ui.label(f"{unread} unread" if unread else "Nothing new").classes("text-weight-bold")
            ui.space()
            if unread:
                mark = text("button", "Mark all read").props('type="button"').classes("tally-plain-button")
                mark.on("click", lambda: self._read(None, None))

    def _line(self, group: Sequence[Notification]) -> None:
        one = group[0]
        line = ui.column().classes("tally-bell-line gap-0" + ("" if one.read else " tally-unread"))
        with line.props('role="listitem"'):
            with ui.row().classes("tally-row"):
                level = max((each.level for each in group), key=LEVELS.index)
                if level != "info":
                    badge("high" if level == "error" else "medium").set_text(level)
                ui.label(one.source).classes("tally-soft")
                ui.space()
                ui.label(one.created[:16].replace("T", " ")).classes("tally-soft")
            if one.link is None:
                ui.label(one.text).classes("tally-text")
                return
            go = text("button", one.text).props('type="button"').classes("tally-plain-button tally-bell-go")
            go.on("click", lambda: self._read(group, one.link))
            for each in group[1:]:
                ui.label(each.text).classes("tally-text")

    async def _read(self, group: Sequence[Notification] | None, link: str | None) -> None:
        # The pressed line is redrawn as soon as it is marked as read, so get the client first.
        window = ui.context.client
        try:
            # An agent on this machine may open the page too, and must not hide notifications from a person.
            if person(self._context) is not None:
                await run.io_bound(self._mark, group)
        except TallyError as error:
            self._say_damaged(error)
            return
        if link is not None:
            window.open(page_of(link))
        else:
            await self._look()

    def _mark(self, group: Sequence[Notification] | None) -> None:
        if group is None:
            self._kept.read_all()
        for each in group or ():
            self._kept.read(each.id)

    def _say_damaged(self, error: TallyError) -> None:
        self._place.clear()
        with self._place:
            ui.label(f"{error.code}: {error}").classes("tally-bad tally-text tally-bell-line")


def page_of(link: str) -> str:
    """Return the page that a notification links to; never another server."""
    return link if link.startswith("/") and not link.startswith(("//", "/\\", "/api/")) else "/"
