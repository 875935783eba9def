"""Values and themes whose share differs between two sides, with a significance test of every difference."""

from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.insight.figures.calculator import Figure, Figures
from tallystick.rooms.insight.figures.comparisons import corrected, parts_of
from tallystick.rooms.insight.figures.query import Given, chosen, on_side, query
from tallystick.rooms.insight.figures.significance import LEVEL, is_exact
from tallystick.rooms.insight.figures.themes import Theme, Themes

BY = ("category", "product", "department", "priority", "status")
MOST_SHOWN = 5


@record
class Side:
    """One side of a comparison."""

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
    """Fisher's test; else the z test of proportions."""

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance."""
        return self.p.value < LEVEL


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
    return Shift(label=label, before=one, after=two, difference=difference, effect=effect, p=p, exact=is_exact(*parts))


def _part(what: Given) -> Given:
    by, value = what["by"], what["value"]
    if by == "cluster":
        return {"part.cluster": value, "part.run": what["run"]}
    return {f"part.{by}": value}


def _valued(what: Given) -> Given:
    """A value's share is of the tickets that have one."""
    return {"has": what["by"]} if "by" in what and what["by"] != "cluster" else {}


def named_shifts(shifts: list[Shift], themes: Themes) -> list[Shift]:
    """Clusters under the names of their themes, without noise."""
    labels = {theme.where.get("cluster"): theme.label for theme in themes.themes}
    return [replace(shift, label=labels[shift.label]) for shift in shifts if shift.label in labels]
