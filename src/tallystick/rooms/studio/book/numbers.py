"""Numbers as authors write them: `3`, `III`, `three`."""

import re

MAX_NUMBER = 9_999
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBERS = {word: value for value, word in enumerate(_WORDS)} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
NUMBER = r"(?:[0-9]{1,4}|[IVXLCivxlc]{1,7}|[A-Za-z]{3,9}(?:[- ][A-Za-z]{3,5})?)"
"""A pattern for what may be a number; `read_number` says whether it is one."""


def read_number(text: str) -> int | None:
    """The number a text is, or None."""
    plain = text.strip().lower()
    if plain.isascii() and plain.isdigit():
        value = int(plain[:5])
        return value if value <= MAX_NUMBER else None
    if plain in _NUMBERS:
        return _NUMBERS[plain]
    tens, _, ones = plain.replace("-", " ").partition(" ")
    if tens in _TENS and ones in _WORDS[1:10]:
        return _NUMBERS[tens] + _NUMBERS[ones]
    return _roman(plain)


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts `scene 9` before `scene 10`."""
    pieces = re.split(r"([0-9]{1,15})", text.casefold())
    return tuple((0, int(piece), "") if piece.isdigit() else (1, 0, piece) for piece in pieces if piece)


def _roman(plain: str) -> int | None:
    if not re.fullmatch(r"(?=.)c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", plain):
        return None
    values = [_ROMAN[sign] for sign in plain]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))
