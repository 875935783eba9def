"""A typed query: its records, its JSON form and its line form.

The line form is what a figure, a report and a text field hold:

    query?by=hub&dataset=1&measure=median&of=resolution_hours&where=state:is:solved
"""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from tallystick.records import record

MEASURES = (
    "count", "share", "sum", "mean", "median", "percentile", "minimum", "maximum", "distinct", "rate", "tickets",
)  # fmt: skip
OF_NUMBERS = frozenset({"sum", "mean", "median", "percentile", "minimum", "maximum"})
"""Measures of a column that holds numbers."""
BUCKETS = ("day", "week", "month", "quarter", "year", "weekday", "hour")
ORDERED = ("under", "at_most", "over", "at_least")
OPERATORS = ("is", "is_not", *ORDERED, "mentions", "known", "unknown")
SHOWS = ("both", "difference", "change", "ratio")
"""What is asked of a comparison: both values, the second less the first, the change in percent, or how many times."""
SUMMARIES = ("count", "mean", "median", "minimum", "maximum")
ORDERS = ("highest", "lowest", "key")
HOURS, DAYS, THEME = "resolution_hours", "resolution_days", "theme"
"""Columns that every dataset has beside those of its file: hours and calendar days until a ticket was resolved."""
PREFIX = "query?"


@record
class Filter:
    """A condition on one column; several values are alternatives."""

    column: str
    op: str
    values: tuple[str, ...] = ()
    bucket: str | None = None
    """Of a time: the weekday, hour or month is meant instead of the moment."""


@record
class Grouping:
    """A column by which tickets are grouped."""

    column: str
    bucket: str | None = None


@record
class Having:
    """A bound on the value of a group: a number, or so many times the value of a named group."""

    op: str
    number: float
    times_of: str | None = None


@record
class Comparison:
    """The two sides of a comparison: `first` is the earlier or the one that is compared with."""

    first: tuple[Filter, ...] = ()
    second: tuple[Filter, ...] = ()
    dataset_id: int | None = None
    """Another dataset, which is the first side."""
    show: str = "both"


@record
class TypedQuery:
    """What is computed, of which tickets, in which groups."""

    dataset_id: int
    measure: str = "count"
    of: str | None = None
    """The column of the measure."""
    percent: float | None = None
    """Of a percentile."""
    per: str | None = None
    """Of a rate: day, week or month."""
    where: tuple[Filter, ...] = ()
    part: tuple[Filter, ...] = ()
    """Of a share: the tickets that count."""
    by: tuple[Grouping, ...] = ()
    compare: Comparison | None = None
    having: Having | None = None
    summarise: str | None = None
    """One number of the values of all groups."""
    order: str | None = None
    limit: int | None = None
    run: int | None = None
    """The grouping whose themes are meant."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form; what is not said is left out."""
        found: dict[str, Any] = {"dataset_id": self.dataset_id, "measure": self.measure}
        for name in ("of", "percent", "per", "summarise", "order", "limit", "run"):
            if (value := getattr(self, name)) is not None:
                found[name] = value
        for name in ("where", "part"):
            if filters := getattr(self, name):
                found[name] = [_filter_dict(one) for one in filters]
        if self.by:
            found["by"] = [_present(column=one.column, bucket=one.bucket) for one in self.by]
        if self.compare is not None:
            one = self.compare
            found["compare"] = _present(
                first=[_filter_dict(each) for each in one.first] or None,
                second=[_filter_dict(each) for each in one.second] or None,
                dataset_id=one.dataset_id,
                show=one.show,
            )
        if self.having is not None:
            found["having"] = _present(op=self.having.op, number=self.having.number, times_of=self.having.times_of)
        return found

    def line(self, **cell: str | None) -> str:
        """The line form.

        Args:
            cell: `row` and `cell` of one number in the result.
        """
        pairs: list[tuple[str, str]] = [("dataset", str(self.dataset_id)), ("measure", self.measure)]
        named = ("of", "per", "summarise", "order", "limit", "run")
        pairs += [(name, _escaped(str(value))) for name in named if (value := getattr(self, name)) is not None]
        if self.percent is not None:
            pairs.append(("percent", _number(self.percent)))
        pairs += [(name, _joined(getattr(self, name))) for name in ("where", "part") if getattr(self, name)]
        if self.by:
            pairs.append(("by", ",".join(_named(one.column, one.bucket) for one in self.by)))
        if self.compare is not None:
            pairs += _comparison_pairs(self.compare)
        if self.having is not None:
            times = () if self.having.times_of is None else (_escaped(self.having.times_of),)
            pairs.append(("having", ":".join((self.having.op, _number(self.having.number), *times))))
        pairs += [(name, value) for name, value in cell.items() if value is not None]
        return PREFIX + "&".join(f"{name}={value}" for name, value in sorted(pairs))


class NotAQuery(ValueError):  # noqa: N818 - reads as what it is
    """A text that is no query in line form."""


