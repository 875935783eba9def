"""The conditions of a question: which tickets it speaks of, each with the place where it says so."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta

from tallystick.records import record
from tallystick.rooms.insight.query.columns import WORDS, Column, Columns
from tallystick.rooms.insight.query.model import DAYS, HOURS, Filter
from tallystick.rooms.insight.question.periods import DataSpan, NamedPeriod
from tallystick.rooms.insight.question.scan import Scan
from tallystick.rooms.insight.question.word_run import Item

_DAY = timedelta(days=1)
_NEAR = 3
_OPEN_STARTS, _OPEN_ENDS = {"since", "from", "after"}, {"before", "until", "till"}
_RELATIVE = ("for", "of", "in", "on", "with", "to")
_BOUNDS = {"over": "over", "at_least": "at_least", "under": "under", "at_most": "at_most"}
_NESTED = 0.95
"""The share of a value's tickets that another column must hold, too, to be the broader one."""
Count = Callable[[Sequence[Filter]], int]
"""How many tickets fulfil some conditions."""
CREATED, RESOLVED = "created_at", "resolved_at"


class Unclear(Exception):  # noqa: N818 - reads as what it is
    """The question can be read in several ways, or not at all; the text says why."""


@record
class Condition:
    """A filter, and where the question says it."""

    at: int
    end: int
    filters: tuple[Filter, ...]
    period: NamedPeriod | None = None
    column: str | None = None
    value: str | None = None


