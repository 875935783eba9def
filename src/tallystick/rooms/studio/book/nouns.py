"""What a book is made of. Every noun knows the file and the line it comes from, so that it can be quoted."""

from collections.abc import Mapping
from typing import Any, Literal

from tallystick.gate.reply.sources import Source
from tallystick.records import record

CardKind = Literal[
    "character", "location", "lore", "faction", "technology", "culture", "event", "theme", "glossary", "misc"
]
Role = Literal["scene", "card", "outline"]
"""What a file is in a book."""
Lost = Role | Literal["text"]
"""The same of one that is lacking; a text is no part of the story."""


@record
class Complaint:
    """Something in the author's files that could not be read as meant. The rest works on."""

    code: str
    """Fixed, e.g. `front_matter_invalid`, `card_without_name`, `alias_taken`, `file_unreadable`."""
    path: str
    line: int
    """From 1."""
    message: str
    """What is wrong and what to do."""
    left_out: Lost | None = None
    """What the file would be in the book, which lacks it; None: it is there, as well as it could be read."""


@record
class Scene:
    """One scene file, in its place in the book."""

    source: Source
    """The whole file, front matter included; lines count from 1 in the file."""
    title: str
    slug: str
    """Of the file's name, without `SCN-`: `the-harbour` of `Story/Scenes/SCN-the-harbour.md`."""
    order: int
    """Its place in reading order, from 0."""
    number: int | None
    """The number the author gave it, in the name, the heading or the front matter."""
    pov: str | None
    """Whose eyes, as the front matter or the heading says."""
    front: Mapping[str, Any]
    """The front matter, read."""
    body_line: int
    """The first line of the file that is prose: after front matter."""

    @property
    def path(self) -> str:
        """Where it is in the workspace."""
        return self.source.path


@record
class CanonCard:
    """One card of the compendium: what the author has settled about a person, a place or a thing."""

    source: Source
    kind: CardKind
    name: str
    aliases: tuple[str, ...]
    front: Mapping[str, Any]
    body_line: int

    @property
    def path(self) -> str:
        """Where it is in the workspace."""
        return self.source.path


@record
class Beat:
    """One entry of the outline: what shall happen in a scene."""

    line: int
    """Of its heading or bullet in the outline file, from 1."""
    end_line: int
    title: str
    text: str
    """What the outline says about it, without the title."""
    act: str | None
    number: int | None
    pov: str | None
    scene: str | None
    """The file or slug it names itself (`[[SCN-the-harbour]]`, `scene: …`), if any."""


@record
class Outline:
    """The outline, read."""

    source: Source
    beats: tuple[Beat, ...]
    acts: tuple[str, ...]
    """In their order; empty when the outline has none."""

    @property
    def path(self) -> str:
        """Where it is in the workspace."""
        return self.source.path


@record
class Book:
    """All of it."""

    scenes: tuple[Scene, ...]
    """In reading order."""
    cards: tuple[CanonCard, ...]
    """By path."""
    outline: Outline | None
    complaints: tuple[Complaint, ...]

    @property
    def left_out(self) -> tuple[Complaint, ...]:
        """What the book lacks because a file could not be read."""
        return tuple(one for one in self.complaints if one.left_out is not None)
