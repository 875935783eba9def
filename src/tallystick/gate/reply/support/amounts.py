"""Read numbers, units, dates and times from words and digits, as values that can be compared.

`twelve` and `12`, `half an hour` and `thirty minutes`, `4:42 pm` and `16:42`, `$5` and `5 dollars`, `21 May` and
`May 21` are the same. An amount has a value in the base unit of its dimension; without a unit its dimension is empty.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from tallystick.records import record
from tallystick.text.calendar_names import MONTH_NUMBERS, WEEKDAY_NUMBERS
from tallystick.text.number_words import NUMBER_WORDS, ONES, TENS
from tallystick.text.stems import stem
from tallystick.text.words import STOP_WORDS, fold_word

_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}
_UNITS: dict[str, tuple[str, Fraction]] = {
    name: (dimension, Fraction(factor))
    for dimension, units in {
        "time": {
            "ms millisecond": "1/1000",
            "s sec second": "1",
            "min minute": "60",
            "h hr hour": "3600",
            "day": "86400",
            "week": "604800",
        },
        "month": {"month": "1", "year yr": "12", "decade": "120", "century": "1200"},
        "length": {
            "mm millimetre millimeter": "1/1000",
            "cm centimetre centimeter": "1/100",
            "m metre meter": "1",
            "km kilometre kilometer": "1000",
        },
        "foot": {"inch": "1/12", "ft foot feet": "1", "yard yd": "3", "mile": "5280"},
        "mass": {"mg milligram": "1/1000", "g gram": "1", "kg kilo kilogram": "1000", "tonne": "1000000"},
        "lb": {"oz ounce": "1/16", "lb": "1", "stone": "14"},
        "volume": {"ml millilitre milliliter": "1/1000", "cl": "1/100", "l litre liter": "1"},
        "gallon": {"pint": "1/8", "gallon": "1"},
        "bytes": {"kb": "1", "mb": "1000", "gb": "1000000", "tb": "1000000000"},
        "percent": {"% percent": "1"},
        "dollar": {"$ dollar usd": "1", "cent": "1/100"},
        "euro": {"€ euro eur": "1"},
        "pound": {"£ gbp pound quid": "1"},
        "krone": {"krone kroner": "1"},
        "yen": {"¥ yen": "1"},
        "degree": {"° degree": "1"},
    }.items()
    for names, factor in units.items()
    for name in names.split()
}
_AMBIGUOUS = frozenset({"m", "s", "h", "l", "g"})
"""One-letter units, recognised only in lower case and without a plural `s`."""
TOKEN = re.compile(
    r"(?P<iso>\b[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\b)"
    r"|(?P<time>\b[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?\b"
    r"|\b[0-9]{1,2}\.[0-9]{2}(?= ?[ap]\.?m\b|(?: in the)? (?:morning|afternoon|evening)))"
    r"|(?P<code>[A-Za-z0-9]+(?:[@_/.#&-][A-Za-z0-9_]+)*(?:@[\w.-]+)?)"
    r"|(?P<sign>[$€£¥%°])"
    r"|(?P<word>[^\W\d_]+)"
)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?", re.ASCII)
"""A number with group commas or decimals, read as one token."""
_ORDINAL = re.compile(r"(\d{1,4})(?:st|nd|rd|th)", re.ASCII)
_WITH_UNIT = re.compile(
    r"(\d+(?:\.\d+)?)(ms|s|min|h|mm|cm|m|km|mg|g|kg|ml|l|kb|mb|gb|tb|k|am|pm)", re.IGNORECASE | re.ASCII
)
_ISO = re.compile(r"(?<!\d)\d{4}-(?:0[1-9]|1[0-2])(?:-\d{2})?(?!\d)", re.ASCII)
_LONGEST = 40


@record
class Amount:
    """A number with its unit, or a part of a date or a time of day."""

    kind: str
    """number, time, month or weekday."""
    value: Fraction
    dimension: str = ""
    """The unit's dimension; `m4` for a day of April; empty if there is none."""
    at: int = 0
    """Index of its first token."""
    end: int = 0
    """Index after its last token, unit included."""
    written: str = ""
    bare: Fraction = Fraction(0)
    """The number without its unit."""
    noun: str = ""
    """Stem of the content word that follows the number: the thing counted."""
    weak: bool = False
    """Whether the amount is the word `one`, which is often a pronoun and is therefore not checked like a number."""


