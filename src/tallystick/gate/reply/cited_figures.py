"""Compare the numbers of a sentence with the figures that it cites.

A figure says what a query gives; the words of a sentence cannot be read out of a query, its numbers can. So each number
of the sentence must be a cited figure, stand in a query or in a quoted record, or be a bound that a figure keeps
(`p < 0.0001` for 0.0000).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import unquote_plus

from tallystick.gate.reply.claims import Claim
from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.words import words

_NUMBER = re.compile(r"(?P<bound>[<>]\s?)?(?P<number>[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?)")
_DAY = re.compile(r"\b([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})\b")
"""A day, as 2024-01-31 or, as a figure, 20240131."""


def number_without_figure(text: str, claims: Sequence[Claim], quoted: Iterable[str]) -> str | None:
    """Return the first number of a sentence that none of its references gives; None if all are given.

    Args:
        text: The sentence without its references.
        claims: Its references.
        quoted: The texts that its other references show.
    """
    texts = list(quoted)
    figures = [claim.figure for claim in claims if claim.figure is not None]
    written = [value for figure in figures for value in _values(figure[0])]
    shown = [*(unquote_plus(query) for _, query in figures), *texts]
    given = {*written, *(value for each in shown for value in _values(each))}
    given |= {value for each in texts for word in words(each) if (value := _word_value(word)) is not None}
    days = set(_days([*shown, *(figure[0] for figure in figures)]))
    # The end of a query's range is the day after the last.
    days |= {day - timedelta(days=1) for day in days if day > date.min}
    strange = next((match.group() for match in _DAY.finditer(text) if not days & set(_days([match.group()]))), None)
    if strange is not None:
        return strange
    for match in _NUMBER.finditer(_DAY.sub(" ", text)):
        number = _decimal(match["number"])
        if number not in given and not _is_kept(match["bound"], number, written):
            return match.group()
    return next((word for word in words(text) if _word_value(word) not in {None, *given}), None)


def _days(texts: Iterable[str]) -> Iterator[date]:
    """Yield the days in some texts."""
    for text in texts:
        for match in _DAY.finditer(text):
            try:
                yield date(int(match[1]), int(match[3]), int(match[4]))
            except ValueError:
                continue


def _values(text: str) -> list[Decimal]:
    return [_decimal(match["number"]) for match in _NUMBER.finditer(text)]


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", ""))


def _is_kept(bound: str | None, number: Decimal, figures: Iterable[Decimal]) -> bool:
    if bound is None:
        return False
    return any(figure < number if bound.startswith("<") else figure > number for figure in figures)


def _word_value(word: str) -> Decimal | None:
    """Return the value of a number word; `one` and `a` are mostly no numbers."""
    value = NUMBER_WORDS.get(word)
    return None if value is None or value <= 1 else Decimal(value)
