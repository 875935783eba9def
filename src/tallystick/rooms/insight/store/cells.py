"""Values of tickets as numbers: written once a dataset is stored, read by every query.

A column's kind is known only after its last row: numbers and times are stored as they are, other values by their place
in the list of the column's values. A column of free text has no numbers, and is only searched for words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from tallystick.rooms.insight.query.columns import COUNTED_FIELDS, TIMES, WORDS, Column
from tallystick.rooms.insight.store.tables import BATCH, DATASETS, META, TICKETS, UNFINISHED, Tables
from tallystick.storage.database import writing
from tallystick.text.folding import fold_case

SLOTS = 40
_NUMBER: sa.types.TypeEngine[float] = sa.Double().with_variant(sa.Numeric(asdecimal=False), "sqlite")
CELLS = sa.Table(
    "tally_insight_cells",
    META,
    sa.Column("dataset_id", sa.Integer, primary_key=True),
    sa.Column("ticket_id", sa.Integer, primary_key=True),
    sa.Column("created_at", sa.BigInteger),
    sa.Column("created_month", sa.Integer),
    sa.Column("resolved_at", sa.BigInteger),
    *(sa.Column(f"v{slot}", _NUMBER) for slot in range(1, SLOTS + 1)),
)
COLUMNS = sa.Table(
    "tally_insight_columns",
    META,
    sa.Column("dataset_id", sa.Integer, primary_key=True),
    sa.Column("place", sa.Integer, primary_key=True),
    sa.Column("body", sa.LargeBinary),
)
MOST_LISTED = 20_000
"""A column with more different values is free text, or an id."""
LONGEST_VALUE = 200
_NUMERAL = re.compile(
    r"(?P<sign>-)?[€£$]?\s?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?:0|[1-9]\d{0,14})(?:[.,]\d{1,9})?)\s?[€£$%]?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_ISO = re.compile(r"\s*\d{4}-\d{2}-\d{2}(?:[T ]|\s*$)")
_MISSING = frozenset({"", "-", "null", "none", "n/a", "na", "nan", "#n/a", "undefined"})


class Cells(Tables):
    """The columns of datasets, and their numbers."""

    def columns(self, dataset_id: int) -> tuple[Column, ...]:
        """The columns of a dataset; it is read into them first where that has not been done."""
        found = self._known_columns(dataset_id)
        if not found:
            self.index_columns(dataset_id)
            found = self._known_columns(dataset_id)
        return found

    def index_columns(self, dataset_id: int) -> None:
        """Write the numbers of a dataset's tickets; the columns follow last, and say that all is there."""
        query = sa.select(DATASETS.c.body).where(DATASETS.c.id == dataset_id, DATASETS.c.row_count != UNFINISHED)
        rows = self.rows(query)
        if not rows:
            return
        names = orjson.loads(rows[0].body).get("mapping", {})
        learned = _Learned()
        for _, row in _raw_rows(self.engine, dataset_id):
            learned.add(row)
        columns = learned.columns(names)
        with writing(self.engine) as connection:
            connection.execute(sa.delete(CELLS).where(CELLS.c.dataset_id == dataset_id))
        rows_left = _numbered(_raw_rows(self.engine, dataset_id), columns, dataset_id)
        while batch := list(islice(rows_left, BATCH)):
            self._write_cells(batch)
        statement = self.insert(COLUMNS).on_conflict_do_nothing()
        bodies = [
            {"dataset_id": dataset_id, "place": place, "body": orjson.dumps(_body(column))}
            for place, column in enumerate(columns)
        ]
        with writing(self.engine) as connection:
            connection.execute(statement, bodies)

    def _known_columns(self, dataset_id: int) -> tuple[Column, ...]:
        query = sa.select(COLUMNS.c.body).where(COLUMNS.c.dataset_id == dataset_id).order_by(COLUMNS.c.place)
        found = (orjson.loads(row.body) for row in self.rows(query))
        return tuple(Column(**{**body, "values": tuple(body.get("values", ()))}) for body in found)

    def _write_cells(self, rows: list[dict[str, Any]]) -> None:
        with writing(self.engine) as connection:
            # Another process may be writing the same numbers; they cannot differ.
            connection.execute(self.insert(CELLS).on_conflict_do_nothing(), rows)


def _body(column: Column) -> dict[str, Any]:
    return {
        name: value
        for name in ("key", "name", "kind", "slot", "values", "filled", "low", "high")
        if (value := getattr(column, name)) not in (None, ())
    }


