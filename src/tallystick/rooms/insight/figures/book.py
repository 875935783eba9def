"""Query → number. One book reads each dataset once, so make a new one where the tickets may have changed."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from tallystick.records import record
from tallystick.rooms.insight.figures.comparing import COMPARISONS, Sides, sides_of
from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.measures import measure
from tallystick.rooms.insight.figures.query import LONGEST, Query, parse
from tallystick.rooms.insight.figures.selecting import UnknownError

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

_EXACT = 9
"""Decimal places that are kept of a computed number."""
_DATE_DIGITS = 8
_P_PLACES = 4


@record
class Figure:
    """A number with what it is the answer to."""

    value: Decimal
    """Rounded as it is shown."""
    shown: str
    """As it stands in a text: `1,204`, `6.8 %`, `2024-03-01`."""
    query: str

    @property
    def written(self) -> str:
        """As it stands in a reference: digits alone."""
        return str(self.value)


class Figures:
    """The numbers of a workspace's tickets."""

    def __init__(self, store: "Store") -> None:
        self.store = store
        self._facts: dict[int, Facts | None] = {}

    def facts(self, dataset_id: int) -> Facts | None:
        """A dataset, read; None: there is no such."""
        if dataset_id not in self._facts:
            known = self.store.dataset(dataset_id) is not None
            self._facts[dataset_id] = Facts(self.store, dataset_id) if known else None
        return self._facts[dataset_id]

    def value(self, query: Query | str) -> Decimal | None:
        """The number; None: it cannot be computed, or nobody knows the query."""
        asked = parse(query) if isinstance(query, str) else query
        if asked is None:
            return None
        try:
            found = self._compute(asked)
        except UnknownError:
            return None
        return None if found is None else _decimal(found)

    def figure(self, query: Query, *, places: int = 0, unit: str = "") -> Figure | None:
        """The number as it is shown.

        Args:
            query: What it is the answer to.
            places: After the point.
            unit: What stands behind it, e.g. `%`.
        """
        value = self.value(query)
        written = str(query)
        if value is None or len(written) > LONGEST:
            return None
        rounded = value.quantize(Decimal(1).scaleb(-places))
        return Figure(value=rounded, shown=f"{rounded:,}{unit}", query=written)

    def p(self, query: Query) -> Figure | None:
        """A p-value, shown with its sign: `= 0.0213`, `< 0.0001`."""
        found = self.figure(query, places=_P_PLACES)
        if found is None:
            return None
        shown = f"= {found.shown}" if found.value else f"< {Decimal(1).scaleb(-_P_PLACES)}"
        return Figure(value=found.value, shown=shown, query=found.query)

    def day(self, query: Query) -> Figure | None:
        """A date (`first_day`, `last_day`), shown as one."""
        found = self.figure(query)
        if found is None:
            return None
        text = f"{int(found.value):0{_DATE_DIGITS}}"
        return Figure(value=found.value, shown=f"{text[:4]}-{text[4:6]}-{text[6:]}", query=found.query)

    def sides(self, query: Query) -> Sides:
        """The two selections that a query compares."""
        return sides_of(query, self._named)

    def _compute(self, query: Query) -> float | int | None:
        if query.measure in COMPARISONS:
            return COMPARISONS[query.measure](self.sides(query))
        if query.measure == "run":
            return self._of_run(query)
        if query.measure == "bad_rows":
            dataset = self.store.dataset(_id(query.plain()))
            return None if dataset is None else dataset.bad_row_count
        return measure(self._named(query.plain()), query)

    def _of_run(self, query: Query) -> float | int | None:
        """What a grouping says of itself: silhouette, stability, noise."""
        run = self.store.run(_id(query.plain(), "run"))
        found = None if run is None else run.figures.get(query.get("of") or "")
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def _named(self, params: Mapping[str, str]) -> Facts:
        facts = self.facts(_id(params))
        if facts is None:
            raise UnknownError("dataset")
        return facts


def _id(params: Mapping[str, str], name: str = "dataset") -> int:
    given = params.get(name, "")
    if not given.isascii() or not given.isdigit() or len(given) > 9:  # noqa: PLR2004 - the ids of both databases
        raise UnknownError(name)
    return int(given)


def _decimal(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(round(number, _EXACT))).normalize() + 0
