"""Two datasets, two periods or two values of a field, side by side, with a test of every difference."""

from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.insight.analysis.desk import Desk, field_name, two_periods
from tallystick.rooms.insight.analysis.sentence import Sentence, name, say
from tallystick.rooms.insight.figures.book import Figure, Figures
from tallystick.rooms.insight.figures.comparing import corrected, parts_of
from tallystick.rooms.insight.figures.facts import EXTRA
from tallystick.rooms.insight.figures.query import Given, chosen, on_side, query, where_field
from tallystick.rooms.insight.figures.significance import LEVEL, is_exact
from tallystick.rooms.insight.figures.themes import Theme, Themes

BY = ("category", "product", "department", "priority", "status")
MOST_SHOWN = 5


@record
class Side:
    """One of the two."""

    label: str
    where: Given
    earlier: bool = False
    """It came before the other side, so that things rise and fall."""


@record
class Shift:
    """A value whose share differs between two sides."""

    label: str
    before: Figure
    after: Figure
    difference: Figure
    effect: Figure
    p: Figure
    exact: bool
    """Fisher's test; else the z test of two proportions."""

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance."""
        return self.p.value < LEVEL


def sides_of(desk: Desk, other: tuple[int, str] | None) -> tuple[Side, Side] | None:
    """What is compared: the other dataset, two named periods, two values, else the last two months or halves.

    Args:
        desk: The question.
        other: Another dataset's id and name, if one was given; it is the earlier side.
    """
    asked = desk.asked
    if other is not None:
        there = {**desk.base, **chosen(dataset=other[0])}
        return Side(label=name(other[1]), where=there, earlier=True), Side(
            label=name(desk.dataset.name), where=desk.base
        )
    if len(asked.periods) > 1:
        one, two = sorted(asked.periods[:2], key=lambda period: period.first)
        return (
            Side(label=one.label, where=desk.base | one.where(), earlier=True),
            Side(label=two.label, where=desk.base | two.where()),
        )
    for field, values in asked.values:
        if len(values) > 1 and field != "weekday":
            sides = [Side(label=name(each), where=desk.base | where_field(field, each)) for each in values[:2]]
            return sides[0], sides[1]
    periods = two_periods(desk.facts)
    if periods is None or len(asked.periods) == 1:
        return None
    early, late = (desk.base | period.where() for period in periods)
    return Side(label=periods[0].label, where=early, earlier=True), Side(label=periods[1].label, where=late)


def compare(desk: Desk, before: Side, after: Side) -> list[Sentence]:
    """Volumes, then the mix, then single values, then times to resolve."""
    said = [*_volumes(desk, before, after)]
    for field in _fields(desk):
        if field in before.where or field in after.where:
            continue
        shifts = shifts_of(desk.book, field, before, after)
        if shifts:
            said += _mix(desk, field, before, after) + _told(field, shifts, before, after)
            break
    if desk.themes is not None and desk.asked.by not in BY:
        said += _themes(desk, desk.themes, before, after)
    return said + _hours(desk, before, after)


def _fields(desk: Desk) -> list[str]:
    """The fields to look at, the best first: the one that is asked for, else what says most."""
    by = desk.asked.by or ""
    if by in BY or by.startswith(EXTRA):
        return [by]
    if by == "theme" and desk.themes is not None:
        return [] if desk.themes.run is not None else [desk.themes.source]
    return list(BY)


def shifts_of(
    book: Figures, by: str, before: Side, after: Side, *, run: int | None = None, most: int = MOST_SHOWN * 2
) -> list[Shift]:
    """The values of a field whose shares differ most surely, the surest first.

    Args:
        book: Gives the numbers.
        by: The field; `cluster` for the themes of a grouping.
        before: One side.
        after: The other.
        run: The grouping.
        most: How many.
    """
    frame = query("p_share", on_side("a.", before.where), on_side("b.", after.where), by=by, run=run)
    values = corrected(book.sides(frame), by)
    found = [
        shift
        for value in sorted(values, key=lambda each: (values[each], each))[:most]
        if (shift := _shift(book, value, before, after, chosen(by=by, value=value, run=run))) is not None
    ]
    return sorted(found, key=lambda each: (each.p.value, -abs(each.difference.value), each.label))


def words_shifts(book: Figures, themes: tuple[Theme, ...], before: Side, after: Side) -> list[Shift]:
    """Themes of one dataset in another: by their words, since a grouping knows only its own tickets."""
    worded = [theme for theme in themes[: MOST_SHOWN * 2] if theme.terms]
    found: list[Shift] = []
    for theme in worded:
        what = on_side("part.", chosen(says=theme.terms)) | chosen(m=len(worded))
        shift = _shift(book, theme.label, before, after, what)
        if shift is not None:
            found.append(shift)
    return sorted(found, key=lambda each: (each.p.value, -abs(each.difference.value), each.label))


def _shift(book: Figures, label: str, before: Side, after: Side, what: Given) -> Shift | None:
    sides = (on_side("a.", before.where), on_side("b.", after.where))
    part = {key: value for key, value in what.items() if key.startswith("part.")}
    if not part:
        part = _part(what)
    one = book.figure(query("share", before.where, part, _valued(what)), places=1, unit=" %")
    two = book.figure(query("share", after.where, part, _valued(what)), places=1, unit=" %")
    difference = book.figure(query("difference", *sides, what), places=1)
    effect = book.figure(query("effect", *sides, what), places=2)
    p = book.p(query("p_share", *sides, what))
    if one is None or two is None or difference is None or effect is None or p is None:
        return None
    parts = parts_of(book.sides(query("p_share", *sides, what)))
    return Shift(
        label=label, before=one, after=two, difference=difference, effect=effect, p=p, exact=is_exact(*parts)
    )  # fmt: skip


def _part(what: Given) -> Given:
    by, value = what["by"], what["value"]
    if by == "cluster":
        return {"part.cluster": value, "part.run": what["run"]}
    return {f"part.{by}": value}


def _valued(what: Given) -> Given:
    """A value's share is of the tickets that have one."""
    return {"has": what["by"]} if "by" in what and what["by"] != "cluster" else {}


