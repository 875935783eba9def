"""Runs a valid typed query: one statement per side, then order, bounds and differences."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from tallystick.records import record
from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.query.model import OF_NUMBERS, Comparison, Filter, Having, TypedQuery
from tallystick.rooms.insight.query.validation import bucket_name, numbered, refused
from tallystick.text.calendar_names import WEEKDAY_NUMBERS

MOST_GROUPS = 100_000
_DAY_S = 86_400
_DAYS_OF = {"day": 1.0, "week": 7.0, "month": 30.436875}
_USUAL_LIST, _PERCENT, _PERMILLE = 10, 100.0, 1_000


class QueryTables(Protocol):
    """The statements that a query needs."""

    def query_counts(self, chosen: Any, by: Any, part: Any) -> list[Any]:
        """Count groups."""

    def query_numbers(self, chosen: Any, by: Any, column: Column, measure: str) -> list[Any]:
        """Sum up groups."""

    def query_percentiles(self, chosen: Any, by: Any, column: Column, permille: int) -> list[Any]:
        """Rank within groups."""

    def query_span(self, chosen: Any) -> tuple[int | None, int | None]:
        """The first and last moment."""

    def query_tickets(self, chosen: Any, column: Column | None, order: str, limit: int) -> list[Any]:
        """List tickets."""


@record
class Selected:
    """Which tickets are meant: a dataset, and conditions on its columns with their values as numbers."""

    dataset_id: int
    columns: Columns
    where: tuple[Filter, ...]


@record
class GroupValue:
    """The value of one group on one side."""

    tickets: int
    value: float | None
    hits: int = 0
    """Of a share: the tickets that count."""


@record
class ResultRow:
    """One group, with both sides where two are compared."""

    key: tuple[str, ...]
    """Its name in each of the groupings; of a theme its id."""
    now: GroupValue
    first: GroupValue | None = None
    total: int = 0
    """Tickets of which this group's are a part, on each side."""
    first_total: int = 0

    @property
    def difference(self) -> float | None:
        """The second side less the first."""
        one, two = None if self.first is None else self.first.value, self.now.value
        return None if one is None or two is None else two - one

    def cell(self, name: str) -> float | None:
        """One number of the row, by its name in a reference."""
        one, two = None if self.first is None else self.first.value, self.now.value
        compared = bool(one) and two is not None
        made: dict[str, Callable[[], float | None]] = {
            "value": lambda: two,
            "tickets": lambda: self.now.tickets,
            "first": lambda: one,
            "difference": lambda: self.difference,
            "ratio": lambda: (two or 0.0) / (one or 1.0) if compared else None,
            "change": lambda: _PERCENT * ((two or 0.0) / (one or 1.0) - 1) if compared else None,
            "share": lambda: _share(self.now, self.total),
            "first_share": lambda: _share(self.first, self.first_total),
        }
        return made[name]() if name in made else None


def _share(group: GroupValue | None, total: int) -> float | None:
    return _PERCENT * group.hits / total if group is not None and total else None


@record
class QueryResult:
    """The result of a query."""

    query: TypedQuery
    rows: tuple[ResultRow, ...]
    total: int
    """Tickets that are meant; of a comparison, those of the second side."""
    first_total: int | None = None
    grouped: int = 0
    """Tickets in any group; the others have no value there."""
    groups: int = 0
    """Groups before `limit`."""
    summary: float | None = None
    tickets: tuple[tuple[int, float | None], ...] = ()
    """Of a list: ids, and the value they are ordered by."""

    def row(self, key: Sequence[str]) -> ResultRow | None:
        """The row of a group."""
        return next((each for each in self.rows if each.key == tuple(key)), None)


