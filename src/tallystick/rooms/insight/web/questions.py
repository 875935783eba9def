"""Questions to a dataset: ask one, compare two periods, and everything that was asked before."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from nicegui import run, ui

from tallystick.doors.web.kit import PageContext, Visitor, empty, here, propose, section, tell_trouble
from tallystick.gate.role_names import ANALYSIS_READERS
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.answer import show_answer

if TYPE_CHECKING:
    from tallystick.rooms.insight.nouns import Analysis

PAGE = 10
LOOK_S = 1.0
TOOL = "tool.analysis.run"


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

    def _compare(self, periods: Sequence[str]) -> None:
        with ui.row().classes("tally-row"):
            first = ui.select(list(periods), value=periods[-2], label="Compare").props("outlined dense")
            then = ui.select(list(periods), value=periods[-1], label="with").props("outlined dense")
            button = ui.button("Compare", icon="compare_arrows").props("outline")

        async def go() -> None:
            await self._answer(f"What changed between {first.value} and {then.value}?", button)

        button.on_click(go)

    async def _answer(self, question: str, button: ui.button) -> bool:
        self._place.clear()
        button.disable()
        with self._place:
            ui.linear_progress(show_value=False).props('indeterminate aria-label="Answering"')
        outcome = await propose(
            self._house, here(), TOOL, {"dataset_id": self._dataset_id, "question": question}
        )  # fmt: skip
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
        self._history.clear()
        with self._history:
            self._list(found, total)

    def _list(self, found: "list[Analysis]", total: int) -> None:
        if not found:
            empty(
                "Nothing was asked yet", "Ask above: which department, which theme, what changed.", icon="help_outline"
            )
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


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def _in_words(month: str) -> str:
    year, _, number = month.partition("-")
    return f"{_MONTHS[int(number) - 1]} {year}" if number.isdigit() and 1 <= int(number) <= len(_MONTHS) else month
