"""Places in the author's files, with quotes that are verified to be there.

An agent may cite whatever a studio tool shows of a file. So every quote is looked up the way the reply check does, and
a place whose quote would not be found is not returned. The receipt holds the hash of the lines shown, so that a quote
can be checked against them even after the file has changed.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from tallystick.gate.execute.call import note_file
from tallystick.gate.quotes import occurrences
from tallystick.gate.reply.sources import Source
from tallystick.records import record

MAX_QUOTE = 160
"""Characters: enough to know the place again."""
_TRIED = 400
"""Occurrences of one quote that are looked at for the right line."""


@record
class Place:
    """A place in a file, and its first words."""

    line: int
    end_line: int
    quote: str

    def shown(self) -> dict[str, int | str]:
        """As tools give it."""
        return {"line": self.line, "end_line": self.end_line, "quote": self.quote}


PLACE_SCHEMA = {
    "type": "object",
    "properties": {
        "line": {"type": "integer"},
        "end_line": {"type": "integer"},
        "quote": {"type": "string"},
    },
    "required": ["line", "end_line", "quote"],
    "additionalProperties": False,
}


def place(source: Source, line: int, text: str, *, within: int = 0, limit: int = MAX_QUOTE) -> Place | None:
    """The place of a text; None if it cannot be quoted from there.

    Args:
        source: The file.
        line: The line it begins on.
        text: As it stands there, line breaks aside.
        within: It may begin this many lines later.
        limit: Characters of the quote.
    """
    quote = shortened(text, limit)
    for at, match in enumerate(occurrences(quote, source.folded)):
        if line <= match.first_line <= line + within:
            return Place(line=match.first_line, end_line=match.last_line, quote=quote)
        if match.first_line > line or at >= _TRIED:
            break
    return None


def line_place(source: Source, line: int) -> Place | None:
    """The place of a whole line."""
    return place(source, line, source.lines[line - 1]) if line <= len(source.lines) else None


def record_shown_lines(read: Iterable[Source], shown: Iterable[tuple[str, int, int]]) -> None:
    """Say in the receipt which files the running tool read, and which of their lines its result shows.

    Args:
        read: The files.
        shown: Path, first and last line of each place.
    """
    places: dict[str, list[tuple[int, int]]] = {}
    for path, first, last in shown:
        places.setdefault(path, []).append((first, last))
    for source in {source.path: source for source in read}.values():
        quoted = list(_ranges(places.get(source.path, [])))
        for first, last in quoted:
            excerpt = excerpt_sha256(source, first, last)
            note_file(source.path, source.sha256, lines=(first, last), excerpt_sha256=excerpt)
        if not quoted:
            note_file(source.path, source.sha256)


def excerpt_sha256(source: Source, first: int, last: int) -> str:
    """The hash of whole lines of a file, as receipts hold it."""
    return sha256("\n".join(source.lines[first - 1 : last]).encode()).hexdigest()


def _ranges(places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The same lines as merged ranges."""
    held: tuple[int, int] | None = None
    for first, last in sorted(places):
        if held is not None and first <= held[1] + 1:
            held = (held[0], max(held[1], last))
            continue
        if held is not None:
            yield held
        held = (first, last)
    if held is not None:
        yield held


def shortened(text: str, limit: int = MAX_QUOTE) -> str:
    """The first whole words of a text."""
    plain = " ".join(text.split())
    if len(plain) <= limit:
        return plain
    cut = plain[: limit + 1].rpartition(" ")[0]
    return cut or plain[:limit]
