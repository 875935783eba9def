"""Numbers as novels write them: `39`, `thirty-nine`, `nine-and-thirty`, `twenty-fourth`."""

import re

from tallystick.text.number_words import NUMBER_WORDS, ONES, TENS

_ONE, _TEN = "|".join(sorted(ONES[1:], key=len, reverse=True)), "|".join(TENS)
_UNIT = "|".join(ONES[1:10])
NUMBER = rf"(?:\d{{1,3}}|(?:{_TEN})(?:[- ](?:{_UNIT}))?|(?:{_UNIT})-and-(?:{_TEN})|{_ONE}|a hundred)"
_ODD = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_ORDINALS = {
    _ODD.get(word, f"{word.removesuffix('y')}ieth" if word.endswith("y") else f"{word}th"): value
    for word, value in NUMBER_WORDS.items()
    if value
}
ORDINAL = rf"(?:\d{{1,3}}(?:st|nd|rd|th)|(?:(?:{_TEN})-)?(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))}))"


def number_of(text: str) -> int | None:
    """The number that a text is, or None."""
    plain = " ".join(text.lower().replace("-", " ").split())
    if plain.isdigit():
        return int(plain)
    if plain in NUMBER_WORDS:
        return NUMBER_WORDS[plain]
    if plain in {"a hundred", "one hundred", "hundred"}:
        return 100
    if plain in {"no", "none"}:
        return 0
    parts = [part for part in plain.split() if part != "and"]
    if len(parts) == 2 and all(part in NUMBER_WORDS for part in parts):  # noqa: PLR2004
        values = sorted(NUMBER_WORDS[part] for part in parts)
        return sum(values) if values[0] < 10 <= values[1] and values[1] % 10 == 0 else None  # noqa: PLR2004
    return None


def ordinal_of(text: str) -> int | None:
    """The number of an ordinal: 24 of `twenty-fourth`."""
    plain = text.lower().strip()
    if (found := re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)", plain)) is not None:
        return int(found[1])
    tens, _, ones = plain.rpartition("-")
    value = _ORDINALS.get(ones)
    return None if value is None else value + NUMBER_WORDS.get(tens, 0)
