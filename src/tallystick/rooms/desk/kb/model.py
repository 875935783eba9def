"""Records of the knowledge base: documents, passages and search results."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tallystick.gate.quotes import Folded, split_lines
from tallystick.gate.reply.sources import folded
from tallystick.records import record

DocumentStatus = Literal["current", "withdrawn", "superseded"]
Kind = Literal["markdown", "text", "html", "docx", "pdf"]


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
class Document:
    """The current version of one document."""

    doc: str
    """Its path in the knowledge base."""
    kind: Kind
    title: str
    text: str
    sha256: str
    """Of the file's bytes."""
    sections: tuple[Section, ...]
    standing: DocumentStatus = "current"
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
class Hit:
    """A passage that fits a query."""

    doc: str
    title: str
    section: str
    first_line: int
    last_line: int
    snippet: str
    """Verbatim."""
    text: str
    """As a customer can read it: with what leads into it, and without markup."""
    score: float
    """1 for the passage nearest to the question, less for the others."""
    sha256: str


@record
class SkippedDocument:
    """A matching document that may not be used as evidence."""

    doc: str
    title: str
    standing: DocumentStatus
    superseded_by: str | None


@record
class Disagreement:
    """Two passages about the same thing that give different figures."""

    docs: tuple[str, str]
    values: tuple[str, str]


@record
class SearchResult:
    """The result of a search."""

    hits: tuple[Hit, ...]
    passed: tuple[SkippedDocument, ...]
    """Withdrawn and superseded documents that were passed over."""
    confidence: float
    """Probability that the first passages together answer the whole question."""
    disagreements: tuple[Disagreement, ...]
    language: str | None
    """Of the question."""
    languages: tuple[str, ...]
    """Of the documents."""
    searched: int
    """Documents that were looked through."""
    features: Mapping[str, float]
    """What the confidence was computed from."""


@record
class UnusedFile:
    """A file of the folder that is not used as a document."""

    doc: str
    code: str
    message: str
