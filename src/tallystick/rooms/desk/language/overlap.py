"""Overlap of texts: shared stems, numbers, measures and negation."""

import re
from functools import lru_cache

from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.stems import stem_all
from tallystick.text.words import QUERY_STOP_WORDS, words

_EMPTY = QUERY_STOP_WORDS | {"long", "policy", "official", "company", "one"}
"""Words of any question to a support desk; they say nothing of what it is about."""
_UNITS_LIST = """
second minute hour day week month year percent % € $ £ euro dollar pound cent gb mb kg gram km mile cm item
device user time
"""
_UNITS = tuple(_UNITS_LIST.split())
_NUMBER = re.compile(r"\d[\d.,]*")
_MEASURE = re.compile(
    r"(?P<sign>[€$£])\s?(?P<money>\d[\d.,]{0,40})|(?P<number>\d[\d.,]{0,40})\s?(?:business |working |calendar )?"
    r"(?P<unit>%|[^\W\d_]{1,12})"
)
_SPELLED = {word: str(value) for word, value in NUMBER_WORDS.items() if value} | {"hundred": "100"}
_DENIES = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|doesn't|isn't|aren't|without|unable|neither)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def stems_of(text: str) -> frozenset[str]:
    """What a text is about: its words without endings and without those of any question."""
    return frozenset(stem_all(word for word in words(text) if word not in _EMPTY))


def relevance(question: str, snippet: str) -> float:
    """The share of the question's words that the snippet speaks of, 0 to 1."""
    asked = stems_of(question)
    return round(len(asked & stems_of(snippet)) / len(asked), 4) if asked else 0.0


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return _DENIES.search(text) is not None


def numbers_in(text: str) -> frozenset[str]:
    """Every number of a text, written in digits or in words; `one` is left out, which is seldom meant as a number."""
    digits = (_number(found) for found in _NUMBER.findall(text))
    spelled = (_SPELLED[word] for word in words(text) if word in _SPELLED and word != "one")
    return frozenset((*digits, *spelled))


def measures_in(text: str) -> dict[str, frozenset[str]]:
    """Unit → the numbers that stand before it."""
    digits = re.sub(r"[^\W\d_]+", lambda word: _SPELLED.get(word[0].lower(), word[0]), text)
    found: dict[str, set[str]] = {}
    for match in _MEASURE.finditer(digits):
        unit = match["sign"] or match["unit"].lower().removesuffix("s")
        if unit in _UNITS:
            found.setdefault(unit, set()).add(_number(match["money"] or match["number"]))
    return {unit: frozenset(numbers) for unit, numbers in found.items()}


def _number(text: str) -> str:
    plain = text.rstrip(".,").replace(",", "")
    return plain.removesuffix(".00").removesuffix(".0")