@record
class Piece:
    """One token of a text."""

    kind: str
    """iso, time, number, code, sign or word."""
    written: str
    folded: str
    start: int
    end: int
    parted: bool = False
    """Whether a semicolon or a line break separates it from the token before."""


def pieces(text: str) -> list[Piece]:
    """Split a text into tokens."""
    found: list[Piece] = []
    at = 0
    while (match := _next(text, at)) is not None:
        kind, start, end = match
        written = text[start:end]
        parted = ";" in (gap := text[at:start]) or "\n" in gap
        found.append(Piece(kind=kind, written=written, folded=fold_word(written), start=start, end=end, parted=parted))
        at = end
    return found


def _next(text: str, at: int) -> tuple[str, int, int] | None:
    match = TOKEN.search(text, at)
    if match is None:
        return None
    start, end = match.span()
    if match.lastgroup in {"code", "word"}:
        if (number := _NUMBER.match(text, start)) is not None and _ends_number(text, number.end()):
            return "number", start, number.end()
        apostrophe = text[end : end + 2]
        if apostrophe[:1] in {"'", "’"} and apostrophe[1:].isalpha():  # noqa: RUF001
            tail = TOKEN.match(text, end + 1)
            end = tail.end() if tail is not None and tail.lastgroup in {"code", "word"} else end
        written = text[start:end]
        return ("word" if _is_word(written) else "code"), start, end
    return match.lastgroup or "word", start, end


def _ends_number(text: str, at: int) -> bool:
    after = text[at : at + 2]
    return not (after[:1].isalnum() or after[:1] in "_@" or (after[:1] in "-./" and after[1:].isalnum())) or not after


def _is_word(written: str) -> bool:
    if "_" in written or "@" in written or "/" in written or "." in written or "#" in written:
        return False
    return not any(map(str.isdigit, written))


@lru_cache(maxsize=4_096)
def amounts(text: str) -> tuple[Amount, ...]:
    """Return every number, date and time of a text."""
    return tuple(_amounts(pieces(text)))


def _amounts(tokens: Sequence[Piece]) -> Iterator[Amount]:
    at = 0
    while at < len(tokens):
        found = _clock(tokens, at) or _dated(tokens, at) or _quantity(tokens, at)
        if found is None:
            at += 1
        else:
            yield from found
            at = max(at + 1, found[-1].end)


def _clock(tokens: Sequence[Piece], at: int) -> list[Amount] | None:
    """Read a time of day: `16:42`, `4:42 pm`, `9 am`, `noon`, `twenty past six`, `ten minutes to nine`."""
    token = tokens[at]
    if token.kind == "time":
        hours, minutes = (int(part) for part in re.split(r"[:.]", token.written)[:2])
        return [_at_clock(tokens, at, at + 1, hours, minutes)]
    if token.folded in {"noon", "midday", "midnight"}:
        return [_at_clock(tokens, at, at + 1, 0 if token.folded == "midnight" else 12, 0)]
    return _spoken_clock(tokens, at)


def _spoken_clock(tokens: Sequence[Piece], at: int) -> list[Amount] | None:
    token = tokens[at]
    first = _plain_number(tokens, at)
    if first is None and token.folded not in {"half", "quarter"}:
        return None
    minutes_, end = first or (Fraction(30 if token.folded == "half" else 15), at + 1)
    if _folded(tokens, end).startswith("minute"):
        end += 1
    beside = _folded(tokens, end)
    hour = _plain_number(tokens, end + 1) if beside in {"past", "to"} else None
    if hour is not None and hour[0] <= 12 and minutes_ < 60 and tokens[end + 1].kind in {"word", "number"}:  # noqa: PLR2004
        # `two to three days` is a range: spoken times are assumed to be multiples of five minutes.
        if minutes_ % 5 or (beside == "to" and token.kind == "number"):
            return None
        hours, minutes = int(hour[0]), int(minutes_)
        return [_at_clock(tokens, at, hour[1], *((hours, minutes) if beside == "past" else (hours - 1, 60 - minutes)))]
    if first is not None and _half_of_day(tokens, end)[0] and minutes_ <= 12:  # noqa: PLR2004
        return [_at_clock(tokens, at, end, int(minutes_), 0)]
    return None


