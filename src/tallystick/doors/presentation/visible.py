r"""Make invisible characters visible.

Tool names, model arguments and tool output are untrusted text. On a terminal such text can move the cursor, hide a
word, or reverse the reading direction, so that people approve something other than what they read. This module escapes
every invisible character: `\x1b`, `\u202e`, `\U000e0041`.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Any

MAX_SHOWN_HIDDEN = 20
"""Maximum number of findings listed individually; more would not help the reader."""

_UNSEEN = frozenset(
    chr(point)
    for first, last in (
        (0x034F, 0x034F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers: blank letters
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x2800, 0x2800),  # the Braille pattern without a dot
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),  # variation selectors: they can carry any number of hidden bytes
        (0xFFA0, 0xFFA0),
        (0x16FE4, 0x16FE4),
        (0x1D159, 0x1D159),
        (0xE0100, 0xE01EF),
    )
    for point in range(first, last + 1)
)
"""Characters that `str.isprintable` accepts but that are invisible."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_hidden(letter: str) -> bool:
    """Return whether a character is invisible: control, format, bidi, tag, unusual space, filler, lone surrogate."""
    return not letter.isprintable() or letter in _UNSEEN


def visible(text: str) -> str:
    """Return the text on one line, with every hidden character escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(letter) if is_hidden(letter) else letter for letter in text)


def visible_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as valid JSON with every hidden character escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "\n".join("".join(_json_escape(c) if is_hidden(c) else c for c in line) for line in text.split("\n"))


def hidden_in(value: Any) -> list[str]:
    """List the hidden characters of a JSON value, one line each: pointer, name, count."""
    found: list[str] = []
    for pointer, text in _texts(value, ""):
        for letter, times in Counter(filter(is_hidden, text)).items():
            if len(found) == MAX_SHOWN_HIDDEN:
                return [*found, "and more"]
            found.append(f"{visible(pointer) or '/'}: {_name(letter)}, {times} times")
    return found


def _texts(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield every string in a value with its JSON pointer, including member names."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            here = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            yield here, key
            yield from _texts(item, here)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _texts(item, f"{pointer}/{place}")


def _name(letter: str) -> str:
    name = unicodedata.name(letter, "") or {"\n": "LINE FEED", "\t": "TAB", "\x1b": "ESCAPE"}.get(letter, "no name")
    return f"U+{ord(letter):04X} {name}"


def _escape(letter: str) -> str:
    short = _SHORT.get(letter)
    if short is not None:
        return short
    point = ord(letter)
    if point <= 0xFF:  # noqa: PLR2004 - two hex digits
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004 - four hex digits


def _json_escape(letter: str) -> str:
    return json.dumps(letter, ensure_ascii=True)[1:-1] if letter != "\x7f" else "\\u007f"
