"""What a question asks for: which tickets, which numbers, by which field, against what."""

import re

from tallystick.records import record
from tallystick.rooms.insight.analysis.periods import Period, Span, before, find_periods
from tallystick.rooms.insight.analysis.vocabulary import (
    ELSEWHERE_PATTERNS,
    FIELD_PATTERNS,
    NUMBER,
    SMALL_TALK,
    WANT_PATTERNS,
)
from tallystick.rooms.insight.figures.facts import Facts
from tallystick.rooms.insight.figures.words import STOP, stem, stems_of, words_of

_VALUED = ("department", "product", "category", "priority", "status")
_MOST_KNOWN = 2_000
"""Values of one field that are looked for in a question."""
_USUAL = 5
_POINTED = re.compile(
    r"\b(?:about|mention\w*|regarding|concerning|with|say|for|of)\s+(?:(?:the|a|an|our|their)\s+)?([\w'-]+)",
    re.IGNORECASE,
)


_WEEKEND = ("Saturday", "Sunday")
_WEEKDAY = re.compile(
    r"\b(?:on|at|during|over)\s+(?:a\s+|the\s+)?(?:(?P<end>weekends?)|(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?)\b",
    re.IGNORECASE,
)


@record
class Asked:
    """A question, understood."""

    text: str
    wants: frozenset[str]
    by: str | None
    """The field that is asked for: `department`, …, `theme`, or a column of the file (`extra.NAME`)."""
    values: tuple[tuple[str, tuple[str, ...]], ...]
    """Field → the values of it that are named."""
    periods: tuple[Period, ...]
    topics: tuple[str, ...]
    """Words that are left: what it is about."""
    pointed: frozenset[str]
    """Of these, the ones that the question points at: `about refunds`, `mention the driver`."""
    top: int
    elsewhere: str | None
    """What it asks for that tickets do not say."""

    def want(self, *names: str) -> bool:
        """Whether one of these is asked for."""
        return not self.wants.isdisjoint(names)


def understand(question: str, facts: Facts, span: Span | None) -> Asked:
    """Read a question.

    Args:
        question: As it was asked, personal data replaced.
        facts: The tickets it is asked of: their values are known words.
        span: Their days, if they say any.
    """
    found = find_periods(question, span) if span is not None else None
    rest = question if found is None else found.rest
    wants = {want for want, pattern in WANT_PATTERNS.items() if pattern.search(rest)}
    values, rest = _values_in(rest, facts)
    days, rest = _weekdays_in(rest)
    values += days
    extra = _extra_in(rest, facts)
    fields = [field for field, pattern in FIELD_PATTERNS.items() if pattern.search(rest)]
    elsewhere = next((what for what, pattern in ELSEWHERE_PATTERNS.items() if pattern.search(rest)), None)
    number = NUMBER.search(rest)
    return Asked(
        text=question, wants=frozenset(wants), by=extra or _by(fields, values), values=values,
        periods=_held_against(() if found is None else found.periods, wants, span), topics=_topics(rest, extra),
        pointed=frozenset(words_of(" ".join(_POINTED.findall(rest)))),
        top=int(number[1] or number[2]) or _USUAL if number else _USUAL,
        elsewhere=None if extra else elsewhere,
    )  # fmt: skip


def _values_in(rest: str, facts: Facts) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], str]:
    """Values of fields that stand in the question, the longest first; each stretch of words means one of them."""
    known = [
        (stems, field, value)
        for field in _VALUED
        if (coded := facts.field(field)) is not None and len(coded.names) <= _MOST_KNOWN
        for value in coded.names
        if (stems := stems_of(value))
    ]
    known.sort(key=lambda each: (-len(each[0]), each[1], each[2]))
    words = words_of(rest)
    stems = [stem(word) for word in words]
    found: dict[str, list[str]] = {}
    for parts, field, value in known:
        at = _place(parts, stems)
        # A value that is an everyday word (`other`, `open`) is only meant where it is written as a name.
        if at is None or (len(parts) == 1 and _is_everyday(words[at], value, rest)):
            continue
        found.setdefault(field, []).append(value)
        for place in range(at, at + len(parts)):
            stems[place] = ""
            words[place] = ""
    named = tuple((field, tuple(values)) for field, values in found.items())
    return named, rest if not named else _without(rest, [word for word in words if word])


def _held_against(periods: tuple[Period, ...], wants: set[str], span: Span | None) -> tuple[Period, ...]:
    """`Did it rise in April?` is asked of two periods, though one is named."""
    if span is None or len(periods) != 1 or wants.isdisjoint({"trend", "compare"}):
        return periods
    earlier = before(periods[0], span)
    return periods if earlier is None else (earlier, periods[0])


def _weekdays_in(rest: str) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], str]:
    """`on weekends`, `on Mondays`: days of the week that are named."""
    named = _WEEKDAY.search(rest)
    if named is None:
        return (), rest
    days = _WEEKEND if named["end"] else (named["day"].capitalize(),)
    return (("weekday", days),), _WEEKDAY.sub(" ", rest, count=1)


def _without(rest: str, left: list[str]) -> str:
    """The question with the named values taken out; marks that words do not carry are kept where they matter."""
    return " ".join(left) + (" %" if "%" in rest else "")


def _is_everyday(word: str, value: str, rest: str) -> bool:
    common = word in STOP or stem(word) in SMALL_TALK or word in {"other", "open", "closed", "high", "low", "normal"}
    return common and value not in rest


def _place(parts: list[str], stems: list[str]) -> int | None:
    return next((at for at in range(len(stems) - len(parts) + 1) if stems[at : at + len(parts)] == parts), None)


def _extra_in(rest: str, facts: Facts) -> str | None:
    """A column of the file that the question names."""
    stems = stems_of(rest)
    named = [name for name in facts.extras if (parts := stems_of(name)) and _place(parts, stems) is not None]
    return f"extra.{max(named, key=len)}" if named else None


def _by(fields: list[str], values: tuple[tuple[str, tuple[str, ...]], ...]) -> str | None:
    taken = {field for field, _ in values}
    free = [field for field in fields if field not in taken and field != "customer"]
    return free[0] if free else None


def _topics(rest: str, extra: str | None) -> tuple[str, ...]:
    for pattern in (*WANT_PATTERNS.values(), *FIELD_PATTERNS.values()):
        rest = pattern.sub(" ", rest)
    column = set(stems_of(extra or ""))
    left = [
        word
        for word in words_of(rest)
        if word not in STOP and stem(word) not in SMALL_TALK | column and len(word) > 1 and not word.isdigit()
    ]
    return tuple(dict.fromkeys(left))