def query_from(given: Mapping[str, Any]) -> TypedQuery:
    """A query from its JSON form, which fits the schema."""
    compare, having = given.get("compare"), given.get("having")
    plain = {name: given.get(name) for name in ("of", "percent", "per", "summarise", "order", "limit", "run")}
    return TypedQuery(
        dataset_id=given["dataset_id"],
        measure=given.get("measure", "count"),
        where=_filters(given.get("where")),
        part=_filters(given.get("part")),
        by=tuple(Grouping(column=one["column"], bucket=one.get("bucket")) for one in given.get("by") or ()),
        compare=None
        if compare is None
        else Comparison(
            first=_filters(compare.get("first")),
            second=_filters(compare.get("second")),
            dataset_id=compare.get("dataset_id"),
            show=compare.get("show", "both"),
        ),
        having=None
        if having is None
        else Having(op=having["op"], number=having["number"], times_of=having.get("times_of")),
        **plain,
    )


def query_from_line(text: str) -> tuple[TypedQuery, dict[str, str]]:
    """A query from its line form, and which cell of its result is meant (`row`, `cell`).

    Raises:
        NotAQuery: It cannot be read.
    """
    if not text.startswith(PREFIX):
        raise NotAQuery(text[:80])
    pairs = dict(pair.partition("=")[::2] for pair in text.removeprefix(PREFIX).split("&"))
    cell: dict[str, str] = {name: pairs.pop(name) for name in ("row", "cell") if name in pairs}
    try:
        return _from_pairs(pairs), cell
    except (KeyError, ValueError, IndexError):
        raise NotAQuery(text[:80]) from None


def _from_pairs(pairs: dict[str, str]) -> TypedQuery:
    whole: dict[str, Any] = {name: int(pairs.pop(name)) for name in ("limit", "run") if name in pairs}
    text: dict[str, Any] = {
        name: unquote(pairs.pop(name)) for name in ("of", "per", "summarise", "order", "measure") if name in pairs
    }
    filters: dict[str, Any] = {name: _filters_in(pairs.pop(name)) for name in ("where", "part") if name in pairs}
    by = tuple(Grouping(column=column, bucket=bucket) for column, bucket in map(_name_in, _list(pairs.pop("by", ""))))
    sides = {name: _filters_in(pairs.pop(name)) for name in ("first", "second") if name in pairs}
    other, show = pairs.pop("other", None), pairs.pop("show", None)
    compare = None
    if show is not None:
        compare = Comparison(**sides, show=show, dataset_id=None if other is None else int(other))
    having = None
    if bound := pairs.pop("having", None):
        op, number, *times = bound.split(":")
        having = Having(op=op, number=float(number), times_of=unquote(times[0]) if times else None)
    percent = pairs.pop("percent", None)
    made = TypedQuery(
        dataset_id=int(pairs.pop("dataset")),
        by=by,
        compare=compare,
        having=having,
        percent=None if percent is None else float(percent),
        **text,
        **whole,
        **filters,
    )
    if pairs:
        raise ValueError
    return made


def row_name(keys: Iterable[str]) -> str:
    """The name of a row in a reference."""
    return "|".join(map(_escaped, keys))


def _filters(given: Iterable[Mapping[str, Any]] | None) -> tuple[Filter, ...]:
    return tuple(
        Filter(
            column=one["column"],
            op=one["op"],
            values=tuple(map(str, one.get("values") or ())),
            bucket=one.get("bucket"),
        )
        for one in given or ()
    )


def _filter_dict(one: Filter) -> dict[str, Any]:
    return _present(column=one.column, op=one.op, values=list(one.values) or None, bucket=one.bucket)


def _present(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _comparison_pairs(one: Comparison) -> list[tuple[str, str]]:
    pairs = [("show", one.show)]
    pairs += [(name, _joined(side)) for name, side in (("first", one.first), ("second", one.second)) if side]
    return pairs if one.dataset_id is None else [*pairs, ("other", str(one.dataset_id))]


def _joined(filters: Iterable[Filter]) -> str:
    return ",".join(
        ":".join((_named(one.column, one.bucket), one.op, "|".join(map(_escaped, one.values)))) for one in filters
    )


def _filters_in(text: str) -> tuple[Filter, ...]:
    found = []
    for each in _list(text):
        name, op, values = each.split(":")
        column, bucket = _name_in(name)
        given = tuple(map(unquote, values.split("|"))) if values else ()
        found.append(Filter(column=column, op=op, values=given, bucket=bucket))
    return tuple(found)


def _named(column: str, bucket: str | None) -> str:
    return _escaped(column) + (f"~{bucket}" if bucket else "")


def _name_in(text: str) -> tuple[str, str | None]:
    column, _, bucket = text.partition("~")
    return unquote(column), bucket or None


def _list(text: str) -> list[str]:
    return text.split(",") if text else []


def _escaped(text: str) -> str:
    return quote(text, safe="", errors="replace").replace("~", "%7E")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
