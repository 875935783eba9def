"""The records of a book. Each knows its file and line, so that it can be quoted."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from tallystick.gate.reply.sources import Source
from tallystick.records import record

CardKind = Literal[
    "character", "location", "lore", "faction", "technology", "culture", "event", "theme", "glossary", "misc"
]
Role = Literal["scene", "card", "outline"]
"""The role of a file in a book."""
MissingRole = Role | Literal["text"]
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
    """The problem, and what to do about it."""
    left_out: MissingRole | None = None
    """The role of a file that is missing from the book; None if the file was read."""


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
    """The point of view from front matter or heading."""
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
    """A compendium card: the author's decisions about a person, place or thing."""

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
    """One entry of the outline: the plan for a scene."""

    line: int
    """Of its heading or bullet in the outline file, from 1."""
    end_line: int
    title: str
    text: str
    """The text of the entry without its title."""
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
    """The whole of it."""

    scenes: tuple[Scene, ...]
    """In reading order."""
    cards: tuple[CanonCard, ...]
    """By path."""
    outline: Outline | None
    complaints: tuple[Complaint, ...]

    @property
    def left_out(self) -> tuple[Complaint, ...]:
        """Complaints about files that are missing from the book."""
        return tuple(one for one in self.complaints if one.left_out is not None)


COMPLAINT_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "code": {"type": "string"},
        "message": {"type": "string"},
        "left_out": {"enum": [*get_args(Role), "text", None]},
    },
    "required": ["path", "line", "code", "message", "left_out"],
    "additionalProperties": False,
}
COMPLAINTS_SCHEMA = {
    "complaints_total": {"type": "integer"},
    "complaints": {"type": "array", "items": COMPLAINT_SCHEMA},
}
"""Two properties of a tool's output."""


def complaints_json(complaints: Sequence[Complaint]) -> dict[str, Any]:
    """The number of complaints and all of them, missing files first."""
    ordered = sorted(complaints, key=lambda one: one.left_out is None)
    return {"complaints_total": len(ordered), "complaints": [complaint_json(one) for one in ordered]}


def complaint_json(complaint: Complaint) -> dict[str, Any]:
    """The JSON form."""
    return {
        "path": complaint.path,
        "line": complaint.line,
        "code": complaint.code,
        "message": complaint.message,
        "left_out": complaint.left_out,
    }
