"""What the data themselves are like: gaps, repetitions, long tickets, customers who come back."""

from tallystick.rooms.insight.analysis.desk import Desk
from tallystick.rooms.insight.analysis.sentence import Sentence, listed, say
from tallystick.rooms.insight.analysis.volume import cannot
from tallystick.rooms.insight.figures.book import Figure
from tallystick.rooms.insight.figures.query import chosen, query
from tallystick.rooms.insight.figures.selecting import LONG_WORDS

GAPS = ("created", "department", "product", "category", "priority", "status", "resolved", "reassigned")
"""Fields whose absence is worth saying."""


def quality(desk: Desk) -> list[Sentence]:
    """Rows that could not be read, fields that are empty, texts that repeat."""
    total = desk.count(desk.whole)
    bad = desk.book.figure(query("bad_rows", desk.whole))
    repeated = desk.share(chosen(repeated="yes"), desk.whole)
    if total is None or bad is None or repeated is None:
        return []
    gaps: list[list[str | Figure]] = []
    for field in GAPS:
        share = desk.share(chosen(none=field), desk.whole)
        if share is not None and share.value:
            gaps.append([share, f" without {_GAP_NAMES.get(field, field)}"])
    said = [say(total, " tickets were taken and ", bad, " rows of the file could not be read.")]
    if gaps:
        said.append(say("Of the tickets, ", *listed([list(gap) for gap in gaps]), "."))
    return [*said, say(repeated, " of the tickets repeat the text of an earlier one word for word.")]


_GAP_NAMES = {"created": "a date", "resolved": "a time of resolving", "reassigned": "a number of reassignments"}


def complexity(desk: Desk) -> list[Sentence]:
    """How long tickets are, and how many are long or handed on more than once."""
    words = desk.book.figure(query("median_words", desk.base))
    long = desk.share(chosen(long="yes"), desk.base)
    hard = desk.share(chosen(complex="yes"), desk.base)
    if words is None or long is None or hard is None:
        return []
    which = f" {desk.about}" if desk.about else ""
    return [
        say(f"A ticket{which} has ", words, " words in the median, and ", long, f" have {LONG_WORDS} or more."),
        say(hard, f" count as complex here: {LONG_WORDS} words or more, or reassigned more than once."),
    ]


def customers(desk: Desk) -> list[Sentence]:
    """How many customers there are, and how many write again."""
    different = desk.book.figure(query("values", desk.base, by="customer"))
    again = desk.book.figure(query("repeat_customers", desk.base))
    if different is None or again is None or not different.value:
        unknown = desk.count(desk.base, chosen(none="customer"))
        return [] if unknown is None else [cannot(unknown, "tickets in question do not say who wrote them")]
    which = f" {desk.about}" if desk.about else ""
    return [
        say("The tickets", which, " come from ", different, " customers, of whom ", again, " wrote more than once.")
    ]