def _at_clock(tokens: Sequence[Piece], at: int, end: int, hours: int, minutes: int) -> Amount:
    half, end = _half_of_day(tokens, end)
    # Without am or pm the time is ambiguous; the dimension `12` means: compare modulo twelve hours.
    known = bool(half) or hours > 12  # noqa: PLR2004
    if half == "pm" and hours < 12:  # noqa: PLR2004
        hours += 12
    value = hours * 60 + minutes
    written = " ".join(token.written for token in tokens[at:end])
    return Amount(
        kind="time", value=Fraction(value), dimension="24" if known else "12", at=at, end=end, written=written
    )


def _half_of_day(tokens: Sequence[Piece], at: int) -> tuple[str, int]:
    word = _folded(tokens, at)
    if word in {"am", "pm", "a.m", "p.m"}:
        return word.replace(".", ""), at + 1
    if word in {"a", "p"} and _folded(tokens, at + 1) == "m":
        return word + "m", at + 2
    for ahead in range(at, min(at + 4, len(tokens))):
        part = _folded(tokens, ahead)
        if part in {"morning", "afternoon", "evening"}:
            return ("am" if part == "morning" else "pm"), at
        if part not in {"in", "the", "on", "that"}:
            break
    return "", at


def _dated(tokens: Sequence[Piece], at: int) -> list[Amount] | None:
    """Read a date: `2024-06-03`, `3 June`, `June 3rd`, a month or a weekday alone."""
    token = tokens[at]
    iso = _ISO.search(token.written) if token.kind in {"iso", "code"} else None
    if iso is not None:
        parts = [int(part) for part in iso.group().split("-")]
        found = [
            Amount(kind="number", value=Fraction(parts[0]), bare=Fraction(parts[0]), at=at, end=at + 1),
            Amount(kind="month", value=Fraction(parts[1]), at=at, end=at + 1, written=token.written),
        ]
        if len(parts) > 2:  # noqa: PLR2004
            days = Fraction(parts[2])
            day = Amount(kind="number", value=days, bare=days, dimension=f"m{parts[1]}", at=at, end=at + 1)
            found.append(day)
        return found
    weekday = WEEKDAY_NUMBERS.get(token.folded, WEEKDAY_NUMBERS.get(token.folded.removesuffix("s")))
    if weekday is not None and token.written[:1].isupper():
        return [Amount(kind="weekday", value=Fraction(weekday), at=at, end=at + 1, written=token.written)]
    return _month(tokens, at)


def _month(tokens: Sequence[Piece], at: int) -> list[Amount] | None:
    token = tokens[at]
    if token.folded in MONTH_NUMBERS and token.written[:1].isupper():
        number = MONTH_NUMBERS[token.folded]
        month = Amount(kind="month", value=Fraction(number), at=at, end=at + 1, written=token.written)
        day = _day(tokens, at + 1)
        if day is None or (token.folded == "may" and day is None):
            return [month] if token.folded not in {"may", "mar"} or at else None
        return [
            month,
            Amount(
                kind="number", value=day, bare=day, dimension=f"m{number}", at=at, end=at + 2, written=token.written
            ),
        ]
    day = _day(tokens, at)
    ahead = at + 2 if _folded(tokens, at + 1) == "of" else at + 1
    if day is None or ahead >= len(tokens) or tokens[ahead].folded not in MONTH_NUMBERS:
        return None
    if not tokens[ahead].written[:1].isupper():
        return None
    number = MONTH_NUMBERS[tokens[ahead].folded]
    written = f"{token.written} {tokens[ahead].written}"
    return [
        Amount(kind="number", value=day, bare=day, dimension=f"m{number}", at=at, end=ahead, written=written),
        Amount(kind="month", value=Fraction(number), at=ahead, end=ahead + 1, written=written),
    ]


def _day(tokens: Sequence[Piece], at: int) -> Fraction | None:
    if at >= len(tokens):
        return None
    ordinal = _ORDINAL.fullmatch(tokens[at].folded)
    digits = ordinal.group(1) if ordinal else tokens[at].written
    return Fraction(int(digits)) if (digits.isascii() and digits.isdecimal()) and 0 < int(digits) < 32 else None  # noqa: PLR2004


