"""What texts have in common: words, numbers, and whether they say no. All of it by words."""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")  # noqa: RUF001 - the apostrophe as it is typed
_EMPTY = frozenset({
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "get", "got", "had", "has", "have", "hello", "hi", "how",
    "i", "if", "in", "into", "is", "it", "its", "i'm", "i've", "just", "know", "like", "long", "many", "may", "me",
    "much", "must", "my", "need", "no", "not", "of", "on", "one", "or", "our", "out", "please", "policy", "question",
    "should", "so", "some", "tell", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there",
    "they", "this", "to", "up", "us", "want", "was", "we", "were", "what", "when", "where", "which", "who", "why",
    "will", "with", "would", "you", "your", "there's", "what's", "official", "company",
})  # fmt: skip
"""Words of any question; they say nothing of what it is about."""
_ENDINGS = ("ings", "ing", "ies", "ied", "ers", "er", "ions", "ion", "es", "ed", "ly", "s", "e", "y")
_SHORTEST = 3
_UNITS = (
    "second", "minute", "hour", "day", "week", "month", "year", "percent", "%", "€", "$", "£", "euro", "dollar",
    "pound", "cent", "gb", "mb", "kg", "gram", "km", "mile", "cm", "item", "device", "user", "time",
)  # fmt: skip
_NUMBER = re.compile(r"\d[\d.,]*")
_MEASURE = re.compile(
    r"(?P<sign>[€$£])\s?(?P<money>\d[\d.,]{0,40})|(?P<number>\d[\d.,]{0,40})\s?(?:business |working |calendar )?"
    r"(?P<unit>%|[^\W\d_]{1,12})"
)
_SPELLED = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fourteen": "14", "fifteen": "15", "twenty": "20",
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100",
}  # fmt: skip
_DENIES = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|don't|doesn't|isn't|aren't|without|unable|neither)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def stems_of(text: str) -> frozenset[str]:
    """What a text is about: its words without endings and without those of any question."""
    return frozenset(_stem(word) for word in map(str.lower, _WORD.findall(text)) if word not in _EMPTY)


def relevance(question: str, snippet: str) -> float:
    """The share of the question's words that the snippet speaks of, 0 to 1."""
    asked = stems_of(question)
    return round(len(asked & stems_of(snippet)) / len(asked), 4) if asked else 0.0


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    return _DENIES.search(text) is not None


def sentences(text: str) -> list[str]:
    """A text, sentence by sentence, roughly: by stops and line ends."""
    parts = re.split(r"(?<=[.!?])\s+|\n+", text)
    return [part.strip() for part in parts if part.strip()]


def numbers_in(text: str) -> frozenset[str]:
    """Every number of a text, written in digits or in words; `one` is left out, which is seldom meant as a number."""
    digits = (_number(found) for found in _NUMBER.findall(text))
    spelled = (_SPELLED[word] for word in map(str.lower, _WORD.findall(text)) if word in _SPELLED and word != "one")
    return frozenset((*digits, *spelled))


def _stem(word: str) -> str:
    plain = word.replace("’", "'").removesuffix("'s")  # noqa: RUF001
    for ending in _ENDINGS:
        if plain.endswith(ending) and len(plain) - len(ending) >= _SHORTEST:
            return plain[: -len(ending)]
    return plain


def measures_in(text: str) -> dict[str, frozenset[str]]:
    """Unit → the numbers that stand before it."""
    words = re.sub(r"[^\W\d_]+", lambda word: _SPELLED.get(word[0].lower(), word[0]), text)
    found: dict[str, set[str]] = {}
    for match in _MEASURE.finditer(words):
        unit = match["sign"] or match["unit"].lower().removesuffix("s")
        if unit in _UNITS:
            found.setdefault(unit, set()).add(_number(match["money"] or match["number"]))
    return {unit: frozenset(numbers) for unit, numbers in found.items()}


def _number(text: str) -> str:
    plain = text.rstrip(".,").replace(",", "")
    return plain.removesuffix(".00").removesuffix(".0")


SPELLED = frozenset(_stem(word) for word in _SPELLED)
"""Numbers in words, as `stems_of` gives them."""
UNIT_STEMS = frozenset(_stem(unit) for unit in _UNITS)
"""Units as `stems_of` gives them."""
