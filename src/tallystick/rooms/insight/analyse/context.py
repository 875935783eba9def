"""What reports and samples need beside the figures: the two periods of a dataset, and tickets by id."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from tallystick.rooms.insight.analyse.sentence import name
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.facts import EXTRA, Facts
from tallystick.rooms.insight.figures.query import Given, Query, chosen, query
from tallystick.rooms.insight.figures.selection import select
from tallystick.rooms.insight.model import Ticket, Where
from tallystick.rooms.insight.question.periods import NamedPeriod, month_period, period_between

FIELD_NAMES = {"theme": "theme", "cluster": "theme", "week": "week beginning", "hour": "hour (UTC)"}
_CHUNK = 500
FEWEST_IN_A_MONTH = 20
_WORTH = 0.05
_DAY = timedelta(days=1)


def tickets_by_id(book: Figures, dataset_id: int, ids: Sequence[int]) -> Iterator[Ticket]:
    """Tickets of a dataset by id, in the order of the ids; a few at a time."""
    for start in range(0, len(ids), _CHUNK):
        part = tuple(ids[start : start + _CHUNK])
        found = {one.ticket_id: one for one in book.store.tickets(dataset_id, Where(ids=part))}
        yield from (found[one] for one in part if one in found)


def share_query(part: Given, of: Given) -> Query:
    """What share a part has."""
    inner = {f"part.{key}": value for key, value in part.items() if key != "dataset"}
    return query("share", of, inner)


def field_name(by: str) -> str:
    """A field as it is called in a sentence."""
    return name(by.removeprefix(EXTRA)) if by.startswith(EXTRA) else FIELD_NAMES.get(by, by)


def period_where(period: NamedPeriod) -> Given:
    """A period as parameters of a figure's query."""
    return chosen(since=period.first.isoformat(), until=(period.last + _DAY).isoformat())


def two_periods(facts: Facts) -> tuple[NamedPeriod, NamedPeriod] | None:
    """An earlier and a later period to compare: the last two months where both are full enough, else the halves."""
    dated = facts.created[facts.dated]
    if not len(dated):
        return None
    first, last = (datetime.fromtimestamp(int(each), UTC).date() for each in (dated.min(), dated.max()))
    later = month_period(last.year, last.month)
    day_before = later.first - _DAY
    before = month_period(day_before.year, day_before.month)
    enough = max(FEWEST_IN_A_MONTH, _WORTH * len(facts))
    if all(select(facts, period_where(period)).sum() >= enough for period in (before, later)):
        return before, later
    return _halves(first, last)


def _halves(first: date, last: date) -> tuple[NamedPeriod, NamedPeriod] | None:
    """Earlier and later; None: all of it is one day."""
    days = (last - first).days + 1
    if days < 2:  # noqa: PLR2004 - a day has no halves
        return None
    middle = first + days // 2 * _DAY
    return period_between(first, middle - _DAY), period_between(middle, last)
