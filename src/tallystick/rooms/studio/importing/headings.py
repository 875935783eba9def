"""What a line by itself announces: a part, a chapter, a scene, or a break between two scenes."""

import re
from typing import Literal

from tallystick.rooms.studio.book.numbers import NUMBER, read_number

Label = Literal["part", "chapter", "scene"]
MAX_HEADING = 120
_WORDS: dict[str, Label] = {
    "part": "part", "book": "part", "volume": "part", "act": "part", "teil": "part", "partie": "part",
    "chapter": "chapter", "letter": "chapter", "stave": "chapter", "canto": "chapter", "adventure": "chapter",
    "kapitel": "chapter", "chapitre": "chapter", "scene": "scene", "szene": "scene",
}  # fmt: skip
_ALONE = frozenset(
    {"prologue", "epilogue", "interlude", "preface", "foreword", "introduction", "afterword", "coda", "conclusion"}
)
_ORDINALS = frozenset(
    {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "last"}
)
_LABELLED = re.compile(
    rf"({'|'.join(_WORDS)})[ \t]++(?:the[ \t]++)?({NUMBER})"
    r"(?:[ \t]*+(?:[.:][ \t]*+)?\Z|[ \t]*[.:\u2014\u2013-][ \t]*(\S.*)\Z)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"([IVXLC]{1,7}|[0-9]{1,3})[.:]?[ \t]+(\S.{0,100})\Z")
_BARE = re.compile(r"([IVXLC]{1,7}|[0-9]{1,3})[.]?\Z")
_BREAK = re.compile(
    r"(?:[*#~+\u2022\u25c6\u25c7\u2756\u2042\u2766\u2767\u00a7\u25cf\u25a0\u2217\u273b][ \t\u00a0]*){1,12}\Z"
)
_RULE = re.compile(r"(?:[-_=\u2014\u2013.\u00b7][ \t\u00a0]*){3,40}\Z")


def label_of(text: str) -> Label | None:
    """What a line says it begins, in so many words: `Chapter 3`, `CHAPTER III.`, `Part Two: The Sea`, `Epilogue`."""
    line = text.strip()
    if not line or len(line) > MAX_HEADING:
        return None
    if line.rstrip(".:").casefold() in _ALONE:
        return "chapter"
    found = _LABELLED.match(line)
    counted = found is not None and (read_number(found.group(2)) is not None or found.group(2).lower() in _ORDINALS)
    if found is None or not counted:
        return None
    rest = found.group(3)
    # `Part one. He went home and slept.` is a sentence.
    if rest and (rest.endswith((".", ",", ";")) and len(rest.split()) > _FEW):
        return None
    return _WORDS[found.group(1).casefold()]


_FEW = 6


def numeral_of(text: str) -> tuple[int, str] | None:
    """(number, title) of a line that is a numeral, alone or before a title in capitals: `IV`, `VII. THE SEA`."""
    line = text.strip()
    if bare := _BARE.match(line):
        number = read_number(bare.group(1))
        return None if number is None else (number, "")
    found = _NUMBERED.match(line)
    number = read_number(found.group(1)) if found else None
    if found is None or number is None:
        return None
    title = found.group(2).strip()
    capital = title.upper() == title and any(sign.isalpha() for sign in title)
    return (number, title) if capital else None


def number_of_chapter(text: str) -> int | None:
    """The number of a line that calls itself a chapter with a number."""
    found = _LABELLED.match(text.strip())
    return read_number(found.group(2)) if found and label_of(text) == "chapter" else None


def read_bare(text: str) -> int | None:
    """The number of a line that is nothing but a numeral."""
    found = _BARE.match(text.strip())
    return read_number(found.group(1)) if found else None


def is_break(text: str) -> bool:
    """Whether a line by itself stands for the gap between two scenes: `* * *`, `#`, `***`, `---`, an asterism."""
    line = text.strip()
    return bool(line) and (_BREAK.match(line) is not None or _RULE.match(line) is not None)
