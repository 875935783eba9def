"""Numbers as authors write them: `3`, `III`, `three`."""

import re

from tallystick.text.number_words import NUMBER_WORDS, ONES, TENS

MAX_NUMBER = 9_999
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
NUMBER = r"(?:[0-9]{1,4}|[IVXLCivxlc]{1,7}|[A-Za-z]{3,9}(?:[- ][A-Za-z]{3,5})?)"
"""Matches candidates for `read_number`."""


def read_number(text: str) -> int | None:
    """The number that a text denotes, or None."""
    plain = text.strip().lower()
    if plain.isascii() and plain.isdigit():
        value = int(plain[:5])
        return value if value <= MAX_NUMBER else None
    if plain in NUMBER_WORDS:
        return NUMBER_WORDS[plain]
    tens, _, ones = plain.replace("-", " ").partition(" ")
    if tens in TENS and ones in ONES[1:10]:
        return NUMBER_WORDS[tens] + NUMBER_WORDS[ones]
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