def _raw_rows(engine: Engine, dataset_id: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each ticket's id and its countable values, in order."""
    after = 0
    c = TICKETS.c
    while True:
        query = sa.select(c.id, c.created_at, c.department, c.product, c.category, c.body)
        query = query.where(c.dataset_id == dataset_id, c.id > after).order_by(c.id).limit(BATCH)
        with engine.connect() as connection:
            rows = connection.execute(query).all()
        for row in rows:
            body = orjson.loads(row.body)
            extra = body.pop("extra", None) or {}
            body["created_at"], body["department"] = row.created_at, row.department
            body["product"], body["category"] = row.product, row.category
            yield row.id, {"fields": body, "extra": extra}
        if len(rows) < BATCH:
            return
        after = rows[-1].id


class _Values:
    """What is learned of one column while its rows go by."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.filled = 0
        self.numeric = self.timed = True
        self.listed = True
        self.low: float | None = None
        self.high: float | None = None

    def add(self, value: str | float) -> None:
        text = value if isinstance(value, str) else str(value)
        if text in self.places:
            self.filled += 1
            return
        if fold_case(text.strip()) in _MISSING:
            return
        self.filled += 1
        number = number_in(text) if self.numeric else None
        moment = moment_in(text) if self.timed and number is None else None
        self.numeric, self.timed = number is not None, moment is not None
        bound = number if moment is None else moment
        if bound is not None:
            self.low = bound if self.low is None else min(self.low, bound)
            self.high = bound if self.high is None else max(self.high, bound)
        if self.listed:
            self.listed = len(self.places) < MOST_LISTED and len(text) <= LONGEST_VALUE
            self.places[text] = len(self.places)
            if not self.listed:
                self.places.clear()

    @property
    def kind(self) -> str:
        if self.filled and (self.numeric or self.timed):
            return "number" if self.numeric else "time"
        return "value" if self.listed and self.filled else "words"


class _Learned:
    """The columns of a dataset, after one reading."""

    def __init__(self) -> None:
        self.fields = {name: _Values() for name in (*COUNTED_FIELDS, *TIMES)}
        self.extra: dict[str, _Values] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        fields = row["fields"]
        for name, values in self.fields.items():
            if (value := fields.get(name)) is not None:
                values.add(value)
        for name, value in row["extra"].items():
            self.extra.setdefault(name, _Values()).add(value)

    def columns(self, names: Mapping[str, str]) -> list[Column]:
        """With their slots; the first columns of a file get one, as many as there are."""
        made = [
            Column(key=name, name=names.get(name, name), kind="time", filled=one.filled, low=one.low, high=one.high)
            for name in TIMES
            if (one := self.fields[name]).filled
        ]
        made.append(Column(key=WORDS, name=names.get("text", "text"), kind="words", filled=1))
        made.append(Column(key="external_id", name=names.get("external_id", "external_id"), kind="id", filled=1))
        found = [(name, names.get(name, name), self.fields[name]) for name in COUNTED_FIELDS]
        taken = {*COUNTED_FIELDS, *TIMES, WORDS}
        found += [(f"extra.{name}" if name in taken else name, name, one) for name, one in self.extra.items()]
        slot = 0
        for key, name, values in found:
            kind = "value" if key in COUNTED_FIELDS and values.listed and key != "reassignments" else values.kind
            if not values.filled or kind == "words" or slot == SLOTS:
                continue
            slot += 1
            listed = tuple(values.places) if kind == "value" else ()
            made.append(
                Column(
                    key=key, name=name, kind=kind, slot=slot, values=listed, filled=values.filled,
                    low=None if listed else values.low, high=None if listed else values.high,
                )
            )  # fmt: skip
        return made


def _numbered(
    rows: Iterable[tuple[int, dict[str, Any]]], columns: list[Column], dataset_id: int
) -> Iterator[dict[str, Any]]:
    slots = [(one, {value: at for at, value in enumerate(one.values)}) for one in columns if one.slot]
    # Only the slots in use: a statement with forty columns takes three times as long.
    empty = dict.fromkeys(f"v{one.slot}" for one in columns if one.slot)
    for ticket_id, row in rows:
        fields, extra = row["fields"], row["extra"]
        created = fields["created_at"]
        made: dict[str, Any] = {
            **empty,
            "dataset_id": dataset_id,
            "ticket_id": ticket_id,
            "created_at": created,
            "created_month": None if created is None else _month(created),
            "resolved_at": fields.get("resolved_at"),
        }
        for column, places in slots:
            value = fields.get(column.key) if column.key in COUNTED_FIELDS else extra.get(column.name)
            if value is not None:
                made[f"v{column.slot}"] = _as_number(column.kind, places, value)
        yield made


def _as_number(kind: str, places: Mapping[str, int], value: str | float) -> float | None:
    if kind == "value":
        return places.get(str(value))
    return number_in(str(value)) if kind == "number" else moment_in(str(value))


def _month(moment: int) -> int:
    """Months since the year 0."""
    when = datetime.fromtimestamp(moment, UTC)
    return when.year * 12 + when.month - 1


def number_in(text: str) -> float | None:
    """A number as an export writes it, with or without the sign of a currency; ids with leading zeros are none."""
    found = _NUMERAL.fullmatch(text.strip())
    if found is None:
        return None
    digits = found["digits"]
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    return float(f"{found['sign'] or ''}{digits.replace(',', '.')}")


def moment_in(text: str) -> int | None:
    """A date or date-time in the form of ISO 8601, as epoch seconds."""
    if not _ISO.match(text):
        return None
    try:
        found = datetime.fromisoformat(text.strip())
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None
