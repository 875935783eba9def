"""The columns of a dataset, as queries name them."""

from collections.abc import Iterable, Mapping

from tallystick.records import record
from tallystick.rooms.insight.query.model import DAYS, HOURS, THEME
from tallystick.text.folding import fold_case

TIMES = ("created_at", "resolved_at")
COUNTED_FIELDS = (
    "department", "product", "category", "priority", "status", "customer", "summary", "reassignments",
)  # fmt: skip
"""Fields of a ticket whose values are columns; the text, the resolution and the id are only read."""
WORDS = "text"
"""The column of what customers wrote: summary and text together."""


@record
class Column:
    """One column."""

    key: str
    """The field of a ticket, or the file's own name."""
    name: str
    """As the file names it."""
    kind: str
    """`value`, `number`, `time`, `words`, `id` or `theme`."""
    slot: int = 0
    """Its place among the numbers of a ticket; 0: it has a column of its own, or is computed."""
    values: tuple[str, ...] = ()
    """Of a column of values: value → its number, by position."""
    filled: int = 0
    """Tickets that have a value."""
    low: float | None = None
    high: float | None = None
    labels: Mapping[str, str] | None = None
    """Of themes: id → what it is called."""


class Columns:
    """All columns of a dataset."""

    def __init__(self, columns: Iterable[Column]) -> None:
        self.all = tuple(columns)
        self._by_name: dict[str, Column] = {}
        for each in self.all:
            for name in (each.key, each.name):
                self._by_name.setdefault(name, each)
        self._folded = {fold_case(name): each for name, each in reversed(self._by_name.items())}

    def find(self, name: str) -> Column | None:
        """A column by its key or its name, with or without capitals."""
        return self._by_name.get(name) or self._folded.get(fold_case(name.strip()))

    @property
    def names(self) -> list[str]:
        """What queries may call them."""
        return [each.key for each in self.all]


def computed_columns(given: Iterable[Column]) -> list[Column]:
    """Hours and days to resolve, where tickets say both times."""
    present = {each.key: each for each in given}
    if not all(name in present and present[name].filled for name in TIMES):
        return []
    filled = present["resolved_at"].filled
    return [
        Column(key=HOURS, name="hours to resolve", kind="number", filled=filled),
        Column(key=DAYS, name="calendar days to resolve", kind="number", filled=filled),
    ]


def theme_column(run_id: int, labels: Mapping[str, str], filled: int) -> Column:
    """The themes of a grouping."""
    return Column(key=THEME, name="theme", kind="theme", slot=run_id, labels=labels, filled=filled)
