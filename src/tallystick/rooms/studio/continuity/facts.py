"""What is known: one fact, where it stands, and the words it stands in."""

from collections.abc import Sequence
from dataclasses import field

from tallystick.records import record
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Prose

Value = tuple[str | int, ...]


@record
class Fact:
    """Something a book says of somebody or something."""

    subject: str
    """Whose: a card's path, or the key of a name."""
    name: str
    """The subject as the text has it."""
    attribute: str
    """`eyes`, `hair`, `age`, `born`, …"""
    value: Value
    """Of colours and places all that are named; of an age the least and the most it can be."""
    words: str
    """The value as the text has it."""
    path: str
    line: int
    quote: str
    order: int = 0
    """The place of its file in the book; cards stand before all."""
    offset: int = 0
    hard: bool = True
    """A soft fact is a habit or a look that may change."""
    valid_from: int = 0
    """The first scene, in reading order, that it holds in."""
    valid_until: int | None = None
    """The first scene that it no longer holds in."""
    from_card: bool = False
    sure: bool = True
    """Whether its sentence alone is enough to speak against a card."""
    details: tuple[str, ...] = field(default=())
    """What a rule needs beside the value, e.g. the year a sentence gives."""

    @property
    def place(self) -> tuple[int, int]:
        """For sorting in the order of telling."""
        return (self.order, self.offset)


def fact_at(
    prose: Prose,
    number: int,
    span: tuple[int, int],
    owner: Mention,
    attribute: str,
    value: Value,
    words: str,
    *,
    hard: bool = True,
    details: Sequence[str] = (),
) -> Fact:
    """A fact that a sentence tells."""
    return Fact(
        subject=owner.key, name=owner.name, attribute=attribute, value=value, words=" ".join(words.split()),
        path=prose.path, line=prose.line_at(span[0]), quote=prose.quote_of(number, *span), order=prose.order,
        offset=span[0], hard=hard, details=tuple(details),
    )  # fmt: skip