def execute(query: TypedQuery, columns: Columns, tables: QueryTables, other: Columns | None = None) -> QueryResult:
    """Run a valid query.

    Args:
        query: As `validated` returned it.
        columns: Of its dataset.
        tables: The database.
        other: Columns of the dataset that it is compared with.

    Raises:
        ToolError: It has more groups than can be told.
    """
    if query.measure == "tickets":
        return _listed(query, columns, tables)
    compare = query.compare or Comparison()
    now = _Side(query, columns, tables, compare.second)
    first = None
    if query.compare is not None:
        first = _Side(
            replace(query, dataset_id=compare.dataset_id or query.dataset_id), other or columns, tables, compare.first
        )
    keys = dict.fromkeys((*now.groups, *(() if first is None else first.groups)))
    if len(keys) > MOST_GROUPS:
        raise refused("The query has too many groups.", "Filter first, or group by a column with fewer values.")
    rows = [_row(key, query, now, first) for key in keys if None not in key]
    kept = _bounded(rows, query.having)
    summary = None if query.summarise is None else _summary([row.now.value for row in kept], query.summarise)
    ordered = _ordered(kept, query)
    return QueryResult(
        query=query,
        rows=tuple(ordered[: query.limit]),
        total=now.total,
        first_total=None if first is None else first.total,
        grouped=sum(row.now.tickets for row in rows) if query.by else now.total,
        groups=len(kept),
        summary=summary,
    )


class _Side:
    """All groups of one side."""

    def __init__(self, query: TypedQuery, columns: Columns, tables: QueryTables, more: tuple[Filter, ...]) -> None:
        self._columns, self._query, self._tables = columns, query, tables
        where = numbered((*query.where, *more), columns)
        self._chosen = Selected(dataset_id=query.dataset_id, columns=columns, where=where)
        self._by = query.by
        self.total = int(tables.query_counts(self._chosen, (), ())[0].n)
        self.everything = self.total
        if query.compare is not None and query.where and not query.by:
            whole = replace(self._chosen, where=numbered(more, columns))
            self.everything = int(tables.query_counts(whole, (), ())[0].n)
        self.groups = {self._key(row): value for row, value in self._values()}

    def _values(self) -> list[tuple[Any, GroupValue]]:
        query, measure = self._query, self._query.measure
        column = None if query.of is None else self._columns.find(query.of)
        if column is not None and measure in {"median", "percentile"}:
            permille = _PERMILLE // 2 if measure == "median" else round((query.percent or 0) * _PERMILLE / _PERCENT)
            rows = self._tables.query_percentiles(self._chosen, self._by, column, permille)
            return [(row, GroupValue(tickets=int(row.n), value=_between(row, permille))) for row in rows if row.n]
        if column is not None and measure in OF_NUMBERS | {"distinct"}:
            rows = self._tables.query_numbers(self._chosen, self._by, column, measure)
            return [
                (row, GroupValue(tickets=int(row.n), value=None if row.value is None else float(row.value)))
                for row in rows
            ]
        part = numbered(query.part, self._columns)
        rows = self._tables.query_counts(self._chosen, self._by, part)
        return [(row, self._counted(int(row.n), int(row.hits))) for row in rows]

    def _counted(self, tickets: int, hits: int) -> GroupValue:
        query = self._query
        if query.measure == "share":
            of = tickets if query.part else self.total
            part = hits if query.part else tickets
            return GroupValue(tickets=tickets, value=_PERCENT * part / of if of else None, hits=part)
        if query.measure == "rate":
            return GroupValue(tickets=tickets, value=tickets / self._units() if tickets else 0.0)
        return GroupValue(tickets=tickets, value=tickets, hits=tickets)

    def _units(self) -> float:
        """Days, weeks or months from the first to the last moment that the query leaves open."""
        first, last = self._tables.query_span(replace(self._chosen, where=()))
        low, high = (first or 0) // _DAY_S, (last or 0) // _DAY_S
        for one in self._chosen.where:
            if one.column == "created_at" and one.bucket is None:
                day = int(float(one.values[0])) // _DAY_S
                low = max(low, day) if one.op == "at_least" else low
                high = min(high, day - 1) if one.op == "under" else high
        return max(1, high - low + 1) / _DAYS_OF[self._query.per or "day"]

    def _key(self, row: Any) -> tuple[str | None, ...]:
        found: list[str | None] = []
        for place, one in enumerate(self._by):
            value, column = row[place], self._columns.find(one.column)
            if value is None or column is None or (column.kind == "theme" and value < 0):
                found.append(None)
            elif one.bucket is not None:
                found.append(bucket_name(int(value), one.bucket))
            elif column.kind == "value":
                found.append(column.values[int(value)])
            else:
                found.append(plain_number(float(value)))
        return tuple(found)


