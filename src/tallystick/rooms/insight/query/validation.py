"""A typed query held to the dataset's real columns and values."""

from calendar import timegm
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches

from tallystick.errors import ToolError
from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.query.model import BUCKETS, OF_NUMBERS, ORDERED, Filter, Grouping, TypedQuery
from tallystick.text.calendar_names import WEEKDAY_NUMBERS, WEEKDAYS
from tallystick.text.folding import fold_case

MOST_NAMED = 12
_HOURS_OF_DAY = 24
_MONTHS = 12
_BY_MONTH = {"month": 1, "quarter": 3, "year": _MONTHS}


def validated(query: TypedQuery, columns: Columns, other: Columns | None = None) -> TypedQuery:
    """The query with the columns' own names and values.

    Args:
        query: As it was given.
        columns: Of its dataset.
        other: Of the dataset that it is compared with.

    Raises:
        ToolError: A column, value or combination that there is not; the hint names what there is.
    """
    if not columns.all:
        raise ToolError(f"There is no dataset {query.dataset_id}.", status=404, hint="Import a file first.")
    _check_combination(query)
    of = None if query.of is None else _column(query.of, columns)
    if query.measure in OF_NUMBERS and of is not None and of.kind != "number":
        numbers = ", ".join(each.key for each in columns.all if each.kind == "number") or "none"
        raise refused(f"'{of.key}' holds no numbers.", f"Columns of numbers: {numbers}.")
    compare = query.compare
    if compare is not None:
        compare = replace(
            compare, first=_checked(compare.first, other or columns), second=_checked(compare.second, columns)
        )
    made = replace(
        query,
        of=None if of is None else of.key,
        where=_checked(query.where, columns),
        part=_checked(query.part, columns),
        by=tuple(_grouping(one, columns) for one in query.by),
        compare=compare,
    )
    if other is not None:
        # Both sides must know the columns; their values may differ.
        for name in (*(one.column for one in made.by), *([made.of] if made.of else ())):
            _column(name, other)
    return made


def numbered(filters: Sequence[Filter], columns: Columns) -> tuple[Filter, ...]:
    """Valid filters with the numbers that the database holds for their values."""
    return tuple(_numbered(one, columns) for one in filters)


def refused(message: str, hint: str) -> ToolError:
    """For a query that cannot be run."""
    return ToolError(message, status=400, hint=hint)


def _check_combination(query: TypedQuery) -> None:
    """Refuse what does not go together, with what is missing."""
    measure, compare = query.measure, query.compare
    groups_bounded = query.having is not None or query.summarise is not None
    sides = compare is None or bool(compare.first or compare.second or compare.dataset_id)
    rules = (
        ((measure in OF_NUMBERS or measure == "distinct") and query.of is None, f"'{measure}' needs a column.", "of"),
        (measure == "percentile" and query.percent is None, "A percentile needs a number from 0 to 100.", "percent"),
        (measure == "rate" and query.per is None, "A rate needs day, week or month.", "per"),
        (bool(query.part) and measure != "share", f"'part' belongs to a share, and not to '{measure}'.", "where"),
        (
            measure == "share" and not query.part and not query.by and compare is None,
            "A share needs the tickets that count, or groups.",
            "part",
        ),
        (
            measure == "tickets" and bool(query.by or compare or groups_bounded),
            "A list of tickets has no groups and no comparison.",
            "where",
        ),
        (groups_bounded and not query.by, "'having' and 'summarise' speak of groups.", "by"),
        (not sides, "A comparison needs filters for its sides, or another dataset_id.", "compare"),
    )
    for broken, message, where in rules:
        if broken:
            raise refused(message, f"Give it in '{where}'.")


def _column(name: str, columns: Columns) -> Column:
    found = columns.find(name)
    if found is None:
        raise refused(f"The dataset has no column '{name[:60]}'.", f"Its columns: {', '.join(columns.names)}.")
    return found


def _grouping(one: Grouping, columns: Columns) -> Grouping:
    column = _column(one.column, columns)
    _check_bucket(column, one.bucket)
    if column.kind == "time" and one.bucket is None:
        return Grouping(column=column.key, bucket="day")
    if column.kind in {"words", "id"}:
        raise refused(f"'{column.key}' is text and no groups.", "Group by a column of values, or by a time.")
    return Grouping(column=column.key, bucket=one.bucket)


def _check_bucket(column: Column, bucket: str | None) -> None:
    if bucket is not None and column.kind != "time":
        raise refused(f"'{column.key}' is no time and has no {bucket}.", f"{', '.join(BUCKETS)} belong to times.")


