"""Questions about a dataset: ask, compare two periods, and the history."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from tallystick.doors.web.kit import PageContext, Visitor, counted, empty, here, propose, section, tell_trouble, text
from tallystick.gate.role_names import ANALYSIS_READERS
from tallystick.rooms.insight.query.model import NotAQuery, query_from_line
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.ticket import ticket_chip
from tallystick.text.calendar_names import MONTHS

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Analysis

CHIPS = 6
PAGE = 10
LOOK_S = 1.0
TOOL, QUERY_TOOL = "tool.analysis.run", "tool.analysis.query"


class Questions:
    """The questions of one dataset, in one window."""

    def __init__(self, house: PageContext, room: Insight, visitor: Visitor, dataset_id: int) -> None:
        self._house = house
        self._room = room
        self._visitor = visitor
        self._dataset_id = dataset_id
        self._shown = PAGE
        self._seen: tuple[int, int] | None = None

    async def show(self) -> None:
        """Build it."""
        periods: list[str] = await run.io_bound(self._months) or []
        self._ask()
        self._query()
        if len(periods) > 1:
            self._compare(periods)
        self._place = ui.column().classes("w-full gap-2").props('role="status"')
        section("What was asked")
        self._history = ui.column().classes("w-full gap-2")
        await self._look()
        ui.timer(LOOK_S, self._look)

    def _ask(self) -> None:
        with ui.row().classes("tally-row"):
            question = ui.input("Ask something about these tickets").props("outlined maxlength=4000")
            question.classes("col-grow")
            button = ui.button("Ask", icon="send")

        async def go() -> None:
            if (question.value or "").strip() and await self._answer(str(question.value), button):
                question.value = ""

        question.on("keydown.enter", go)
        button.on_click(go)

    def _query(self) -> None:
        """The typed form of a question, to be corrected and run again."""
        with ui.element("details").classes("tally-details") as self._typed:
            text("summary", "The query, as the last question was read")
            with ui.row().classes("tally-row"):
                self._line = ui.input("Query").props("outlined dense maxlength=4000").classes("col-grow tally-mono")
                button = ui.button("Run", icon="play_arrow").props("outline")
            self._result = ui.column().classes("w-full gap-1").props('role="status"')

        async def go() -> None:
            await self._run_query(str(self._line.value or ""), button)

        self._line.on("keydown.enter", go)
        button.on_click(go)

    async def _run_query(self, line: str, button: ui.button) -> None:
        self._result.clear()
        try:
            query, _ = query_from_line(line.strip())
        except NotAQuery:
            with self._result:
                ui.label("This is no query. Ask a question above, and change its query.").classes("tally-warn")
            return
        button.disable()
        outcome = await propose(self._house, here(), QUERY_TOOL, query.as_dict())
        button.enable()
        with self._result:
            if tell_trouble(outcome):
                return
            found = {} if outcome is None else outcome.unwrap()
            ui.label(f"{found['reading']}:").classes("tally-text")
            for row in found["rows"]:
                value = "no value" if row["value"] is None else f"{row['value']:,.10g}"
                first = "" if row.get("first") is None else f"{row['first']:,.10g} → "
                ui.label(f"{', '.join(row['key']) or 'all'}: {first}{value}").classes("tally-text")
            for ticket_id in found["tickets"]:
                ticket_chip(self._room, int(ticket_id), "")

    def _compare(self, periods: Sequence[str]) -> None:
        with ui.row().classes("tally-row"):
            first = ui.select(list(periods), value=periods[-2], label="Compare").props("outlined dense")
            then = ui.select(list(periods), value=periods[-1], label="with").props("outlined dense")
            button = ui.button("Compare", icon="compare_arrows").props("outline")

        async def go() -> None:
            await self._answer(f"Compare the number of tickets in {first.value} and {then.value}", button)

        button.on_click(go)

    async def _answer(self, question: str, button: ui.button) -> bool:
        self._place.clear()
        button.disable()
        with self._place:
            ui.linear_progress(show_value=False).props('indeterminate aria-label="Answering"')
        outcome = await propose(self._house, here(), TOOL, {"dataset_id": self._dataset_id, "question": question})
        button.enable()
        self._place.clear()
        with self._place:
            if tell_trouble(outcome):
                # What was typed stays where it is.
                return False
        await self._look()
        return True

    async def _look(self) -> None:
        """Show what was asked since, here or elsewhere."""
        if not self._visitor.may(ANALYSIS_READERS):
            if self._seen is None:
                self._seen = (0, 0)
                with self._history:
                    empty(
                        "Not open to you",
                        f"One of these roles is needed: {', '.join(sorted(ANALYSIS_READERS))}.",
                        icon="lock",
                    )
            return
        history = partial(self._room.analyses.history, dataset_id=self._dataset_id, limit=self._shown)
        found, total = await run.io_bound(history) or ([], 0)
        newest = found[0].analysis_id if found else 0
        if (newest, self._shown) == self._seen:
            return
        self._seen = (newest, self._shown)
        if found and found[0].answer.get("query_line"):
            self._line.value = str(found[0].answer["query_line"])
        self._history.clear()
        with self._history:
            self._list(found, total)

    def _list(self, found: "list[Analysis]", total: int) -> None:
        if not found:
            empty("Nothing was asked yet", "Ask above: how many, which department, per month.", icon="help_outline")
        for one in found:
            show_answer(self._room, one)
        if total > len(found):

            async def more() -> None:
                self._shown += PAGE
                await self._look()

            ui.button(f"Earlier ones ({total - len(found):,})", on_click=more).props("flat")

    def _months(self) -> list[str]:
        """The months of the dataset, in words that a question may have."""
        found = self._room.analyses.metrics(self._dataset_id)["by_month"]
        return [_in_words(str(one["name"])) for one in found]


def _in_words(month: str) -> str:
    year, _, number = month.partition("-")
    is_month = number.isdigit() and 1 <= int(number) <= len(MONTHS)
    return f"{MONTHS[int(number) - 1].title()} {year}" if is_month else month


def show_answer(room: Insight, analysis: "Analysis") -> None:
    """Show one."""
    answer = analysis.answer
    with ui.column().classes("tally-card gap-2"):
        text("h3", analysis.question).classes("tally-third tally-text")
        when = datetime.fromtimestamp(analysis.created_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        said = f"{when}, {counted(analysis.ticket_count, 'ticket')} read, {answer.get('backend', '')}"
        ui.label(said).classes("tally-soft")
        if answer.get("reading"):
            ui.label(str(answer["reading"])).classes("tally-text text-weight-medium")
        if not answer.get("sentences") and answer.get("answered"):
            ui.label("Nothing of what was said is borne out by the tickets.").classes("tally-warn")
        for sentence in answer.get("sentences", ()):
            _sentence(room, sentence)
        for refused in answer.get("refused", ()):
            with ui.row().classes("tally-row"):
                ui.label(str(refused["text"])).classes("tally-struck tally-text")
                ui.label(str(refused["code"])).classes("tally-badge tally-bad")


def _sentence(room: Insight, sentence: Mapping[str, Any]) -> None:
    with ui.column().classes("gap-1 w-full"):
        ui.label(str(sentence["text"])).classes("tally-text")
        tickets, receipts = sentence.get("tickets", ())[:CHIPS], sentence.get("receipts", ())[:CHIPS]
        if tickets or receipts:
            with ui.row().classes("tally-row tally-evidence"):
                for ticket in tickets:
                    ticket_chip(room, int(ticket["ticket_id"]), str(ticket.get("quote", "")))
                for receipt in receipts:
                    ui.link(str(receipt)[:17] + "…", f"/receipts/{receipt}").classes("tally-chip")
        _figures(sentence.get("figures", ()))


def _figures(figures: Sequence[Mapping[str, Any]]) -> None:
    """Each number with the query that reproduces it."""
    if not figures:
        return
    with ui.element("details").classes("tally-details"):
        many = len(figures)
        text("summary", "1 number, and its query" if many == 1 else f"{many} numbers, and their queries")
        for figure in figures:
            ui.label(f"{figure['shown']}  =  {figure['query']}").classes("tally-mono tally-text tally-soft")
