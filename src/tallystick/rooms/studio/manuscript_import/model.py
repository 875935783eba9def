"""The neutral form between formats, the losses of a conversion, and the report of an import."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from tallystick.records import record
from tallystick.rooms.studio.book.model import CardKind
from tallystick.text.documents.model import DocumentRefused

PieceKind = Literal["heading", "break", "block"]
LossKind = Literal[
    "attachment",
    "audio_video",
    "boilerplate",
    "chapter_unreadable",
    "comment",
    "encoding",
    "endnote",
    "equation",
    "footnote",
    "formatting",
    "front_matter",
    "header_footer",
    "hidden_text",
    "image",
    "layout",
    "link",
    "not_carried",
    "symbol",
    "table",
    "text_box",
    "tracked_change",
]


class SourceRefused(DocumentRefused):
    """A source that cannot be imported; the message says what to do."""

    code = "source_refused"


@record
class Piece:
    """One thing of a manuscript, in reading order."""

    kind: PieceKind
    text: str = ""
    """Markdown: of a heading the line, of a block all its lines."""
    level: int = 0
    """Of a heading, 1 to 6."""


@record
class SceneDraft:
    """A scene."""

    title: str | None
    blocks: tuple[str, ...]
    """Paragraphs, quotes, verses, notes: Markdown, without the empty lines between them."""
    front: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    """What the source says about it: `pov`, `characters`, `synopsis`, …."""


@record
class ChapterDraft:
    """A chapter."""

    title: str
    part: str | None
    scenes: tuple[SceneDraft, ...]


@record
class CardDraft:
    """A card of the compendium."""

    kind: CardKind
    name: str
    aliases: tuple[str, ...]
    blocks: tuple[str, ...]


@record
class Loss:
    """Something that could not be carried over as it was."""

    kind: LossKind
    where: str
    """The part of the source."""
    count: int
    message: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"kind": self.kind, "where": self.where, "count": self.count, "message": self.message}


@record
class Manuscript:
    """All that was read of a source."""

    format: str
    title: str
    author: str
    chapters: tuple[ChapterDraft, ...] = ()
    cards: tuple[CardDraft, ...] = ()
    carried: Mapping[str, bytes] = field(default_factory=dict)
    """Files that are taken over as they are, by their new path."""
    losses: tuple[Loss, ...] = ()


@record
class ImportReport:
    """The report of an import. Every file of the source is in exactly one list."""

    format: str
    title: str
    author: str
    source_sha256: str
    """Of what was read, all files of it together."""
    written: tuple[str, ...]
    updated: tuple[str, ...]
    """The source has changed, and the author had not touched the file since the last import."""
    unchanged: tuple[str, ...]
    kept: tuple[str, ...]
    """The author has changed or removed the file since, and the source says nothing new."""
    conflicts: Mapping[str, str]
    """Path → the proposal that waits for the author: both sides have changed."""
    refused: Mapping[str, str]
    """Path → the code why it could not be written."""
    losses: tuple[Loss, ...]

    def outcomes(self) -> dict[str, list[str]]:
        """The lists of paths by outcome."""
        return {
            "written": list(self.written),
            "updated": list(self.updated),
            "unchanged": list(self.unchanged),
            "kept": list(self.kept),
            "conflicts": list(self.conflicts),
            "refused": list(self.refused),
        }

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        told: dict[str, Any] = {"format": self.format, "title": self.title, "author": self.author}
        told |= {"source_sha256": self.source_sha256, **self.outcomes()}
        told["conflicts"] = [{"path": path, "patch_id": patch} for path, patch in self.conflicts.items()]
        told["refused"] = [{"path": path, "code": code} for path, code in self.refused.items()]
        return {**told, "losses": [loss.as_dict() for loss in self.losses]}


_SAID: dict[LossKind, str] = {
    "attachment": "Files that are not text stay in the source.",
    "audio_video": "Sound and film are not carried over.",
    "boilerplate": "The licence before and behind the book was left out.",
    "chapter_unreadable": "This part is damaged and was left out.",
    "comment": "Comments beside the text are not carried over.",
    "encoding": "The text is not valid UTF-8; it was read as Western European text. Check its accents.",
    "endnote": "Endnotes are not carried over; the text around them is.",
    "equation": "Equations are not carried over.",
    "footnote": "Footnotes are not carried over; the text around them is.",
    "formatting": "Underlined, struck, raised or coloured text is carried as plain text.",
    "front_matter": "Words before the first chapter (title page, contents) were left out.",
    "header_footer": "Headers and footers of pages are not carried over.",
    "hidden_text": "Hidden text was left out.",
    "image": "Images are not carried over.",
    "layout": "Alignment, spacing and page breaks are not carried over.",
    "link": "Links are carried as their text, without the address.",
    "not_carried": "This was left out on purpose.",
    "symbol": "Signs of a symbol font have no letter and were left out.",
    "table": "Tables are carried as lines of text.",
    "text_box": "Text boxes are not carried over.",
    "tracked_change": "Tracked changes were accepted: insertions stay, deletions are gone.",
}


class Losses:
    """Counts what could not be carried, while a source is read."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[LossKind, str]] = Counter()

    def add(self, kind: LossKind, where: str, count: int = 1) -> None:
        """One more, or several."""
        self._counts[kind, where] += count

    def told(self) -> tuple[Loss, ...]:
        """All of them, in the order they were met first."""
        return tuple(
            Loss(kind=kind, where=where, count=count, message=_SAID[kind])
            for (kind, where), count in self._counts.items()
        )