def plain_number(value: float) -> str:
    """A number as people write it, without the point of a whole one."""
    return str(int(value)) if value == int(value) else repr(round(value, 9))


def _between(row: Any, permille: int) -> float | None:
    low = None if row.low is None else float(row.low)
    rest = (int(row.n) - 1) * permille % _PERMILLE
    if low is None or not rest or row.high is None:
        return low
    return low + (float(row.high) - low) * rest / _PERMILLE


def _row(key: tuple[Any, ...], query: TypedQuery, now: _Side, first: _Side | None) -> ResultRow:
    nothing = GroupValue(tickets=0, value=0.0 if query.measure in {"count", "share", "rate", "sum"} else None)
    return ResultRow(
        key=key,
        now=now.groups.get(key, nothing),
        first=None if first is None else first.groups.get(key, nothing),
        total=now.everything,
        first_total=0 if first is None else first.everything,
    )


def _bounded(rows: list[ResultRow], having: Having | None) -> list[ResultRow]:
    if having is None:
        return rows
    bound = having.number
    if having.times_of is not None:
        named = next((row.now.value for row in rows if having.times_of in row.key), None)
        if named is None:
            raise refused(f"There is no group '{having.times_of[:60]}'.", "Name one of the groups.")
        bound *= named
    test = {"over": operator.gt, "at_least": operator.ge, "under": operator.lt, "at_most": operator.le}[having.op]
    return [row for row in rows if row.now.value is not None and test(row.now.value, bound)]


def _ordered(rows: list[ResultRow], query: TypedQuery) -> list[ResultRow]:
    by_time = any(one.bucket is not None for one in query.by)
    order = query.order or ("key" if by_time or len(query.by) > 1 else "highest")
    rows = sorted(rows, key=lambda row: _by_key(row, query))
    if order == "key":
        return rows
    cell = "value" if query.compare is None or query.compare.show == "both" else query.compare.show
    known = [row for row in rows if row.cell(cell) is not None]
    sign = -1 if order == "highest" else 1
    return sorted(known, key=lambda row: sign * (row.cell(cell) or 0.0)) + [row for row in rows if row not in known]


def _by_key(row: ResultRow, query: TypedQuery) -> tuple[Any, ...]:
    return tuple(
        (WEEKDAY_NUMBERS[key.lower()], "") if one.bucket == "weekday" else _natural(key)
        for key, one in zip(row.key, query.by, strict=True)
    )


def _natural(key: str) -> tuple[float, str]:
    """Numbers by their size, and before words."""
    try:
        return float(key), ""
    except ValueError:
        return float("inf"), key


def _summary(values: Sequence[float | None], how: str) -> float | None:
    known = sorted(value for value in values if value is not None)
    if how == "count":
        return len(known)
    if not known:
        return None
    middle = len(known) // 2
    made: Mapping[str, float] = {
        "mean": sum(known) / len(known),
        "median": known[middle] if len(known) % 2 else (known[middle - 1] + known[middle]) / 2,
        "minimum": known[0],
        "maximum": known[-1],
    }
    return made[how]


def _listed(query: TypedQuery, columns: Columns, tables: QueryTables) -> QueryResult:
    chosen = Selected(dataset_id=query.dataset_id, columns=columns, where=numbered(query.where, columns))
    column = None if query.of is None else columns.find(query.of)
    rows = tables.query_tickets(chosen, column, query.order or "highest", query.limit or _USUAL_LIST)
    total = int(tables.query_counts(chosen, (), ())[0].n)
    found = tuple((int(row.ticket_id), None if column is None else float(row.value)) for row in rows)
    return QueryResult(query=query, rows=(), total=total, tickets=found, groups=len(found))