def _volumes(desk: Desk, before: Side, after: Side) -> list[Sentence]:
    one, two = desk.count(before.where), desk.count(after.where)
    if one is None or two is None:
        return []
    said = [*_way(desk, one, two, before), f"{before.label} has ", one, f" tickets, {after.label} ", two]
    p = desk.book.p(query("p_per_day", on_side("a.", before.where), on_side("b.", after.where)))
    per_day = [desk.book.figure(query("per_day", side.where), places=1) for side in (before, after)]
    if p is None or per_day[0] is None or per_day[1] is None:
        return [say(*said, ".")]
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    said += ["; that is ", per_day[0], " and ", per_day[1], f" a day, a difference {sure} (Mann-Whitney, p ", p]
    return [say(*said, ").")]


def _way(desk: Desk, one: Figure, two: Figure, before: Side) -> list[str | Figure]:
    """Which way it went, where one side came before the other and the question is about that."""
    if not before.earlier or "trend" not in desk.asked.wants:
        return []
    which = f"The number of tickets {desk.about}" if desk.about else "The number of tickets"
    return [f"{which} {'rose' if two.value > one.value else 'fell' if two.value < one.value else 'stayed'}: "]


def _mix(desk: Desk, by: str, before: Side, after: Side) -> list[Sentence]:
    sides = (on_side("a.", before.where), on_side("b.", after.where))
    p = desk.book.p(query("p_mix", *sides, by=by))
    v = desk.book.figure(query("v_mix", *sides, by=by), places=2)
    if p is None or v is None:
        return []
    sure = "differs by more than chance" if p.value < LEVEL else "does not differ by more than chance"
    return [say(f"The mix by {field_name(by)} {sure} (chi-squared test, p ", p, ", Cramér's V = ", v, ").")]


def _told(by: str, shifts: list[Shift], before: Side, after: Side, how: str = "Holm") -> list[Sentence]:
    sure = [shift for shift in shifts if shift.is_sure][:MOST_SHOWN]
    if not sure:
        best = shifts[0]
        near: list[str | Figure] = [f"nearest to it is {name(best.label)}, from ", best.before, " to ", best.after]
        none = f"No single {field_name(by)} changed its share by more than chance; "
        return [say(none, *near, " (p ", best.p, f" after {how}'s correction).")]
    if by == "theme":
        sure = [replace(shift, label=f"Theme {shift.label}") for shift in sure]
    return [_sentence(shift, before, after, how) for shift in sure]


def _sentence(shift: Shift, before: Side, after: Side, how: str) -> Sentence:
    test = "Fisher's exact test" if shift.exact else "z test of two proportions"
    tested: list[str | Figure] = [
        " points (", test, ", p ", shift.p, f" after {how}'s correction, Cohen's h = ", shift.effect, ").",
    ]  # fmt: skip
    if not before.earlier:
        label = name(shift.label)
        return say(f"{label} is ", shift.before, f" of {before.label} and ", shift.after, f" of {after.label}, a "
                   "difference of ", shift.difference, *tested)  # fmt: skip
    way = "rose" if shift.difference.value > 0 else "fell"
    return say(f"{name(shift.label)} {way} from ", shift.before, " to ", shift.after, ", ", shift.difference, *tested)


def _themes(desk: Desk, themes: Themes, before: Side, after: Side) -> list[Sentence]:
    if before.where["dataset"] != after.where["dataset"]:
        shifts = words_shifts(desk.book, themes.themes, before, after)
        return _told("theme", shifts, before, after, "Bonferroni") if themes.run is not None and shifts else []
    if themes.run is None:
        return []
    shifts = shifts_of(desk.book, "cluster", before, after, run=themes.run.run_id)
    return _told("theme", named_shifts(shifts, themes), before, after) if shifts else []


def named_shifts(shifts: list[Shift], themes: Themes) -> list[Shift]:
    """Clusters under the names of their themes; noise is none."""
    labels = {theme.where.get("cluster"): theme.label for theme in themes.themes}
    return [replace(shift, label=labels[shift.label]) for shift in shifts if shift.label in labels]


def _hours(desk: Desk, before: Side, after: Side) -> list[Sentence]:
    one = desk.book.figure(query("median_hours", before.where), places=1)
    two = desk.book.figure(query("median_hours", after.where), places=1)
    p = desk.book.p(query("p_hours", on_side("a.", before.where), on_side("b.", after.where)))
    if one is None or two is None or p is None:
        return []
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    return [
        say("Half of the tickets were resolved within ", one, f" hours in {before.label} and ", two,
            f" in {after.label}, a difference {sure} (Mann-Whitney, p ", p, ").")
    ]  # fmt: skip
