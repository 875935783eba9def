"""What is asked of a search tool to find what answers a question, the best query first."""

import re
from collections.abc import Iterator
from itertools import chain, combinations

from tallystick.rooms.desk.judging.matching import stems_of

_EDGES = ".,;:!?()[]{}<>\"'`“”‘’#*"  # noqa: RUF001 - as people type them
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)+|[A-Z]{4,}")
"""How programs name what went wrong: ERR_TIMEOUT, ECONNRESET."""
_LONG, _MIXED = 4, 3
"""A number of so many digits names something; fewer do beside letters."""
_LOUD = 0.6
"""From this share of capitals on, they tell nothing."""


def worded(question: str) -> Iterator[str]:
    """The question itself, then what is left of it when its rarer words are asked for alone."""
    words = _rare(question)
    heads = (" ".join(words[:count]) for count in (4, 2))
    pairs = (" ".join(pair) for pair in combinations(words, 2))
    yield from _once(chain([question], heads, words, pairs))


def log_queries(question: str, message: str = "") -> Iterator[str]:
    """What may stand in one log entry, which holds no whole question: ids and codes, then the rarest words.

    Args:
        question: What must be known.
        message: The customer's words, where an order is named once for all questions.
    """
    words = _rare(question)
    yield from _once(chain(_ids(question), _ids(message), [" ".join(words[:2])], words))


def _rare(question: str) -> list[str]:
    """Words that say what it is about; the longer, the rarer."""
    return sorted(stems_of(question), key=lambda word: (-len(word), word))


def _ids(text: str) -> Iterator[str]:
    tokens = [token for raw in text.split() if (token := raw.strip(_EDGES))]
    loud = sum(map(str.isupper, tokens)) > len(tokens) * _LOUD
    for token in tokens:
        if _is_number(token) or (not loud and _CODE.fullmatch(token) is not None):
            yield token


def _is_number(token: str) -> bool:
    if not any(map(str.isdigit, token)):
        return False
    return len(token) >= (_LONG if token.isdigit() else _MIXED) and any(map(str.isalnum, token))


def _once(found: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for one in found:
        if one and one not in seen:
            seen.add(one)
            yield one
