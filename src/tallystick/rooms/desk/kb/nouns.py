"""Documents, the passages they are cut into, and what a search gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tallystick.gate.quotes import Folded, split_lines
from tallystick.gate.reply.sources import folded
from tallystick.records import record

Standing = Literal["current", "withdrawn", "superseded"]
Kind = Literal["markdown", "text", "html", "docx", "pdf"]


class Unreadable(Exception):  # noqa: N818 - said of a file, and carried to whoever asks why it is missing
    """A file that gives no document; the message says what to do about it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@record
class Heading:
    """Where a section begins."""

    line: int
    """From 1."""
    level: int
    text: str
    takes: int = 1
    """How many lines are the heading's own; 0: the section's text begins on that line."""


@record
class Section:
    """The part of a document from one heading to the next."""

    name: str
    """Its heading with those above it, `Returns > Opened goods`; empty before the first heading."""
    first_line: int
    last_line: int
    text_line: int
    """The first line that is no heading."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a reader of one format makes of a file."""

    text: str
    """What a person who opens the document sees. Of Markdown: the file itself, so that its lines are the file's."""
    headings: tuple[Heading, ...] = ()
    title: str = ""
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the document says about itself, names in small letters: `status`, `superseded_by`."""
    left_out: tuple[str, ...] = ()
    """What stands in the file and is no part of the text: `script`, `hidden text`, `comment`."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document as it is now."""

    doc: str
    """Its path in the knowledge base."""
    kind: Kind
    title: str
    text: str
    sha256: str
    """Of the file's bytes."""
    sections: tuple[Section, ...]
    standing: Standing = "current"
    superseded_by: str | None = None
    left_out: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """Line 1 is `lines[0]`."""
        found = split_lines(self.text)
        return found if found[-1] else found[:-1]

    @property
    def folded(self) -> Folded:
        """Ready for `find_quote`."""
        return folded(self.text)


@record
class Passage:
    """A piece of a document that is found as one."""

    section: int
    """Which of the document's sections it stands in."""
    first_line: int
    last_line: int
    start: int
    """Offsets in the text."""
    end: int


@record
class Hit:
    """A passage that fits a query."""

    doc: str
    title: str
    section: str
    first_line: int
    last_line: int
    snippet: str
    """Verbatim."""
    score: float
    """0 to 1: how much of what is asked the passage speaks of."""
    missing: tuple[str, ...]
    """Words of the question, without their endings, that neither the passage nor its headings have."""
    sha256: str


@record
class Passed:
    """A document that would have fitted, and is no evidence."""

    doc: str
    title: str
    standing: Standing
    superseded_by: str | None


@record
class Answer:
    """What a search found."""

    hits: tuple[Hit, ...]
    passed: tuple[Passed, ...]
    """Withdrawn and superseded documents that were passed over."""
    unknown: tuple[str, ...]
    """Names in the question that no document has; nothing is said about them, so nothing is found."""
    searched: int
    """Passages that were looked through."""


@record
class Unused:
    """A file of the folder that gives no document."""

    doc: str
    code: str
    message: str
