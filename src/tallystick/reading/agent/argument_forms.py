"""A closed grammar for numbers, lines, tags and assignees in a request."""

import re
from itertools import takewhile

from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.words import QUERY_STOP_WORDS

_COUNT = rf"(\d{{1,6}}|{'|'.join(NUMBER_WORDS)})"
_LINES = re.compile(
    r"\blines? (\d{1,6})"
    r"(?:\s?(?:-|–|(?:down |up )?to|and|through|until)\s?(\d{1,6})"  # noqa: RUF001
    r"|(?P<open>\s?(?:on\b|onwards?\b|to the end)))?",
    re.IGNORECASE,
)
_FIRST_LINES = re.compile(rf"\b(?:first|top) {_COUNT} lines\b", re.IGNORECASE)
_AT_MOST = re.compile(rf"\b(?:max(?:imum)?|at most|up to|no more than) {_COUNT}\b", re.IGNORECASE)
_TAGGED = re.compile(
    r"\b(?:tagged|tags?)\b(?: (?:as|is|with|on|called|it))?:?"
    r"((?:(?:,? (?:and|or)|,)? ?['\"“‘]?[\w-]+['\"”’]?(?=[ ,.;:?!]|$))+)",  # noqa: RUF001
    re.IGNORECASE,
)
_JOINS = frozenset({"and", "or"})
_ASSIGNED = re.compile(
    r"\b(?:assigned to|belong(?:s|ed|ing)? to|given to|owned by|waiting for) (?:the )?([\w-]+)"
    r"|\bon (?:the )?([\w-]+?)(?:'s|’s)? (?:plate|list|desk)\b",  # noqa: RUF001
    re.IGNORECASE,
)


def line_in(request: str, *, starts: bool) -> int | None:
    """Return the first or last line number of a range in a request."""
    if (found := _LINES.search(request)) is not None:
        first = int(found.group(1))
        if starts:
            return first
        return None if found.group("open") else int(found.group(2) or first)
    return None if starts else _number(_FIRST_LINES.search(request))


def most_in(request: str) -> int | None:
    """Return the maximum number of results that a request asks for."""
    return _number(_AT_MOST.search(request))


def _number(found: re.Match[str] | None) -> int | None:
    if found is None:
        return None
    number = found.group(1).lower()
    return int(number) if number.isdigit() else NUMBER_WORDS[number]


def tags_in(request: str) -> list[str] | None:
    """Return the tags that a request names behind the word: one, or several joined by `and`."""
    found = _TAGGED.search(request)
    if found is None:
        return None
    words = [each.strip("'\"“”‘’,") for each in found.group(1).split()]  # noqa: RUF001
    named = list(takewhile(lambda each: each.lower() in _JOINS or each.lower() not in QUERY_STOP_WORDS, words))
    tags = [each for each in named if each.lower() not in _JOINS]
    are_several = "," in found.group(1) or not _JOINS.isdisjoint(map(str.lower, named))
    return (tags if are_several else tags[:1]) or None


def assignee_in(request: str) -> str | None:
    """Return the assignee of issues that a request names."""
    names = [found.group(1) or found.group(2) for found in _ASSIGNED.finditer(request)]
    return next((name for name in names if name.lower() not in QUERY_STOP_WORDS), None)
