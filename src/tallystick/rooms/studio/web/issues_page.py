"""The issues pages: list, comments and linked receipts."""

from typing import Any

from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.doors.web.kit import (
    NavigationItem,
    PageContext,
    Visitor,
    badge,
    empty,
    failed,
    heading,
    may_act,
    page,
    section,
)
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.conference.results import TAG
from tallystick.rooms.studio.issues.model import By, Heading, Issue, IssueFilter, Link, NewComment, NewIssue
from tallystick.rooms.studio.services.issues import IssueService
from tallystick.storage.notifications import PLACES, place_of

MOST = 100
ROUNDS = "rounds"
"""The choice of the list that shows the rounds of conferences."""
SOON_S = 1.0


def register(context: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    context.places.append(NavigationItem(path="/issues", name="Issues", icon="flag", order=30, roles=EVERY_ROLE))
    service = IssueService(context.gate)

    @page(context, "/issues", "Issues", roles=EVERY_ROLE)
    async def every(visitor: Visitor) -> None:
        heading("Issues", "What is to be settled; rounds of conferences are filed apart")
        await _List(service, visitor).show()

    @page(context, "/issues/{name}", "Issue", roles=EVERY_ROLE)
    async def one(visitor: Visitor, name: str) -> None:
        found = await run.io_bound(service.tracker.issues.get, name)
        if not isinstance(found, Issue):
            empty("There is no such issue", "It may stand in another workspace.", icon="search_off")
            return
        _One(service, visitor, found).show()

    return ("/issues",)


class _List:
    """The issues, with filters."""

    def __init__(self, service: IssueService, visitor: Visitor) -> None:
        self._service = service
        self._visitor = visitor
        self._words, self._status = "", "open"

    async def show(self) -> None:
        with ui.row().classes("tally-row"):
            words = ui.input("In the title or the beginning").props("dense outlined clearable debounce=300")
            words.classes("col-grow").on_value_change(lambda event: self._narrow(words=event.value or ""))
            status = ui.select(
                {"open": "Open", "closed": "Closed", ROUNDS: "Conference rounds", "": "All"}, value="open"
            )
            status.props('dense outlined aria-label="Which"')
            status.on_value_change(lambda event: self._narrow(status=event.value))
            ui.button("New issue", icon="add", on_click=self._new).props("outline")
        self._form = ui.column().classes("w-full")
        self._place = ui.column().classes("w-full gap-0")
        self._seen: list[tuple[str, str]] | None = None
        await self._again()
        ui.timer(SOON_S, self._again)

    async def _narrow(self, *, words: str | None = None, status: str | None = None) -> None:
        self._words = self._words if words is None else words
        self._status = self._status if status is None else status
        self._seen = None
        await self._again()

    async def _again(self) -> None:
        rounds = self._status == ROUNDS
        status: Any = None if rounds else self._status or None
        wanted = IssueFilter(status=status, tags=(TAG,) if rounds else (), text=self._words or None)
        found: list[Heading] = list(await run.io_bound(self._service.tracker.issues.list, wanted, limit=MOST) or ())
        now = [(one.issue_id, one.updated_at) for one in found]
        if now == self._seen:
            return
        self._seen = now
        self._place.clear()
        with self._place:
            if not found:
                empty("No issues here", "Hold a conference, or open one yourself.", icon="flag")
            for one in found:
                _row(one)

    def _new(self) -> None:
        self._form.clear()
        with self._form, ui.column().classes("tally-card gap-2"):
            title = ui.input("Title").props("outlined dense autofocus maxlength=200").classes("w-full")
            body = ui.textarea("What is the matter?").props("outlined autogrow").classes("w-full")

            async def create() -> None:
                if not may_act(self._visitor, WORK_ROLES):
                    return
                new = NewIssue(title=title.value or "", body=body.value or "", opened_by=self._visitor.caller.subject)
                made = await run.io_bound(self._service.tracker.issues.create, new)
                if isinstance(made, Issue):
                    ui.navigate.to(f"/issues/{made.issue_id}")
                elif isinstance(made, Problem):
                    failed(made.code, made.message)

            ui.button("Open it", on_click=create)


def _row(one: Heading) -> None:
    with ui.row().classes("tally-row tally-line"):
        badge(one.status)
        ui.link(f"#{one.number} {one.title}", f"/issues/{one.issue_id}").classes("text-weight-bold")
        if one.priority != "normal":
            badge(one.priority)
        if one.frozen:
            badge("frozen")
        for tag in one.tags[:6]:
            ui.label(tag).classes("tally-badge tally-quiet")
        ui.space()
        ui.label(f"{one.comment_count} comments, {one.updated_at[:16].replace('T', ' ')}").classes("tally-soft")
        if one.summary:
            ui.label(one.summary).classes("tally-soft w-full")


class _One:
    """One issue."""

    def __init__(self, service: IssueService, visitor: Visitor, issue: Issue) -> None:
        self._service = service
        self._visitor = visitor
        self._issue = issue

    def show(self) -> None:
        issue = self._issue
        heading(f"#{issue.number} {issue.title}", f"opened by {issue.opened_by}, {issue.created_at[:16]}")
        with ui.row().classes("tally-row"):
            badge(issue.status)
            badge(issue.priority)
            for tag in issue.tags:
                ui.label(tag).classes("tally-badge tally-quiet")
        ui.label(issue.body).classes("tally-card tally-text")
        if issue.links:
            section("Behind it")
            with ui.row().classes("tally-row"):
                for link in issue.links:
                    _link(link)
        section("What was said")
        for comment in issue.comments:
            with ui.column().classes("tally-bubble gap-0"):
                ui.label(f"{comment.author}, {comment.at[:16].replace('T', ' ')}, {comment.kind}").classes("tally-soft")
                ui.label(comment.body).classes("tally-text")
        self._place = ui.column().classes("w-full gap-2")
        with self._place:
            self._say()

    def _say(self) -> None:
        text = ui.textarea("Say something").props("outlined autogrow").classes("w-full")
        with ui.row().classes("tally-row"):
            ui.button("Comment", on_click=lambda: self._comment(text.value or ""))
            move = "close" if self._issue.status == "open" else "reopen"
            ui.button(move.capitalize(), on_click=lambda: self._move(move)).props("outline")

    async def _comment(self, body: str) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        new = NewComment(author=self._visitor.caller.subject, body=body, by=self._by)
        await self._done(await run.io_bound(self._service.tracker.issues.comment, self._issue.issue_id, new))

    async def _move(self, move: str) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        who = self._visitor.caller
        moved = await run.io_bound(
            self._service.move, self._issue.issue_id, move, author=who.subject, by=self._by, caller=who
        )
        await self._done(moved)

    @property
    def _by(self) -> By:
        return "person" if self._visitor.is_person else "agent"

    async def _done(self, after: object) -> None:
        if isinstance(after, Problem):
            with self._place:
                failed(after.code, after.message)
            return
        ui.navigate.to(f"/issues/{self._issue.issue_id}")


def _link(link: Link) -> None:
    if link.kind in PLACES:
        ui.link(f"{link.kind} {link.id[:22]}", place_of(link.kind, link.id)).classes("tally-chip")
    else:
        ui.label(f"{link.kind} {link.id}").classes("tally-chip")