def _checked(filters: Sequence[Filter], columns: Columns) -> tuple[Filter, ...]:
    return tuple(_filter(one, columns) for one in filters)


def _filter(one: Filter, columns: Columns) -> Filter:
    column = _column(one.column, columns)
    _check_bucket(column, one.bucket)
    if one.op in {"known", "unknown"}:
        return replace(one, column=column.key, values=())
    if not one.values or (one.op in ORDERED and len(one.values) != 1):
        raise refused(f"'{one.op}' needs {'one value' if one.op in ORDERED else 'a value'}.", "Give it in 'values'.")
    if (one.op == "mentions") != (column.kind == "words"):
        raise refused(f"'{one.op}' does not fit '{column.key}'.", "Words are searched for in 'text' by 'mentions'.")
    if one.op == "mentions":
        terms = tuple(" ".join(value.split()) for value in one.values)
        if not all(terms):
            raise refused("There are no words to look for.", "Give some in 'values'.")
        return replace(one, column=column.key, values=terms)
    made = replace(one, column=column.key, values=tuple(_real_value(value, column, one) for value in one.values))
    _numbered(made, columns)
    return made


def _real_value(value: str, column: Column, one: Filter) -> str:
    if column.kind == "value" and one.op in {"is", "is_not"}:
        if value in column.values:
            return value
        alike = [each for each in column.values if fold_case(each) == fold_case(value)]
        if not alike:
            near = get_close_matches(value, column.values, n=3) or sorted(column.values)[:MOST_NAMED]
            raise refused(f"'{column.key}' has no value '{value[:60]}'.", f"It has, for example: {', '.join(near)}.")
        return alike[0]
    if column.kind == "id":
        raise refused(f"'{column.key}' is an id and no filter.", "Search for the ticket instead.")
    return value.strip()


def _numbered(one: Filter, columns: Columns) -> Filter:
    column = _column(one.column, columns)
    if one.op in {"known", "unknown", "mentions"}:
        return one
    values = [str(number) for value in one.values for number in _numbers(value, column, one)]
    return replace(one, values=tuple(values))


def _numbers(value: str, column: Column, one: Filter) -> list[float]:
    if column.kind == "value":
        if one.op in ORDERED:
            raise refused(f"'{column.key}' has no order.", "Use 'is' or 'is_not' with its values.")
        # Capitals make no difference: `email` and `Email` are one value to whoever asks.
        return [at for at, each in enumerate(column.values) if each == value or fold_case(each) == fold_case(value)]
    if column.kind == "time":
        return [_time_number(value, one)]
    if column.kind == "theme" and value not in (column.labels or {}):
        raise refused(f"There is no theme {value[:40]}.", f"There are: {', '.join(column.labels or ())}.")
    try:
        return [float(value)]
    except ValueError:
        raise refused(f"'{value[:60]}' is no number.", f"'{column.key}' holds numbers.") from None


def _time_number(value: str, one: Filter) -> float:
    try:
        return _moment_number(value, one.bucket)
    except ValueError:
        asked = "a date as 2026-03-31" if one.bucket is None else f"a {one.bucket}"
        raise refused(f"'{value[:40]}' is no {one.bucket or 'time'}.", f"Give {asked}.") from None


def _moment_number(value: str, bucket: str | None) -> float:
    if bucket == "weekday":
        number = WEEKDAY_NUMBERS.get(fold_case(value))
        if number is None:
            raise ValueError
        return number - 1
    if bucket == "hour":
        hour = int(value.partition(":")[0])
        if not 0 <= hour < _HOURS_OF_DAY:
            raise ValueError
        return hour
    if bucket in _BY_MONTH:
        year, _, month = value.partition("-")
        at = (int(month.lstrip("Qq")) - 1) * (3 if bucket == "quarter" else 1) if month else 0
        return (int(year) * _MONTHS + at) // _BY_MONTH[bucket]
    seconds = timegm(datetime.fromisoformat(value).timetuple())
    if bucket is None:
        return seconds
    day = seconds // 86_400
    return day if bucket == "day" else (day + 3) // 7


def bucket_name(number: int, bucket: str) -> str:
    """What a bucket of a time is called."""
    if bucket == "weekday":
        return WEEKDAYS[number].title()
    if bucket == "hour":
        return f"{number:02}:00"
    if bucket == "year":
        return str(number)
    if bucket == "quarter":
        return f"{number // 4}-Q{number % 4 + 1}"
    if bucket == "month":
        return f"{number // _MONTHS}-{number % _MONTHS + 1:02}"
    day = number if bucket == "day" else number * 7 - 3
    return datetime.fromtimestamp(day * 86_400, UTC).strftime("%Y-%m-%d")
