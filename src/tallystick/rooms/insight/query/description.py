"""A typed query in one English phrase: how the question was read."""

from collections.abc import Sequence
from datetime import date, timedelta

from tallystick.rooms.insight.query.columns import WORDS, Column, Columns
from tallystick.rooms.insight.query.model import Filter, Grouping, TypedQuery
from tallystick.text.calendar_names import MONTHS

_SIGNS = {"under": "less than", "at_most": "at most", "over": "more than", "at_least": "at least"}
_MEASURES = {"mean": "average", "sum": "sum", "median": "median", "minimum": "smallest", "maximum": "largest"}
_EVENTS = {"created_at": "created", "resolved_at": "resolved"}
_MOST_NAMED = 6


def described(query: TypedQuery, columns: Columns, other: str | None = None) -> str:
    """What the query computes, of which tickets, in which groups.

    Args:
        query: A valid one.
        columns: Of its dataset.
        other: The name of the dataset that it is compared with.
    """
    text = f"{_measure(query, columns)}{tickets_described(query.where, columns)}"
    if query.part:
        text += f", of which{tickets_described(query.part, columns)}"
    if query.by:
        text += f", by {' and '.join(_group(one, columns) for one in query.by)}"
    if query.having is not None:
        of = "" if query.having.times_of is None else f" times that of {query.having.times_of}"
        text += f", where that is {_SIGNS[query.having.op]} {_number(query.having.number)}{of}"
    if query.summarise is not None:
        name = (
            "number of groups"
            if query.summarise == "count"
            else f"{_MEASURES.get(query.summarise, query.summarise)} of all groups"
        )
        text += f", {name}"
    if query.limit is not None and query.measure != "tickets":
        text += (
            f", the {'lowest' if query.order == 'lowest' else 'highest'} {query.limit if query.limit > 1 else 'one'}"
        )
    if query.compare is not None:
        text += f"; {side_described(query, columns, first=True, other=other)} compared with "
        text += side_described(query, columns, first=False)
    return text[0].upper() + text[1:]


def side_described(query: TypedQuery, columns: Columns, *, first: bool, other: str | None = None) -> str:
    """One side of a comparison."""
    compare = query.compare
    filters = () if compare is None else compare.first if first else compare.second
    if compare is not None and compare.dataset_id is not None:
        return (other or f"dataset {compare.dataset_id}") if first else "this dataset"
    return tickets_described(filters, columns).strip() or "all tickets"


def tickets_described(filters: Sequence[Filter], columns: Columns) -> str:
    """The conditions as they follow the word `tickets`."""
    left = list(filters)
    said: list[str] = []
    for key, event in _EVENTS.items():
        bounds = {one.op: one for one in left if one.column == key and one.bucket is None and one.values}
        if bounds:
            said.append(f"{event} {_range(bounds)}")
            left = [one for one in left if one not in bounds.values()]
    said += [_condition(one, columns) for one in left]
    return "".join(f" {'' if place == 0 else 'and '}{each}" for place, each in enumerate(said))


def label_of(column: Column | None, key: str) -> str:
    """A group's name: of a theme what it is called."""
    if column is not None and column.labels is not None:
        return column.labels.get(key) or f"theme {key}"
    return key


def _measure(query: TypedQuery, columns: Columns) -> str:
    name = "" if query.of is None else _name(columns.find(query.of), query.of)
    order = "lowest" if query.order == "lowest" else "highest"
    said = {
        "count": "number of tickets",
        "share": "share of tickets",
        "rate": f"tickets per {query.per}",
        "distinct": f"different values of {name} in tickets",
        "tickets": f"the {query.limit or 10} tickets with the {order} {name}" if name else "tickets",
        "percentile": f"{_number(query.percent or 0)}th percentile of {name} of tickets",
    }
    return said.get(query.measure) or f"{_MEASURES[query.measure]} {name} of tickets"


def _name(column: Column | None, key: str) -> str:
    return key if column is None else column.name


def _group(one: Grouping, columns: Columns) -> str:
    column = columns.find(one.column)
    name = _name(column, one.column)
    if one.bucket is None:
        return name
    return one.bucket if one.column == "created_at" else f"{one.bucket} of {name}"


def _condition(one: Filter, columns: Columns) -> str:
    column = columns.find(one.column)
    name = _name(column, one.column)
    if one.bucket is not None:
        name = f"{one.bucket} of {name}"
    if one.op in {"known", "unknown"}:
        return f"{'with' if one.op == 'known' else 'without'} {name}"
    values = [label_of(column, value) for value in one.values]
    shown = " or ".join(values[:_MOST_NAMED]) + (
        f" or {len(values) - _MOST_NAMED} more" if len(values) > _MOST_NAMED else ""
    )
    if one.column == WORDS:
        return "that mention " + " or ".join(f"“{value}”" for value in values[:_MOST_NAMED])
    if one.op in {"is", "is_not"}:
        return f"with {name} {'' if one.op == 'is' else 'not '}{shown}"
    return f"with {name} {_SIGNS[one.op]} {shown}"


def _range(bounds: dict[str, Filter]) -> str:
    first, end = bounds.get("at_least"), bounds.get("under")
    start = None if first is None else date.fromisoformat(first.values[0][:10])
    last = None if end is None else date.fromisoformat(end.values[0][:10]) - timedelta(days=1)
    if start is not None and last is not None:
        if start == last:
            return f"on {_day(start)}"
        if (start.year, start.month) == (last.year, last.month):
            return f"{start.day} to {_day(last)}"
        return f"{_day(start)} to {_day(last)}"
    if start is not None:
        return f"from {_day(start)}"
    return f"until {_day(last)}" if last is not None else "at some time"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1].title()} {day.year}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
