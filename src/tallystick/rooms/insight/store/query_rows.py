"""A valid typed query as SQL, the same on both databases: one statement per side of a comparison."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection, Row

from tallystick.rooms.insight.query.columns import TIMES, WORDS, Column
from tallystick.rooms.insight.query.execution import Selected
from tallystick.rooms.insight.query.model import DAYS, HOURS, Filter, Grouping
from tallystick.rooms.insight.store.cells import CELLS
from tallystick.rooms.insight.store.tables import ASSIGNMENTS, TICKETS, Tables

_DAY_S, _HOUR_S, _MONDAY, _WEEK = 86_400, 3_600, 3, 7
_MONTHS = 12
_PERMILLE = 1_000
_AS_TIMES = 8
"""The precedence of multiplication, for operators that divide whole numbers on both databases."""
_ENDINGS = "(?:'s|s|es|ed|ing)?"
"""The inflections of a word that is searched for; no word merely begins with it."""


class QueryRows(Tables):
    """Runs the statements of typed queries."""

    def query_counts(self, chosen: Selected, by: Sequence[Grouping], part: Sequence[Filter]) -> list[Row[Any]]:
        """Group keys, tickets, and those of them that satisfy `part`."""
        source = _Source(chosen, by, part, postgres=self.postgres)
        hits = sa.func.count() if not part else sa.func.coalesce(sa.func.sum(_as_one(source.conditions(part))), 0)
        keys = source.keys(by)
        query = sa.select(*keys, sa.func.count().label("n"), hits.label("hits"))
        return self._run(source, query.group_by(*keys) if keys else query)

    def query_numbers(self, chosen: Selected, by: Sequence[Grouping], column: Column, measure: str) -> list[Row[Any]]:
        """Group keys, tickets with a value, and a sum, mean, minimum, maximum or number of different values."""
        source = _Source(chosen, by, postgres=self.postgres)
        value = source.expression(column)
        made = {
            "sum": sa.func.sum(value),
            "mean": sa.func.avg(sa.cast(value, sa.Double)),
            "minimum": sa.func.min(value),
            "maximum": sa.func.max(value),
            "distinct": sa.func.count(sa.distinct(value)),
        }[measure]
        keys = source.keys(by)
        query = sa.select(*keys, sa.func.count(value).label("n"), made.label("value")).where(value.is_not(None))
        return self._run(source, query.group_by(*keys) if keys else query)

    def query_percentiles(
        self, chosen: Selected, by: Sequence[Grouping], column: Column, permille: int
    ) -> list[Row[Any]]:
        """Group keys, tickets with a value, and the two values between which the percentile lies."""
        source = _Source(chosen, by, postgres=self.postgres)
        value, keys = source.expression(column), source.keys(by)
        place = sa.func.row_number().over(partition_by=keys or None, order_by=value).label("place")
        many = sa.func.count().over(partition_by=keys or None).label("n")
        ranked = source.narrowed(sa.select(*keys, value.label("value"), place, many).where(value.is_not(None)))
        inner = ranked.subquery()
        below = (inner.c.n - 1).op("*", precedence=_AS_TIMES)(permille).op("/", precedence=_AS_TIMES)(_PERMILLE) + 1
        names = [inner.c[key.name] for key in keys]
        low = sa.func.max(sa.case((inner.c.place == below, inner.c.value)))
        high = sa.func.max(sa.case((inner.c.place == below + 1, inner.c.value)))
        query = sa.select(*names, sa.func.max(inner.c.n).label("n"), low.label("low"), high.label("high"))
        query = query.where(inner.c.place.between(below, below + 1))
        return self._execute(query.group_by(*names) if names else query, source)

    def query_span(self, chosen: Selected) -> tuple[int | None, int | None]:
        """The first and the last moment at which one of the tickets was written."""
        source = _Source(chosen, postgres=self.postgres)
        query = sa.select(sa.func.min(CELLS.c.created_at), sa.func.max(CELLS.c.created_at))
        row: Any = self._run(source, query)[0]
        return row[0], row[1]

    def query_tickets(self, chosen: Selected, column: Column | None, order: str, limit: int) -> list[Row[Any]]:
        """Ids and the value they are ordered by."""
        source = _Source(chosen, postgres=self.postgres)
        value = CELLS.c.ticket_id if column is None else source.expression(column)
        query = sa.select(CELLS.c.ticket_id, value.label("value"))
        if column is not None:
            query = query.where(value.is_not(None))
        first = value.desc() if order == "highest" else value.asc()
        return self._run(source, query.order_by(first, CELLS.c.ticket_id).limit(limit))

    def _run(self, source: "_Source", query: Any) -> list[Row[Any]]:
        return self._execute(source.narrowed(query), source)

    def _execute(self, query: Any, source: "_Source") -> list[Row[Any]]:
        with self.engine.connect() as connection:
            if source.searches and not self.postgres:
                _add_mentions(connection)
            return list(connection.execute(query).all())


class _Source:
    """The tables that a query reads, joined as far as it needs them."""

    def __init__(
        self, chosen: Selected, by: Sequence[Grouping] = (), part: Sequence[Filter] = (), *, postgres: bool
    ) -> None:
        self._chosen, self._postgres = chosen, postgres
        filters = (*chosen.where, *part)
        named = [chosen.columns.find(name) for name in (*(one.column for one in filters), *(one.column for one in by))]
        self.searches = any(one is not None and one.key == WORDS for one in named)
        self._theme = next((one for one in named if one is not None and one.kind == "theme"), None)

    def narrowed(self, query: Any) -> Any:
        """The query, from these tables and of these tickets."""
        tables: Any = CELLS
        if self.searches:
            tables = tables.join(TICKETS, TICKETS.c.id == CELLS.c.ticket_id)
        if self._theme is not None:
            joined = (ASSIGNMENTS.c.ticket_id == CELLS.c.ticket_id) & (ASSIGNMENTS.c.run_id == self._theme.slot)
            tables = tables.outerjoin(ASSIGNMENTS, joined)
        mine = CELLS.c.dataset_id == self._chosen.dataset_id
        return query.select_from(tables).where(mine, *self.conditions(self._chosen.where))

    def keys(self, by: Sequence[Grouping]) -> list[Any]:
        """The expressions of the groups."""
        return [
            self.expression(self._column(one.column), one.bucket).label(f"key{place}") for place, one in enumerate(by)
        ]

    def conditions(self, filters: Sequence[Filter]) -> list[Any]:
        """The conditions of filters, whose values are numbers by now."""
        return [self._condition(one) for one in filters]

    def expression(self, column: Column, bucket: str | None = None) -> Any:
        """The SQL of a column, or of a bucket of its time."""
        if bucket is not None:
            return _bucket(
                self._moment(column), bucket, month=CELLS.c.created_month if column.key == TIMES[0] else None
            )
        created, resolved = CELLS.c.created_at, CELLS.c.resolved_at
        if column.key == HOURS:
            return sa.case((resolved >= created, (resolved - created).op("/", precedence=_AS_TIMES)(float(_HOUR_S))))
        if column.key == DAYS:
            return sa.case(
                (
                    resolved >= created,
                    resolved.op("/", precedence=_AS_TIMES)(_DAY_S) - created.op("/", precedence=_AS_TIMES)(_DAY_S),
                )
            )
        if column.kind == "theme":
            return ASSIGNMENTS.c.cluster_id
        return CELLS.c[column.key] if column.key in TIMES else CELLS.c[f"v{column.slot}"]

    def _moment(self, column: Column) -> Any:
        found = self.expression(column)
        return found if column.key in TIMES else sa.cast(found, sa.BigInteger)

    def _condition(self, one: Filter) -> Any:
        column = self._column(one.column)
        if one.op == "mentions":
            return _mentions(one.values, postgres=self._postgres)
        value = self.expression(column, one.bucket)
        if one.op in {"known", "unknown"}:
            return value.is_not(None) if one.op == "known" else value.is_(None)
        numbers = [float(each) for each in one.values]
        if one.op == "is":
            return value.in_(numbers)
        if one.op == "is_not":
            return sa.or_(value.not_in(numbers), value.is_(None))
        bound = numbers[0]
        return {"over": value > bound, "at_least": value >= bound, "under": value < bound, "at_most": value <= bound}[
            one.op
        ]

    def _column(self, name: str) -> Column:
        found = self._chosen.columns.find(name)
        if found is None:
            raise KeyError(name)
        return found


def _as_one(conditions: Sequence[Any]) -> Any:
    return sa.case((sa.and_(*conditions), 1), else_=0)


def _bucket(moment: Any, bucket: str, *, month: Any) -> Any:
    day = moment.op("/", precedence=_AS_TIMES)(_DAY_S)
    if bucket == "day":
        return day
    if bucket == "week":
        return (day + _MONDAY).op("/", precedence=_AS_TIMES)(_WEEK)
    if bucket == "weekday":
        return (day + _MONDAY).op("%", precedence=_AS_TIMES)(_WEEK)
    if bucket == "hour":
        return moment.op("/", precedence=_AS_TIMES)(_HOUR_S).op("%", precedence=_AS_TIMES)(24)
    month = _month_of(day) if month is None else month
    return {
        "month": month,
        "quarter": month.op("/", precedence=_AS_TIMES)(3),
        "year": month.op("/", precedence=_AS_TIMES)(_MONTHS),
    }[bucket]


def _month_of(day: Any) -> Any:
    """Months since the year 0 by the days since 1970, in whole numbers alone (Howard Hinnant's algorithm)."""
    shifted = day + 719_468
    era = shifted.op("/", precedence=_AS_TIMES)(146_097)
    of_era = shifted - era.op("*", precedence=_AS_TIMES)(146_097)
    leap = (
        of_era
        - of_era.op("/", precedence=_AS_TIMES)(1_460)
        + of_era.op("/", precedence=_AS_TIMES)(36_524)
        - of_era.op("/", precedence=_AS_TIMES)(146_096)
    )
    year = leap.op("/", precedence=_AS_TIMES)(365)
    of_year = of_era - (
        year.op("*", precedence=_AS_TIMES)(365)
        + year.op("/", precedence=_AS_TIMES)(4)
        - year.op("/", precedence=_AS_TIMES)(100)
    )
    month = (of_year.op("*", precedence=_AS_TIMES)(5) + 2).op("/", precedence=_AS_TIMES)(153) + 2
    return (year + era.op("*", precedence=_AS_TIMES)(400)).op("*", precedence=_AS_TIMES)(_MONTHS) + month


def _mentions(terms: Sequence[str], *, postgres: bool) -> Any:
    """Tickets whose summary or text holds one of the terms as words of its own, inflected or not."""
    forms = "|".join(r"\s+".join(map(re.escape, term.split())) + _ENDINGS for term in terms)
    if not postgres:
        return sa.func.tally_mentions(TICKETS.c.body, rf"(?<![^\W_])(?:{forms})(?![^\W_])") == 1
    body = sa.cast(sa.func.convert_from(TICKETS.c.body, "UTF8"), postgresql.JSON)
    said = sa.func.concat(body.op("->>")("summary"), "\n", body.op("->>")("text"))
    return said.op("~*")(f"(?<![[:alnum:]])(?:{forms})(?![[:alnum:]])")


def _add_mentions(connection: Connection) -> None:
    """SQLite asks Python whether a ticket holds words."""
    found = lru_cache(maxsize=8)(lambda pattern: re.compile(pattern, re.IGNORECASE))

    def mentions(body: bytes, pattern: str) -> int:
        said = orjson.loads(body)
        return int(found(pattern).search(f"{said.get('summary') or ''}\n{said['text']}") is not None)

    driver: Any = connection.connection.driver_connection
    driver.create_function("tally_mentions", 2, mentions, deterministic=True)