class Conditions:
    """Finds the conditions of one question; what it used is in `used`."""

    def __init__(self, scan: Scan, columns: Columns, span: DataSpan | None = None, count: Count | None = None) -> None:
        self._scan, self._columns, self._span, self._count = scan, columns, span, count
        self.used: set[int] = set()
        self.found: list[Condition] = []
        self.limit: int | None = None
        self.percent: float | None = None
        self.having: tuple[str, float] | None = None
        self.times: float | None = None

    def read(self) -> list[Condition]:
        """All of them, in the order of the question."""
        items = self._scan.items
        for place, item in enumerate(items):
            if item.at in self.used:
                continue
            reader = {
                "value": self._value, "terms": self._terms, "period": self._period, "weekday": self._weekday,
                "unresolved": self._state, "open": self._state, "resolved": self._state, "same_day": self._same_day,
                "hours": self._hours, "number": self._number, "twice": self._twice, "hour": self._clock,
            }.get(item.kind)  # fmt: skip
            if reader is not None:
                reader(place, item)
        self._known_columns()
        self.found.sort(key=lambda one: one.at)
        return self.found

    # -- values --------------------------------------------------------------------------------------------------------

    def _value(self, place: int, item: Item) -> None:
        items = self._scan.items
        beside = [one for one in items[max(0, place - 1) : place + 2] if one.kind == "column" and _close(one, item)]
        named = {column.key for one in beside for column in one.value}
        choices = [each for each in item.value if each[0].key in named] or list(item.value)
        keys = {column.key for column, _ in choices}
        if len(keys) > 1:
            # A subject line is a category only where no column is.
            choices = [each for each in choices if each[0].key != "summary"] or choices
            keys = {column.key for column, _ in choices}
        if len(keys) > 1:
            mentioned = {column.key for one in self._scan.of("column") for column in one.value} & keys
            choices = [each for each in choices if each[0].key in mentioned] or choices
            keys = {column.key for column, _ in choices}
        if len(keys) > 1:
            sure = {
                one[0].key
                for each in self._scan.of("value")
                if len({c.key for c, _ in each.value}) == 1
                for one in each.value
            }
            choices = [each for each in choices if each[0].key in sure] or choices
            keys = {column.key for column, _ in choices}
        if len(keys) > 1 and self._count is not None:
            choices = self._broadest(choices, self._count)
            keys = {column.key for column, _ in choices}
        if len(keys) > 1:
            raise Unclear(
                f"“{item.said}” is a value of several columns: {', '.join(sorted(keys))}. Say which is meant."
            )
        column, value = choices[0]
        for one in beside:
            if any(each.key == column.key for each in one.value):
                self.used.add(one.at)
        shared = self._joined_to_negation(item, column)
        op = "is_not" if self._negated(place) or shared else "is"
        made = Filter(column=column.key, op=op, values=(value,))
        self._add(item, made, column=column.key, value=value)

    def _broadest(self, choices: list[tuple[Column, str]], count: Count) -> list[tuple[Column, str]]:
        """Of columns of which one holds the other, as a borough its city: the broader one."""
        made = [(each, Filter(column=each[0].key, op="is", values=(each[1],))) for each in choices]
        made.sort(key=lambda one: -count((one[1],)))
        broad = made[0]
        nested = all(count((broad[1], one)) >= _NESTED * count((one,)) for _, one in made[1:])
        return [broad[0]] if nested else choices

    def _joined_to_negation(self, item: Item, column: Column) -> bool:
        """`not resolved or closed`: the second value is left out, too."""
        last = self.found[-1] if self.found else None
        if last is None or last.column != column.key or last.filters[0].op != "is_not":
            return False
        between = self._scan.words[last.end : item.at]
        return len(between) <= 1 and all(word in {"or", "and", "nor"} for word in between)

    def _terms(self, place: int, item: Item) -> None:
        mention = self._scan.items[place - 1] if place else None
        first = place - 1 if mention is not None and mention.kind == "mention" else place
        if self._negated(first):
            raise Unclear("Tickets that do not hold a word cannot be counted.")
        both = self._columns.find("summary") is not None
        said = [one for one in self._scan.items if one.value == "text" and both]
        if said or any(one.kind == "column" and one.value[0].key == "summary" for one in self._scan.items[:place]):
            raise Unclear("Words are searched for in summary and text together, not in one of them.")
        self.used |= {one.at for one in self._scan.of("mention")}
        for terms in item.value:
            self._add(item, Filter(column=WORDS, op="mentions", values=terms))

    def _negated(self, place: int) -> bool:
        items = self._scan.items
        back = place - 1
        while (
            back >= 0
            and items[back].kind in {"about", "with", "by", "column"}
            and items[back + 1].at - items[back].end <= 1
        ):
            back -= 1
        before = items[back] if back >= 0 else None
        if before is None or before.kind != "not" or items[back + 1].at - before.end > 1:
            return False
        self.used.add(before.at)
        return True

    # -- times ---------------------------------------------------------------------------------------------------------

    def _period(self, place: int, item: Item) -> None:
        period: NamedPeriod = item.value
        word = self._scan.words[item.at - 1] if item.at else ""
        column = self._time_column(place)
        if self._span is not None and (period.last < self._span.first or period.first > self._span.last):
            raise Unclear(f"The tickets are from {self._span.first} to {self._span.last}; {period.label} is outside.")
        first, last = period.first.isoformat(), (period.last + _DAY).isoformat()
        if word in _OPEN_STARTS:
            filters: tuple[Filter, ...] = (_bound(column, "at_least", last if word == "after" else first),)
        elif word in _OPEN_ENDS:
            filters = (_bound(column, "under", first if word == "before" else last),)
        else:
            filters = (_bound(column, "at_least", first), _bound(column, "under", last))
        self.used.add(item.at)
        self.found.append(Condition(at=item.at, end=item.end, filters=filters, period=period))

    def _time_column(self, place: int) -> str:
        """`resolved in April` is about the time of resolving; everything else about the time of writing."""
        at = self._scan.items[place].at
        before = [one for one in self._scan.items[:place] if one.kind in {"resolved", "opened", "ticket", "column"}]
        if before and before[-1].kind == "resolved" and at - before[-1].end <= 1 and self._columns.find(RESOLVED):
            return RESOLVED
        return CREATED

    def _weekday(self, _place: int, item: Item) -> None:
        last = self.found[-1] if self.found else None
        if last is not None and last.filters[0].bucket == "weekday":
            old = last.filters[0]
            values = tuple(dict.fromkeys((*old.values, *item.value)))
            self.found[-1] = Condition(at=last.at, end=item.end, filters=(_weekdays(values),))
            self.used.add(item.at)
        else:
            self._add(item, _weekdays(item.value))

    def _same_day(self, _place: int, item: Item) -> None:
        if self._columns.find(DAYS) is None:
            raise Unclear("These tickets do not say when they were resolved.")
        for one in self._scan.of("resolved", "opened"):
            self.used.add(one.at)
        self._add(item, Filter(column=DAYS, op="is", values=("0",)))

    def _state(self, place: int, item: Item) -> None:
        words, items = self._scan.words, self._scan.items
        if item.kind == "open" and item.at and words[item.at - 1] == "were":
            self.used.add(item.at)
            return
        follows = items[place + 1] if place + 1 < len(items) else None
        of_duration = (item.at and words[item.at - 1] == "to") or any(
            one.kind == "hours" for one in items[max(0, place - 3) : place]
        )
        if item.kind == "resolved" and of_duration:
            self.used.add(item.at)
            return
        if self._columns.find(RESOLVED) is None:
            raise Unclear("These tickets do not say when they were resolved; ask by their status.")
        self.used.add(item.at)
        if item.kind == "resolved" and follows is not None and follows.kind == "period" and _close(item, follows):
            return
        op = "unknown" if item.kind != "resolved" or self._negated(place) else "known"
        self.found.append(Condition(at=item.at, end=item.end, filters=(Filter(column=RESOLVED, op=op),)))

    # -- numbers -------------------------------------------------------------------------------------------------------

    def _hours(self, _place: int, item: Item) -> None:
        if self._columns.find(HOURS) is None:
            raise Unclear("These tickets do not say when they were resolved.")
        op = self._bound_before(item)
        if op is None:
            raise Unclear(f"What is asked of “{item.said}”? Say more than, or within.")
        self._add(item, Filter(column=HOURS, op=op, values=(_written(item.value),)))
        for one in self._scan.of("duration"):
            self.used.add(one.at)

    def _number(self, place: int, item: Item) -> None:
        items = self._scan.items
        follows = items[place + 1] if place + 1 < len(items) else None
        if item.said == "%":
            self.used.add(item.at)
            if not self._scan.has("significant", "percentile"):
                raise Unclear("A percentage can only be a level of significance.")
        elif follows is not None and follows.kind == "percentile":
            self.percent = item.value
            self.used.add(item.at)
        elif (op := self._bound_before(item)) is not None:
            self._bounded(place, item, op)
        else:
            self._unbounded(place, item)

    def _bounded(self, place: int, item: Item, op: str) -> None:
        """`more than 3`: of a column of numbers, else of the tickets in a group."""
        column = self._number_column(place)
        follows = self._scan.items[place + 1 : place + 2]
        if column is not None:
            self._add(item, Filter(column=column.key, op=op, values=(_written(item.value),)))
            return
        self.having = (op, item.value)
        self.used.add(item.at)
        if follows and follows[0].kind == "twice":
            self.times = item.value
            self.used.add(follows[0].at)

    def _unbounded(self, place: int, item: Item) -> None:
        """`a csat of 5`, `the top 3`, `VPN 2`."""
        before = self._scan.items[place - 1] if place else None
        column = self._number_column(place) if self._stands_for(item) else None
        last = self.found[-1].filters[0] if self.found else None
        if (
            last is not None
            and last.op == "is"
            and last.bucket is None
            and self._scan.words[item.at - 1] in {"or", "and"}
        ):
            same = self._columns.find(last.column)
            column = same if same is not None and same.kind == "number" else column
        if column is not None:
            self._add(item, Filter(column=column.key, op="is", values=(_written(item.value),)))
        elif self._scan.has("high", "low", "oldest", "newest", "list") and item.value == int(item.value):
            self.limit = int(item.value)
            self.used.add(item.at)
        elif (found := self._numbered_value(place)) is not None:
            self._add(
                item, Filter(column=found[0].key, op="is", values=(found[1],)), column=found[0].key, value=found[1]
            )
        elif before is not None and before.kind == "value":
            self.used.add(item.at)
        else:
            raise Unclear(f"What is asked of the number {item.said}?")

    def _numbered_value(self, place: int) -> tuple[Column, str] | None:
        """`priority 1`, of the values `1 - Critical`, `2 - High`."""
        items, item = self._scan.items, self._scan.items[place]
        before = items[place - 1] if place else None
        if before is None or before.kind != "column" or item.at - before.end > 1:
            return None
        for column in before.value:
            found = [value for value in column.values if re.match(rf"{int(item.value)}\b", value)]
            if column.kind == "value" and len(found) == 1:
                self.used.add(before.at)
                return column, found[0]
        return None

    def _clock(self, _place: int, item: Item) -> None:
        """`before 8 in the morning`, `after 6 pm`."""
        word = self._scan.words[item.at - 1] if item.at else ""
        op = {"before": "under", "after": "at_least", "since": "at_least", "at": "is"}.get(word)
        if op is None:
            raise Unclear("Say before or after which hour.")
        self._add(item, Filter(column=CREATED, bucket="hour", op=op, values=(str(int(item.value)),)))

    def _twice(self, place: int, item: Item) -> None:
        """`more than twice`: of a column of numbers, or as many as a group has."""
        op = self._bound_before(item)
        if op is None or self._scan.words[item.at] == "times":
            self.used.add(item.at)
            return
        column = self._number_column(place)
        if self._scan.words[item.end : item.end + 2] in (("as", "many"), ("as", "much")):
            self.times, self.having = 2.0, (op, 2.0)
            self.used.add(item.at)
        elif column is not None:
            self._add(item, Filter(column=column.key, op=op, values=("2",)))
        else:
            self.having = (op, 2.0)
            self.used.add(item.at)

    def _bound_before(self, item: Item) -> str | None:
        """`more than 3`, `at least 3`, `3 or more`, `3+`: which way the number bounds."""
        if item.said.endswith("+"):
            return "at_least"
        for one in reversed([each for each in self._scan.items if each.end <= item.at and item.at - each.end <= 1]):
            if one.kind in _BOUNDS:
                self.used.add(one.at)
                return _BOUNDS[one.kind]
        if item.at and self._scan.words[item.at - 1] == "than":
            before = next((one for one in self._scan.items if one.end == item.at - 1), None)
            than = next((one for one in self._scan.items if one.at == item.at - 1), None)
            self.used |= {one.at for one in (before, than) if one is not None}
            return "under" if before is not None and before.kind == "low" else "over"
        nouns = {one.end for one in self._scan.of("ticket", "person") if one.at == item.end}
        after = next((one for one in self._scan.items if one.at in {item.end, *nouns} and one.kind in _BOUNDS), None)
        if after is not None:
            self.used.add(after.at)
            return _BOUNDS[after.kind]
        return None

    def _number_column(self, place: int) -> Column | None:
        """The column of numbers that stands nearest before the number, else right behind it."""
        items, item = self._scan.items, self._scan.items[place]
        named = [
            one for one in items
            if one.kind == "column" and any(column.kind == "number" for column in one.value) and one.at not in self.used
        ]  # fmt: skip
        before = [one for one in named if one.end <= item.at]
        near = before[-1:] or [one for one in named if one.at - item.end <= 1]
        if not near:
            return None
        found: Column = next(column for column in near[0].value if column.kind == "number")
        if self._is_target(near[0]):
            return None
        self.used.add(near[0].at)
        return found

    def _is_target(self, one: Item) -> bool:
        """`which hubs have an average csat above 3`: a bound on the measure, and not on tickets."""
        return any(each.kind in {"mean", "median", "sum"} and 0 <= one.at - each.end <= 1 for each in self._scan.items)

    def _stands_for(self, item: Item) -> bool:
        """`a csat of 5`: a number without a bound is a value."""
        before = self._scan.words[max(0, item.at - 2) : item.at]
        return any(word in {"of", "is", "was"} for word in before) or any(
            one.kind == "column" and one.end == item.at for one in self._scan.items
        )

    # -- presence ------------------------------------------------------------------------------------------------------

    def _known_columns(self) -> None:
        """`with a refund`, `nobody assigned`, `without product`: whether a column says anything."""
        items = self._scan.items
        for place, item in enumerate(items):
            before = items[place - 1] if place else None
            if item.kind not in {"column", "time"} or item.at in self.used:
                continue
            after = items[place + 1] if place + 1 < len(items) else None
            if after is not None and after.kind == "empty" and after.at - item.end <= _NEAR:
                self._present(place, (item, after), known=self._negated(place + 1))
                continue
            if before is None:
                continue
            relative = before.kind == "which" and before.at > 1 and self._scan.words[before.at - 1] in _RELATIVE
            if relative and item.at - before.end <= _NEAR - 1 and item.kind == "column":
                self._present(place, (item, before), known=True)
                continue
            near = item.at - before.end <= _NEAR - 1 and not self._scan.breaks & set(range(before.end, item.at + 1))
            if not near or before.kind not in {"not", "with"} or self._is_asked(place):
                continue
            earlier = items[place - 2] if place > 1 and items[place - 2].kind == "not" else None
            negated = before.kind == "not" or (earlier is not None and before.at - earlier.end <= 1)
            self._present(
                place, (item, before, *((earlier,) if negated and earlier is not None else ())), known=not negated
            )

    def _present(self, place: int, said: Sequence[Item], *, known: bool) -> None:
        """Whether a column says anything; of a column that counts, whether it counts any."""
        item = self._scan.items[place]
        self.used |= {one.at for one in said}
        self.found.append(
            Condition(at=min(one.at for one in said), end=item.end, filters=(presence(item.value[0], known=known),))
        )

    def _is_asked(self, place: int) -> bool:
        """Whether the column is what the measure is of: `have an average csat`."""
        before = self._scan.items[max(0, place - 2) : place]
        return any(one.kind in {"mean", "median", "sum", "high", "low", "good", "bad"} for one in before)

    def _add(self, item: Item, made: Filter, column: str | None = None, value: str | None = None) -> None:
        self.used.add(item.at)
        self.found.append(Condition(at=item.at, end=item.end, filters=(made,), column=column, value=value))


