"""Insight's pages: datasets, and for each its themes, search, questions, report and source file."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from nicegui import run, ui

from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import (
    NavigationItem,
    PageContext,
    Visitor,
    badge,
    counted,
    empty,
    failed,
    heading,
    here,
    page,
    section,
    text,
)
from tallystick.errors import ToolError
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.insight.model import Dataset
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.jobs import Jobs, report_job, show_steps
from tallystick.rooms.insight.web.questions import Questions
from tallystick.rooms.insight.web.report import show_report
from tallystick.rooms.insight.web.search import Search
from tallystick.rooms.insight.web.themes import Themes
from tallystick.rooms.insight.web.upload import Upload

LOOK_S = 0.8
MAX_DIGITS = 15
VIEWS = (
    ("", "Themes", "bubble_chart"),
    ("search", "Search", "search"),
    ("report", "Report", "description"),
    ("questions", "Questions", "help_outline"),
    ("file", "The file", "table_view"),
)
Fill = Callable[[Insight, Dataset], Awaitable[None]]
"""Shows a dataset in one of the ways."""


def register(house: PageContext) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(NavigationItem(path="/insight", name="Insight", icon="insights", order=40, roles=EVERY_ROLE))
    works = Jobs(house)

    @page(house, "/insight", "Insight", roles=EVERY_ROLE)
    async def every(_visitor: Visitor) -> None:
        heading("Insight", "What customers say, with every number and every quote behind it")
        await _Datasets(house, room_in(house.gate, "insight", Insight), works).show()

    @page(house, "/insight/{number}", "Themes", roles=EVERY_ROLE)
    async def themes(_visitor: Visitor, number: str) -> None:
        await _Shown(house, works, number, "").show(_themes)

    @page(house, "/insight/{number}/search", "Search", roles=EVERY_ROLE)
    async def search(_visitor: Visitor, number: str, q: str = "") -> None:
        await _Shown(house, works, number, "search").show(lambda room, one: Search(room, one.dataset_id).show(q))

    @page(house, "/insight/{number}/report", "Report", roles=EVERY_ROLE)
    async def report(_visitor: Visitor, number: str, compare: int = 0) -> None:
        await _Shown(house, works, number, "report").show(lambda room, one: _report(room, one, compare))

    @page(house, "/insight/{number}/questions", "Questions", roles=EVERY_ROLE)
    async def questions(visitor: Visitor, number: str) -> None:
        await _Shown(house, works, number, "questions").show(
            lambda room, one: Questions(house, room, visitor, one.dataset_id).show()
        )

    @page(house, "/insight/{number}/file", "The file", roles=EVERY_ROLE)
    async def file(_visitor: Visitor, number: str) -> None:
        await _Shown(house, works, number, "file").show(lambda _room, one: _file(one))

    return ("/insight",)


class _Datasets:
    """The list of datasets, and the upload."""

    def __init__(self, house: PageContext, room: Insight, works: Jobs) -> None:
        self._house = house
        self._room = room
        self._works = works
        self._seen: list[Any] | None = None

    async def show(self) -> None:
        Upload(self._house, self._room, self._works).show()
        self._place = ui.column().classes("w-full gap-2")
        await self._look()
        ui.timer(LOOK_S, self._look)

    async def _look(self) -> None:
        found: list[Dataset] = await run.io_bound(self._room.store.datasets) or []
        now = [(one.dataset_id, self._doing(one)) for one in found]
        if now == self._seen:
            return
        self._seen = now
        self._place.clear()
        with self._place:
            if not found:
                empty(
                    "No tickets yet",
                    "Choose a file above, or: tally insight report tickets.csv --out report.html",
                    icon="insights",
                )
                return
            section("Datasets")
            for one in reversed(found):
                with ui.row().classes("tally-row tally-line"):
                    ui.link(one.name or f"Dataset {one.dataset_id}", f"/insight/{one.dataset_id}").classes(
                        "text-weight-bold"
                    )
                    ui.label(_size(one)).classes("tally-soft")
                    if self._doing(one):
                        badge("running")
                    ui.space()
                    ui.label(_day(one.created_at)).classes("tally-soft")

    def _doing(self, one: Dataset) -> bool:
        work = self._works.of(one.dataset_id)
        return work is not None and not work.over


class _Shown:
    """One dataset: its name, the ways to look at it, what is being done with it, and one of the ways."""

    def __init__(self, house: PageContext, works: Jobs, number: str, view: str) -> None:
        self._house = house
        self._works = works
        self._number = number
        self._view = view

    async def show(self, fill: Fill) -> None:
        room = room_in(self._house.gate, "insight", Insight)
        number = self._number
        wanted = int(number) if number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS else 0
        found: Dataset | None = await run.io_bound(room.store.dataset, wanted)
        if found is None:
            heading("Insight")
            empty("There is no such dataset", "The page before lists those there are.", icon="search_off")
            return
        self._room, self._dataset, self._fill = room, found, fill
        heading(found.name or f"Dataset {found.dataset_id}", _size(found))
        self._ways()
        self._progress = ui.column().classes("w-full")
        self._place = ui.column().classes("w-full gap-2")
        self._seen: list[Any] = []
        work = self._works.of(found.dataset_id)
        # Looked at before anything is drawn: it may be over by the time that is done.
        self._was_running = work is not None and not work.over
        # The page is there at once, however many tickets there are to be read for it.
        ui.timer(0, self._first, once=True)

    def _ways(self) -> None:
        with ui.element("nav").classes("tally-views").props('aria-label="Ways to look at it"'):
            for path, name, icon in VIEWS:
                target = f"/insight/{self._dataset.dataset_id}" + (f"/{path}" if path else "")
                with ui.link(target=target).classes("tally-view") as way:
                    ui.icon(icon).props('aria-hidden="true"')
                    ui.label(name)
                if path == self._view:
                    way.classes("tally-view-here").props('aria-current="page"')

    async def _first(self) -> None:
        await self._again()
        await self._look()
        ui.timer(LOOK_S / 2, self._look)

    async def _again(self) -> None:
        self._place.clear()
        with self._place:
            with ui.row().classes("tally-row").props('role="status"') as waiting:
                ui.spinner(size="1.4em").props('aria-hidden="true"')
                ui.label("Reading the tickets…").classes("tally-soft")
            try:
                await self._fill(self._room, self._dataset)
            except _NotYet as missing:
                self._prepare(str(missing))
            except ToolError as error:
                failed(str(error), error.hint or "")
            waiting.delete()

    def _prepare(self, what: str) -> None:
        def go() -> None:
            self._works.begin(report_job(), here(), dataset_id=self._dataset.dataset_id)

        work = self._works.of(self._dataset.dataset_id)
        if work is None or work.over:
            empty(
                what,
                "Vectors, groups and a first answer take a moment.",
                icon="bubble_chart",
                action=("Prepare the tickets", go),
            )

    async def _look(self) -> None:
        """Show how far the work is; what is shown below is drawn anew once it is over."""
        work = self._works.of(self._dataset.dataset_id)
        if work is None:
            return
        now = [work.version, *((step.words, step.share) for step in work.steps)]
        if now != self._seen:
            self._seen = now
            self._progress.clear()
            troubled = any(step.state == "failed" for step in work.steps)
            with self._progress:
                if not work.over or troubled:
                    show_steps(work)
        if self._was_running and work.over:
            await self._again()
        self._was_running = not work.over


class _NotYet(Exception):  # noqa: N818 - reads as what it is
    """A prerequisite is missing; the text says which."""


async def _themes(room: Insight, dataset: Dataset) -> None:
    runs = await run.io_bound(room.store.runs, dataset.dataset_id) or []
    if not runs:
        raise _NotYet("Not grouped yet")
    await Themes(room, runs[0]).show()


async def _report(room: Insight, dataset: Dataset, compare: int) -> None:
    others = [one for one in await run.io_bound(room.store.datasets) or [] if one.dataset_id != dataset.dataset_id]
    if others:
        choices = {0: "its own earlier and later part", **{one.dataset_id: one.name for one in others}}
        chosen = ui.select(choices, label="Compared with", value=compare if compare in choices else 0)
        chosen.props("outlined dense").classes("tally-choice")
        where = f"/insight/{dataset.dataset_id}/report"
        chosen.on_value_change(lambda event: ui.navigate.to(f"{where}?compare={int(event.value or 0)}"))
    made = await run.io_bound(lambda: room.analyses.report(dataset.dataset_id, compare_dataset_id=compare or None))
    if made is not None:
        show_report(room, made, f"report-{dataset.dataset_id}")


async def _file(dataset: Dataset) -> None:
    section("How it was read")
    with ui.element("dl").classes("tally-facts"):
        for name, value in (*dataset.mapping.items(), ("SHA-256 of the file", dataset.file_hash)):
            text("dt", name.replace("_", " "))
            text("dd", value)
    section("Rows that were not taken")
    if not dataset.bad_row_count:
        ui.label("None: every row became a ticket.").classes("tally-soft")
    for row in dataset.bad_rows:
        ui.label(f"line {row.line}: {row.reason} {row.detail}").classes("tally-text")
    if dataset.bad_row_count > len(dataset.bad_rows):
        ui.label(f"and {dataset.bad_row_count - len(dataset.bad_rows):,} more").classes("tally-soft")


def _size(one: Dataset) -> str:
    left_out = f", {one.bad_row_count:,} rows left out" if one.bad_row_count else ""
    return f"{counted(one.row_count, 'ticket')}, {counted(one.department_count, 'department')}{left_out}"


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
