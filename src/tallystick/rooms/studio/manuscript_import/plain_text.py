"""Reads a plain-text novel: paragraphs between empty lines, chapters by words or numerals, `_emphasis_`."""

import re
from collections.abc import Iterator, Sequence

from tallystick.rooms.studio.manuscript_import.inline import Span, render
from tallystick.rooms.studio.manuscript_import.model import Losses, Manuscript, Piece
from tallystick.rooms.studio.manuscript_import.structure import (
    assemble,
    is_break,
    label_of,
    number_of_chapter,
    numeral_of,
    read_bare,
)

_START = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG[^\n]{0,200}\*\*\*", re.IGNORECASE)
_END = re.compile(r"(?im)\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the )?Project Gutenberg")
_FIELD = re.compile(r"^(Title|Author):[ \t]*(\S.{0,200})$", re.MULTILINE)
_EMPHASIS = re.compile(r"(?<![^\W_])_(?=\S)([^_]{1,2000}?)(?<=\S)_(?![^\W_])")
_LEVELS = {"part": 1, "chapter": 2, "scene": 3}
_INDENT = 2


def read_plain(text: str, name: str, losses: Losses) -> Manuscript:
    """A whole book in one text file."""
    fields = dict(reversed(_FIELD.findall(text[:5_000])))
    body = _without_licence(text, name, losses)
    paragraphs = [block.strip("\n") for block in re.split(r"\n(?:[ \t]*\n)+", body) if block.strip()]
    pieces = list(_pieces(paragraphs))
    title, chapters = assemble(pieces, losses, name)
    return Manuscript(
        format="text",
        title=fields.get("Title", title).strip(),
        author=fields.get("Author", "").strip(),
        chapters=chapters,
    )


def _without_licence(text: str, name: str, losses: Losses) -> str:
    """Project Gutenberg's words before and behind the book are not the author's."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    start, end = _START.search(plain), _END.search(plain)
    if start is None:
        return plain
    losses.add("boilerplate", name)
    return plain[start.end() : end.start() if end and end.start() > start.end() else len(plain)]


def _pieces(paragraphs: Sequence[str]) -> Iterator[Piece]:
    numerals = _numerals(paragraphs)
    place = 0
    while place < len(paragraphs):
        paragraph = paragraphs[place]
        line = _line(paragraph)
        label = label_of(line)
        level = _LEVELS[label] if label else numerals.get(place)
        following = paragraphs[place + 1] if place + 1 < len(paragraphs) else ""
        place += 1
        if level == _LEVELS["scene"] and numeral_of(line) == (read_bare(line), ""):
            # A numeral alone, below chapters that have words, only parts two scenes.
            yield Piece(kind="break")
        elif level is not None:
            if _is_bare(line) and _is_title(following):
                line = f"{line.rstrip('.:')}: {_line(following)}"
                place += 1
            yield Piece(kind="heading", text=render([Span(text=line.strip("_"))]), level=level)
        elif "\n" not in paragraph and is_break(line):
            yield Piece(kind="break")
        else:
            yield Piece(kind="block", text=_paragraph(paragraph))


def _numerals(paragraphs: Sequence[str]) -> dict[int, int]:
    """Place → level of lines that are headings by their numeral: with a title chapters, alone what comes below them."""
    words = [number for paragraph in paragraphs if (number := number_of_chapter(_line(paragraph))) is not None]
    found = {
        place: numeral
        for place, paragraph in enumerate(paragraphs)
        if "\n" not in paragraph and (numeral := numeral_of(paragraph)) is not None
    }
    titled = {place: number for place, (number, title) in found.items() if title}
    bare = {place: number for place, (number, title) in found.items() if not title}
    # `ADVENTURE VI. …` may be followed by `VII. …`; a count that begins anew is one inside the chapters.
    goes_on = not words or 1 not in titled.values()
    levels = dict.fromkeys(_counted(titled, words), _LEVELS["chapter" if goes_on else "scene"])
    below = "scene" if words or levels else "chapter"
    return levels | dict.fromkeys(_counted(bare, []), _LEVELS[below])


def _counted(numbers: dict[int, int], others: Sequence[int]) -> list[int]:
    """The places, if the numbers there count up from one at least once; else these numbers are something else."""
    return list(numbers) if {1, 2} <= {*numbers.values(), *others} else []


def _is_bare(line: str) -> bool:
    """Whether a heading is only its number, so that a title may follow."""
    return numeral_of(line) == (read_bare(line), "") or (label_of(line) is not None and len(line.split()) <= _LABEL)


def _is_title(paragraph: str) -> bool:
    """Whether the line after a number is the title: short, and no sentence."""
    line = _line(paragraph).strip("_")
    short = bool(line) and "\n" not in paragraph and len(line) <= _TITLE
    announces = label_of(line) not in {None, "chapter"} or number_of_chapter(line) is not None
    return short and line[0].isupper() and line[-1].isalnum() and not announces and not is_break(line)


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


_LABEL, _TITLE = 2, 60


def _paragraph(paragraph: str) -> str:
    lines = paragraph.split("\n")
    verse = len(lines) > 1 and all(line.startswith(" " * _INDENT) for line in lines)
    text = "\n".join(line.strip() for line in lines) if verse else " ".join(paragraph.split())
    spans: list[Span] = []
    at = 0
    for found in _EMPHASIS.finditer(text):
        spans += [Span(text=text[at : found.start()]), Span(text=found.group(1), italic=True)]
        at = found.end()
    return render([*spans, Span(text=text[at:])])
