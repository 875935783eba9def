"""What a card or a scene says: somebody's or something's field has a value, in some scenes, on one line."""

from tallystick.records import record

Value = tuple[str | int, ...]
PASSAGE = 100_000
"""Between the places of two passages of one scene; longer than any paragraph."""
NEAR = 40 * PASSAGE
"""Two places of one file this near are of one scene."""
END = 1_000_000
"""After the last scene."""


@record
class Statement:
    """One statement. A card's holds for a range of scenes; a scene's for its own moment."""

    subject: str
    """The key of a person or thing."""
    name: str
    """The subject as it is called."""
    field: str
    """`eyes`, `age`, `kin:KEY`, `count:sister`, …; empty where the line was kept without a known field."""
    value: Value
    words: str
    """The value as it is written."""
    path: str
    line: int
    quote: str
    order: int = -1
    """The place of its scene in the book; -1: a card."""
    at: int = 0
    """Its place within the scene."""
    first_scene: int = 0
    last_scene: int = END
    hard: bool = True
    by_pronoun: bool = False
    """Whether only a pronoun says whose it is."""
    day: int | None = None
    """The day of the story that it is dated to or told on, as an ordinal."""

    @property
    def from_card(self) -> bool:
        """Whether a card says it."""
        return self.order < 0

    def holds_in(self, order: int) -> bool:
        """Whether it speaks of a scene."""
        return self.first_scene <= order <= self.last_scene
