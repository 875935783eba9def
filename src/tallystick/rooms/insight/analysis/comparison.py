"""Two datasets, two periods or two values of a field, side by side, with a test of every difference."""

from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.insight.analysis.desk import Desk, field_name, two_periods
from tallystick.rooms.insight.analysis.sentence import Sentence, name, say
from tallystick.rooms.insight.figures.book import Figure, Figures
from tallystick.rooms.insight.figures.comparing import corrected, parts_of
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
        return Side(label=name(other[1]), where=there), Side(label=name(desk.dataset.name), where=desk.base)
    if len(asked.periods) > 1:
        one, two = sorted(asked.periods[:2], key=lambda period: period.first)
        return (
            Side(label=one.label, where=desk.base | one.where()),
            Side(label=two.label, where=desk.base | two.where()),
        )
    for field, values in asked.values:
        if len(values) > 1:
            sides = [Side(label=name(each), where=desk.base | where_field(field, each)) for each in values[:2]]
            return sides[0], sides[1]
    periods = two_periods(desk.facts)
    if periods is None or len(asked.periods) == 1:
        return None
    before, after = (Side(label=period.label, where=desk.base | period.where()) for period in periods)
    return before, after


def compare(desk: Desk, before: Side, after: Side) -> list[Sentence]:
    """Volumes, then the mix, then single values, then times to resolve."""
    said = [*_volumes(desk, before, after)]
    fields = [desk.asked.by] if desk.asked.by in BY or (desk.asked.by or "").startswith("extra.") else list(BY)
    for field in fields:
        if field in before.where or field in after.where:
            continue
        shifts = shifts_of(desk.book, field or "", before, after)
        if shifts:
            said += _mix(desk, field or "", before, after) + _told(field or "", shifts)
            break
    if desk.themes is not None and desk.asked.by not in BY:
        said += _themes(desk, desk.themes, before, after)
    return said + _hours(desk, before, after)


def shifts_of(book: Figures, by: str, before: Side, after: Side, run: int | None = None) -> list[Shift]:
    """Every value of a field whose share can be compared, the surest difference first."""
    frame = query("p_share", on_side("a.", before.where), on_side("b.", after.where), by=by, run=run)
    values = corrected(book.sides(frame), by)
    found = [
        shift
        for value in sorted(values, key=lambda each: (values[each], each))[: MOST_SHOWN * 2]
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
    p = book.figure(query("p_share", *sides, what), places=4)
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
    said: list[str | Figure] = [f"{before.label} has ", one, f" tickets, {after.label} ", two]
    p = desk.book.figure(query("p_per_day", on_side("a.", before.where), on_side("b.", after.where)), places=4)
    per_day = [desk.book.figure(query("per_day", side.where), places=1) for side in (before, after)]
    if p is None or per_day[0] is None or per_day[1] is None:
        return [say(*said, ".")]
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    said += ["; that is ", per_day[0], " and ", per_day[1], f" a day, a difference {sure} (Mann-Whitney, p = ", p]
    return [say(*said, ").")]


def _mix(desk: Desk, by: str, before: Side, after: Side) -> list[Sentence]:
    sides = (on_side("a.", before.where), on_side("b.", after.where))
    p = desk.book.figure(query("p_mix", *sides, by=by), places=4)
    v = desk.book.figure(query("v_mix", *sides, by=by), places=2)
    if p is None or v is None:
        return []
    sure = "changed by more than chance" if p.value < LEVEL else "did not change by more than chance"
    return [say(f"The mix by {field_name(by)} {sure} (chi-squared test, p = ", p, ", Cramér's V = ", v, ").")]


def _told(by: str, shifts: list[Shift], how: str = "Holm") -> list[Sentence]:
    sure = [shift for shift in shifts if shift.is_sure][:MOST_SHOWN]
    if not sure:
        best = shifts[0]
        return [
            say(f"No single {field_name(by)} changed its share by more than chance; nearest to it is "
                f"{name(best.label)}, from ", best.before, " to ", best.after, " (p = ", best.p, f" after {how}'s correction).")
        ]  # fmt: skip
    return [_sentence(shift, how) for shift in sure]


def _sentence(shift: Shift, how: str) -> Sentence:
    way = "rose" if shift.difference.value > 0 else "fell"
    test = "Fisher's exact test" if shift.exact else "z test of two proportions"
    return say(
        f"{name(shift.label)} {way} from ", shift.before, " to ", shift.after, ", ", shift.difference,
        " points (", test, ", p = ", shift.p, f" after {how}'s correction, Cohen's h = ", shift.effect, ").",
    )  # fmt: skip


def _themes(desk: Desk, themes: Themes, before: Side, after: Side) -> list[Sentence]:
    if before.where["dataset"] != after.where["dataset"]:
        shifts = words_shifts(desk.book, themes.themes, before, after)
        return _told("theme", shifts, "Bonferroni") if themes.run is not None and shifts else []
    if themes.run is None:
        return []
    shifts = shifts_of(desk.book, "cluster", before, after, run=themes.run.run_id)
    return _told("theme", named_shifts(shifts, themes)) if shifts else []


def named_shifts(shifts: list[Shift], themes: Themes) -> list[Shift]:
    """Clusters under the names of their themes; noise is none."""
    labels = {theme.where.get("cluster"): theme.label for theme in themes.themes}
    return [replace(shift, label=labels[shift.label]) for shift in shifts if shift.label in labels]


def _hours(desk: Desk, before: Side, after: Side) -> list[Sentence]:
    one = desk.book.figure(query("median_hours", before.where), places=1)
    two = desk.book.figure(query("median_hours", after.where), places=1)
    p = desk.book.figure(query("p_hours", on_side("a.", before.where), on_side("b.", after.where)), places=4)
    if one is None or two is None or p is None:
        return []
    sure = "more than chance" if p.value < LEVEL else "within what chance does"
    return [
        say("Half of the tickets were resolved within ", one, f" hours in {before.label} and ", two,
            f" in {after.label}, a difference {sure} (Mann-Whitney, p = ", p, ").")
    ]  # fmt: skip
