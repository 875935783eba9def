"""Chart data as JSON, for pages that draw their own charts."""

from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.facts import Facts, Mask
from tallystick.rooms.insight.figures.query import chosen, query
from tallystick.rooms.insight.figures.selection import select
from tallystick.rooms.insight.figures.themes import Theme, themes_of

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

MOST = 30
_STEPS = 366


def chart_data(store: "Store", dataset_id: int, *, run_id: int | None = None) -> dict[str, Any]:
    """Everything that charts of a dataset show, as plain JSON.

    Raises:
        ToolError: There is no such dataset.
    """
    book = Figures(store)
    facts = book.facts(dataset_id)
    if facts is None:
        raise ToolError(f"There is no dataset {dataset_id}.", status=404, hint="Take a file first: tool.ingest.upload.")
    themes = themes_of(store, facts, run_id)
    whole = chosen(dataset=dataset_id)
    numbers = {
        name: _number(book, query(name, whole))
        for name in ("per_day", "median_hours", "slow_hours", "mean_reassignments", "median_words")
    }
    return {
        "dataset_id": dataset_id,
        "tickets": len(facts),
        **numbers,
        "by_day": _ordered(facts, "day"),
        "by_week": _ordered(facts, "week"),
        "by_month": _ordered(facts, "month"),
        "by_weekday": _ordered(facts, "weekday"),
        "by_hour": _ordered(facts, "hour"),
        **{
            f"by_{field}": _ranked(facts, field)
            for field in ("department", "product", "category", "priority", "status")
        },
        "themes": [] if themes is None else [_theme(facts, theme) for theme in themes.themes[:MOST]],
        "theme_source": None if themes is None else themes.source,
    }


def _number(book: Figures, asked: Any) -> float | None:
    value = book.value(asked)
    return None if value is None else float(value)


def _ordered(facts: Facts, by: str) -> list[dict[str, Any]]:
    """By time, oldest first; the newest where there are too many."""
    return [{"name": name, "tickets": many} for name, many in _counted(facts, by, facts.all)[-_STEPS:]]


def _ranked(facts: Facts, by: str) -> list[dict[str, Any]]:
    ranked = sorted(_counted(facts, by, facts.all), key=lambda each: (-each[1], each[0]))
    return [{"name": name, "tickets": many} for name, many in ranked[:MOST]]


def _theme(facts: Facts, theme: Theme) -> dict[str, Any]:
    mask = select(facts, theme.where)
    weeks = [{"name": name, "tickets": many} for name, many in _counted(facts, "week", mask)[-_STEPS:]]
    return {"name": theme.label, "tickets": int(mask.sum()), "by_week": weeks}


def _counted(facts: Facts, by: str, mask: Mask) -> list[tuple[str, int]]:
    coded = facts.field(by)
    return [] if coded is None else list(coded.counts(mask).items())