def merged(conditions: Sequence[Condition]) -> tuple[Filter, ...]:
    """The filters, where several values of one column are alternatives."""
    made: list[Filter] = []
    for filters in (one.filters for one in conditions):
        for each in filters:
            same = next(
                (at for at, one in enumerate(made)
                 if (one.column, one.op, one.bucket) == (each.column, each.op, each.bucket) and one.op == "is"),
                None,
            )  # fmt: skip
            if same is None:
                made.append(each)
            else:
                values = tuple(dict.fromkeys((*made[same].values, *each.values)))
                made[same] = Filter(column=each.column, op="is", values=values, bucket=each.bucket)
    return tuple(dict.fromkeys(made))


def presence(column: Column, *, known: bool) -> Filter:
    """`with a refund`, `reopened`, `without replies`."""
    if column.kind == "number" and column.low == 0:
        return Filter(column=column.key, op="over" if known else "is", values=("0",))
    return Filter(column=column.key, op="known" if known else "unknown")


def _close(one: Item, other: Item) -> bool:
    first, second = sorted((one, other), key=lambda item: item.at)
    return second.at - first.end <= 1


def _bound(column: str, op: str, day: str) -> Filter:
    return Filter(column=column, op=op, values=(day,))


def _weekdays(values: tuple[str, ...]) -> Filter:
    return Filter(column=CREATED, bucket="weekday", op="is", values=values)


def _written(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