def _quantity(tokens: Sequence[Piece], at: int) -> list[Amount] | None:
    sign = tokens[at].folded if tokens[at].kind == "sign" else ""
    start = at + 1 if sign and sign != "%" else at
    found = _with_unit(tokens, start) or _plain_number(tokens, start) or _half(tokens, start)
    if found is None:
        return None
    value, end, *named = found
    unit = named[0] if named else sign
    if not unit:
        unit, end = _unit_after(tokens, end)
    dimension, factor = _UNITS.get(str(unit), ("", Fraction(1)))
    weak = tokens[start].folded == "one" and end == start + 1
    written = " ".join(token.written for token in tokens[at:end])
    return [
        Amount(
            kind="number",
            value=value * factor,
            dimension=dimension,
            at=at,
            end=end,
            written=written,
            weak=weak,
            bare=value,
            noun=_noun(tokens, end),
        )
    ]


def _noun(tokens: Sequence[Piece], at: int) -> str:
    """Return the stem of the thing counted: the next content word (`good` in `4 in good condition`)."""
    if at < len(tokens) and tokens[at].parted:
        return ""
    for token in tokens[at : at + 3]:
        if token.kind not in {"word", "code"} or token.folded in {"and", "or", "to", "but", "with", "at", "for"}:
            return ""
        if token.folded not in STOP_WORDS:
            return stem(token.folded)
    return ""


def _half(tokens: Sequence[Piece], at: int) -> tuple[Fraction, int] | None:
    if _folded(tokens, at) == "half" and _folded(tokens, at + 1) in {"a", "an"}:
        unit = _folded(tokens, at + 2).rstrip("s")
        return (Fraction(1, 2), at + 2) if unit in _UNITS else None
    return None


def _with_unit(tokens: Sequence[Piece], at: int) -> tuple[Fraction, int, str] | None:
    if at >= len(tokens):
        return None
    joined = _WITH_UNIT.fullmatch(tokens[at].written)
    if joined is None:
        return None
    unit = joined.group(2).lower()
    value = Fraction(joined.group(1))
    return (value * 1000, at + 1, "") if unit == "k" else (value, at + 1, unit)


def _unit_after(tokens: Sequence[Piece], at: int) -> tuple[str, int]:
    if at >= len(tokens):
        return "", at
    token = tokens[at]
    if token.kind == "sign":
        return token.folded, at + 1
    for name in (token.folded, token.folded.removesuffix("s"), token.folded.removesuffix("es")):
        if name in _UNITS and (name not in _AMBIGUOUS or token.written == name):
            return name, at + 1
    return "", at


def _plain_number(tokens: Sequence[Piece], at: int) -> tuple[Fraction, int] | None:
    """Read digits or number words: `1,900`, `twenty-six`, `two hundred and six`, `4th`."""
    if at >= len(tokens):
        return None
    token = tokens[at]
    if token.kind == "number":
        value = Fraction(token.written.replace(",", "")) if len(token.written) < _LONGEST else None
        if value is None:
            return None
        scale = _SCALES.get(_folded(tokens, at + 1))
        return (value * scale, at + 2) if scale else (value, at + 1)
    ordinal = _ORDINAL.fullmatch(token.folded)
    if ordinal:
        return Fraction(int(ordinal.group(1))), at + 1
    return _spoken(tokens, at)


def _spoken(tokens: Sequence[Piece], at: int) -> tuple[Fraction, int] | None:
    total = current = 0
    end = at
    while end < len(tokens) and end < at + 10:
        parts = tokens[end].folded.split("-")
        if all(part in NUMBER_WORDS for part in parts):
            current += sum(NUMBER_WORDS[part] for part in parts)
        elif parts[0] in _SCALES and (current or end == at) and (end > at or parts[0] == "dozen"):
            current = (current or 1) * _SCALES[parts[0]]
            if _SCALES[parts[0]] >= 1_000:  # noqa: PLR2004
                total, current = total + current, 0
        elif not (tokens[end].folded == "and" and current >= 100 and _folded(tokens, end + 1) in NUMBER_WORDS):  # noqa: PLR2004
            break
        end += 1
        if end < len(tokens) and current and _ends_spoken(tokens, end):
            break
    return (Fraction(total + current), end) if end > at else None


def _ends_spoken(tokens: Sequence[Piece], end: int) -> bool:
    """Whether two adjacent number words are two numbers: `two three`."""
    before, now = tokens[end - 1].folded, tokens[end].folded
    return (
        now.split("-")[0] in NUMBER_WORDS
        and not (before in TENS and now in ONES[1:10])
        and before not in {*_SCALES, "and"}
    )


def _folded(tokens: Sequence[Piece], at: int) -> str:
    return tokens[at].folded if 0 <= at < len(tokens) else ""
