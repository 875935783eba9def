"""Figures by query. Each dataset is read once, so create a new calculator where tickets may have changed."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from tallystick.errors import ToolError
from tallystick.records import record
from tallystick.rooms.insight.figures.comparisons import COMPARISONS, Sides, sides_of
from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.measures import measure
from tallystick.rooms.insight.figures.query import LONGEST, Query, parse
from tallystick.rooms.insight.figures.selection import UnknownError
from tallystick.rooms.insight.figures.significance import Part, compare_shares
from tallystick.rooms.insight.figures.themes import columns_of
from tallystick.rooms.insight.query.columns import Columns
from tallystick.rooms.insight.query.execution import QueryResult, ResultRow, execute
from tallystick.rooms.insight.query.model import PREFIX, Filter, NotAQuery, TypedQuery, query_from_line, row_name
from tallystick.rooms.insight.query.validation import validated

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
_EXACT = 9
"""Decimal places that are kept of a computed number."""
_DATE_DIGITS = 8
_P_PLACES = 4


@record
class Figure:
    """A number and the query it answers."""

    value: Decimal
    """Rounded as it is shown."""
    shown: str
    """As shown in text: `1,204`, `6.8 %`, `2024-03-01`."""
    query: str

    @property
    def written(self) -> str:
        """As written in a reference: digits alone."""
        return str(self.value)


class Figures:
    """Computes figures of a workspace's tickets."""

    def __init__(self, store: "Store") -> None:
        self.store = store
        self._facts: dict[int, Facts | None] = {}
        self._results: dict[str, QueryResult] = {}
        self._columns: dict[tuple[int, int | None], Columns] = {}

    def facts(self, dataset_id: int) -> Facts | None:
        """A dataset, read; None: there is no such."""
        if dataset_id not in self._facts:
            known = self.store.dataset(dataset_id) is not None
            self._facts[dataset_id] = Facts(self.store, dataset_id) if known else None
        return self._facts[dataset_id]

    def value(self, query: Query | str) -> Decimal | None:
        """Compute the number; None if it cannot be computed or the query is unknown."""
        if isinstance(query, str) and query.startswith(PREFIX):
            return self._typed(query)
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

    def result(self, query: TypedQuery) -> QueryResult:
        """Run a typed query; the same one again is not run twice.

        Raises:
            ToolError: The dataset does not have what it names.
        """
        line = query.line()
        if line not in self._results:
            columns = self.columns(query.dataset_id, query.run)
            compared = None if query.compare is None else query.compare.dataset_id
            other = None if compared is None else self.columns(compared)
            self._results[line] = execute(validated(query, columns, other), columns, self.store, other)
        return self._results[line]

    def count(self, dataset_id: int, where: Sequence[Filter]) -> int:
        """How many tickets of a dataset fulfil some conditions."""
        rows = self.result(TypedQuery(dataset_id=dataset_id, where=tuple(where))).rows
        return rows[0].now.tickets if rows else 0

    def columns(self, dataset_id: int, run_id: int | None = None) -> Columns:
        """The columns of a dataset, with the themes of a grouping: the newest if none is named."""
        found = self._columns.get((dataset_id, run_id))
        if found is None:
            found = self._columns[dataset_id, run_id] = columns_of(self.store, dataset_id, run_id)
        return found

    def cell(self, result: QueryResult, row: ResultRow | None, name: str, *, places: int = 0, unit: str = "") -> Figure:
        """A number of a result, as it is shown.

        Raises:
            ToolError: There is no such number, or its query is longer than a reply may hold.
        """
        key = None if row is None or not row.key else row_name(row.key)
        line = result.query.line(row=key, cell=name)
        value = cell_of(result, row, name)
        if value is None or len(line) > LONGEST:
            raise ToolError("The query is too long to be shown with its numbers.", status=400, hint="Ask in two steps.")
        decimal = _decimal(value)
        places = 0 if decimal == decimal.to_integral_value() and not unit else places
        rounded = decimal.quantize(Decimal(1).scaleb(-places))
        return Figure(value=rounded, shown=f"{rounded:,}{unit}", query=line)

    def _typed(self, text: str) -> Decimal | None:
        try:
            query, cell = query_from_line(text)
            result = self.result(query)
        except (NotAQuery, ToolError):
            return None
        row = next((one for one in result.rows if row_name(one.key) == cell.get("row", "")), None)
        found = cell_of(result, row, cell.get("cell", "value"))
        return None if found is None else _decimal(found)

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


def cell_of(result: QueryResult, row: ResultRow | None, name: str) -> float | None:
    """One number of a result: of a group, or of all (`total`, `groups`, `summary`, `all`)."""
    whole = {
        "total": result.total, "first_total": result.first_total, "groups": result.groups, "summary": result.summary,
        "ungrouped": result.total - result.grouped,
    }  # fmt: skip
    if name in whole:
        return whole[name]
    if row is None:
        return None
    if name.startswith("key"):
        return _number_of_key(row, name.removeprefix("key"))
    return _p_of(row) if name == "p" else row.cell(name)


def _number_of_key(row: ResultRow, place: str) -> float | None:
    """A number in the name of a group: `key0.1` is the second one of its first part."""
    key, _, at = place.partition(".")
    if not (key.isdigit() and at.isdigit() and int(key) < len(row.key)):
        return None
    numbers = NUMBER.findall(row.key[int(key)])
    return float(numbers[int(at)]) if int(at) < len(numbers) else None


def _p_of(row: ResultRow) -> float | None:
    """Of the shares of both sides; None: nothing of which they are shares."""
    one, two = row.first, row.now
    if one is None:
        return None
    return compare_shares(Part(hits=one.hits, of=row.first_total), Part(hits=two.hits, of=row.total))


def _id(params: Mapping[str, str], name: str = "dataset") -> int:
    given = params.get(name, "")
    if not given.isascii() or not given.isdigit() or len(given) > 9:  # noqa: PLR2004 - the ids of both databases
        raise UnknownError(name)
    return int(given)


def _decimal(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(repr(round(number, _EXACT))).normalize() + 0
