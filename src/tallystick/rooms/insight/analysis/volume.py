"""How many, which part, which most: volumes and shares."""

from tallystick.rooms.insight.analysis.desk import Desk, Row, field_name
from tallystick.rooms.insight.analysis.sentence import Sentence, listed, name, say
from tallystick.rooms.insight.figures.book import Figure
from tallystick.rooms.insight.figures.facts import EXTRA
from tallystick.rooms.insight.figures.measures import numbers_of
from tallystick.rooms.insight.figures.query import query

_IN_ORDER = frozenset({"day", "week", "month", "weekday", "hour"})
_RANKED_BELOW = 3


def how_many(desk: Desk) -> list[Sentence]:
    """The chosen tickets, and what part of all they are."""
    total, mine = desk.count(desk.whole), desk.count(desk.base)
    if total is None or mine is None:
        return []
    if desk.base == desk.whole:
        return [say("The dataset holds ", total, " tickets."), *days(desk)]
    share = desk.share(desk.base, desk.whole)
    if not mine.value or share is None:
        return [say("None of the ", total, " tickets fits: there are ", mine, f" tickets {desk.about}.")]
    return [say("There are ", mine, f" tickets {desk.about}, ", share, " of all ", total, ".")]


def days(desk: Desk) -> list[Sentence]:
    """From when to when."""
    first = desk.book.day(query("first_day", desk.base))
    last = desk.book.day(query("last_day", desk.base))
    per_day = desk.book.figure(query("per_day", desk.base), places=1)
    if first is None or last is None or per_day is None:
        return []
    return [say("They were written from ", first, " to ", last, ", ", per_day, " a day on average.")]


def ranking(desk: Desk, by: str) -> list[Sentence]:
    """The most frequent values of a field."""
    rows = desk.ranked(by, desk.base)
    if not rows:
        return []
    top = rows[: desk.asked.top]
    which = f" {desk.about}" if desk.about else ""
    many = "theme" if by == "theme" else field_name(by)
    parts: list[list[str | Figure]] = []
    for row in top:
        counted, share = desk.count(desk.base, row.where), desk.share(row.where, desk.base)
        if counted is not None and share is not None:
            parts.append([f"{name(row.label)} with ", counted, " tickets (", share, ")"])
    first, rest = parts[0], parts[1:]
    said = [say(f"The most frequent {many} of the tickets{which} is ", *first, ".")]
    if rest:
        said.append(say("It is followed by ", *listed([list(one) for one in rest]), "."))
    said += _left(desk, by, len(rows), len(top))
    return said + _mean(desk, by) + _quoted(desk, top)


def _left(desk: Desk, by: str, all_of_them: int, shown: int) -> list[Sentence]:
    """How many more values there are; of themes no query counts that."""
    distinct = desk.book.figure(query("values", desk.base, by=by)) if by != "theme" else None
    if distinct is None or all_of_them <= shown:
        return []
    return [say("There are ", distinct, f" different values of {field_name(by)} in all.")]


def _mean(desk: Desk, by: str) -> list[Sentence]:
    """Of a column that holds numbers, the mean as well."""
    coded = desk.facts.field(by)
    if not by.startswith(EXTRA) or coded is None or numbers_of(coded.names) is None:
        return []
    mean = desk.book.figure(query("mean", desk.base, of=by.removeprefix(EXTRA)), places=2)
    return [] if mean is None else [say(f"The mean of {field_name(by)} is ", mean, ".")]


def _quoted(desk: Desk, rows: list[Row]) -> list[Sentence]:
    """What a typical ticket of the first themes says."""
    return [
        say(f"A typical ticket of {name(row.label)} says ", quote, ".")
        for row in rows[:_RANKED_BELOW]
        for quote in desk.quotes(row.quotes or desk.drawn_of(desk.base | row.where), most=1)
    ]


def missing_field(desk: Desk, by: str) -> list[Sentence]:
    """Why a field cannot be asked about."""
    if by == "theme":
        total = desk.count(desk.whole)
        if total is None:
            return []
        text = " tickets have not been grouped into themes yet, and no field of theirs says what they are about."
        return [say("That cannot be answered from these data: the ", total, text)]
    none = desk.count(desk.whole, {"none": by} if not by.startswith(EXTRA) and by not in _IN_ORDER else {})
    return [] if none is None else [cannot(none, f"tickets say nothing of {field_name(by)}")]


def cannot(figure: Figure, why: str) -> Sentence:
    """The honest answer, with the number that it rests on."""
    return say("That cannot be answered from these data: the ", figure, f" {why}.")
