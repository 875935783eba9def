"""What an answer is made from: the question, the numbers, and the tickets that may be quoted."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tallystick.records import record
from tallystick.rooms.insight.analysis.periods import Period, Span, month_of
from tallystick.rooms.insight.analysis.question import Asked
from tallystick.rooms.insight.analysis.sentence import Quote, name, quote_of
from tallystick.rooms.insight.figures.book import Figure, Figures
from tallystick.rooms.insight.figures.facts import EXTRA, Facts
from tallystick.rooms.insight.figures.query import Given, Query, chosen, query, where_field
from tallystick.rooms.insight.figures.selecting import select
from tallystick.rooms.insight.figures.themes import Themes
from tallystick.rooms.insight.figures.words import stems_of
from tallystick.rooms.insight.nouns import Dataset, Ticket, Where

FIELD_NAMES = {"theme": "theme", "cluster": "theme", "week": "week beginning", "hour": "hour (UTC)"}
_CHUNK = 500
FEWEST_IN_A_MONTH = 20
_WORTH = 0.05


@record
class Row:
    """One value of a field, with how many of the chosen tickets have it."""

    label: str
    where: Given
    count: int
    quotes: tuple[int, ...] = ()


class Desk:
    """One question on one dataset."""

    def __init__(
        self, book: Figures, dataset: Dataset, asked: Asked, facts: Facts, themes: Themes | None,
        drawn: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            book: Gives the numbers.
            dataset: What is asked about.
            asked: The question.
            facts: The dataset, read.
            themes: What its tickets are about, if that is known.
            drawn: Tickets that stand for all, to be quoted where nothing else is nearer.
        """
        self.book = book
        self.dataset = dataset
        self.asked = asked
        self.facts = facts
        self.themes = themes
        self.drawn = drawn
        self.span = span_of(facts)
        self.whole: Given = chosen(dataset=dataset.dataset_id)
        self.base, self.about = self._base()

    # -- which tickets -------------------------------------------------------------------------------------------------

    def _base(self) -> tuple[Given, str]:
        """The tickets that the question means, and how they are called."""
        base: Given = dict(self.whole)
        words: list[str] = []
        for field, values in self.asked.values:
            base |= where_field(field, *values)
            words.append(f"with {field} {' or '.join(map(name, values))}")
        topics = self.topics()
        if topics:
            base |= topics
            said = " and ".join(name(term) for term in self.asked.topics if self.facts.says(term).any())
            words.append(f"that mention {said if 'says_all' in topics else said.replace(' and ', ' or ')}")
        if len(self.asked.periods) == 1:
            base |= self.asked.periods[0].where()
            words.append(f"from {self.asked.periods[0].label}")
        return base, " ".join(words)

    def topics(self) -> Given:
        """Tickets that hold all the words that are asked about; if none does, any of them."""
        self.facts.look_for(self.asked.topics)
        known = [term for term in self.asked.topics if self.facts.says(term).any()]
        if not known:
            return {}
        together = chosen(says_all=known)
        return together if len(known) == 1 or select(self.facts, together).any() else chosen(says=known)

    @property
    def nothing_heard(self) -> bool:
        """Whether it is asked about something, and no ticket mentions any of it."""
        return bool(self.asked.topics) and len(self.unheard()) == len(self.asked.topics)

    def unheard(self) -> list[str]:
        """What is asked about and no ticket mentions."""
        return [term for term in self.asked.topics if not self.facts.says(term).any()]

    # -- numbers -------------------------------------------------------------------------------------------------------

    def count(self, *given: Given) -> Figure | None:
        """How many tickets."""
        return self.book.figure(query("tickets", *given))

    def share(self, part: Given, of: Given) -> Figure | None:
        """How many of the hundred; a part's dataset is that of the whole."""
        return self.book.figure(share_query(part, of), places=1, unit=" %")

    def ranked(self, by: str, of: Given) -> list[Row]:
        """The values of a field, the most frequent first; times in their own order."""
        mask = select(self.facts, of)
        if by == "theme":
            themes = () if self.themes is None else self.themes.themes
            rows = [
                Row(label=one.label, where=one.where, count=int((mask & select(self.facts, one.where)).sum()),
                    quotes=one.medoids)
                for one in themes
            ]  # fmt: skip
        else:
            coded = self.facts.field(by)
            counts = {} if coded is None else coded.counts(mask)
            rows = [Row(label=label, where=where_field(by, label), count=many) for label, many in counts.items()]
        return sorted((row for row in rows if row.count), key=lambda row: (-row.count, row.label))

    # -- tickets -------------------------------------------------------------------------------------------------------

    def tickets(self, ids: Sequence[int]) -> Iterator[Ticket]:
        """Tickets by id, in that order."""
        yield from tickets_by_id(self.book, self.dataset.dataset_id, ids)

    def drawn_of(self, where: Given) -> list[int]:
        """Of the drawn tickets, those that are meant."""
        meant = {int(one) for one in self.facts.ids[select(self.facts, where)]}
        return [one for one in self.drawn if one in meant]

    def quotes(self, ids: Sequence[int], most: int = 3, wanted: Sequence[str] = ()) -> list[Quote]:
        """Words of these tickets; of two that say the same, one."""
        stems = [stem for word in wanted for stem in stems_of(word)]
        found: dict[str, Quote] = {}
        for ticket in self.tickets(ids[: most * 4]):
            quote = quote_of(ticket, stems)
            if quote.words:
                found.setdefault(quote.words.casefold(), quote)
        return list(found.values())[:most]


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


def span_of(facts: Facts) -> Span | None:
    """The days of a dataset; None: its tickets name none."""
    dated = facts.created[facts.dated]
    if not len(dated):
        return None
    first, last = (datetime.fromtimestamp(int(each), UTC).date() for each in (dated.min(), dated.max()))
    return Span(first=first, last=last)


def two_periods(facts: Facts) -> tuple[Period, Period] | None:
    """An earlier and a later period to compare: the last two months where both are full enough, else the halves."""
    span = span_of(facts)
    if span is None:
        return None
    last = month_of(span.last.year, span.last.month)
    months = span.last.year * 12 + span.last.month - 2
    before = month_of(months // 12, months % 12 + 1)
    enough = max(FEWEST_IN_A_MONTH, _WORTH * len(facts))
    if all(select(facts, period.where()).sum() >= enough for period in (before, last)):
        return before, last
    return span.halves()
