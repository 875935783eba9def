"""Where a line of a file that was made from a manuscript stands in the manuscript, as its author would look for it."""

import re
from typing import Any

from tallystick.gate.quotes import split_lines
from tallystick.records import record
from tallystick.rooms.studio.importing.nouns import CardDraft, ChapterDraft, Manuscript
from tallystick.rooms.studio.importing.writing import Written, written_of

_BETWEEN = re.compile(r"(?:>[ ]?)+\Z")
"""A line between two paragraphs of a quotation."""


@record
class Origin:
    """A place in a manuscript."""

    path: str
    """The manuscript itself."""
    chapter: str | None
    scene: str | None
    """The heading below that of the chapter, if there is one."""
    paragraph: int | None
    """From 1, below the nearest heading; None: the heading itself."""

    @property
    def words(self) -> str:
        """For people."""
        headings = [f"“{heading}”" for heading in (self.chapter, self.scene) if heading]
        paragraph = [] if self.paragraph is None else [f"paragraph {self.paragraph}"]
        return ", ".join([self.path, *headings, *paragraph])

    def shown(self) -> dict[str, Any]:
        """For programs."""
        return {"path": self.path, "chapter": self.chapter, "scene": self.scene, "paragraph": self.paragraph}


class Origins:
    """The places of one manuscript."""

    def __init__(self, manuscript: Manuscript, name: str) -> None:
        """Take the manuscript apart as its files were made.

        Args:
            manuscript: What was read.
            name: How its author calls it.
        """
        self._name = name
        self._files: dict[str, tuple[Origin, dict[int, int]]] = {}
        chapter: ChapterDraft | None = None
        scene: str | None = None
        before = 0
        for made in written_of(manuscript):
            own = made.title if isinstance(made.part, CardDraft) else made.part.title
            if made.chapter is not chapter or own is not None:
                scene, before = own, 0
            chapter = made.chapter
            heading = (chapter.title or None) if chapter is not None else None
            numbers = _numbers(made, before)
            self._files[made.path] = (Origin(path=name, chapter=heading, scene=scene, paragraph=None), numbers)
            before = max(numbers.values(), default=before)

    def of(self, path: str, line: int) -> Origin:
        """Where a line of a file comes from."""
        found, numbers = self._files.get(path, (None, {}))
        if found is None:
            return Origin(path=self._name, chapter=None, scene=None, paragraph=None)
        return Origin(path=found.path, chapter=found.chapter, scene=found.scene, paragraph=numbers.get(line))


def _numbers(made: Written, before: int) -> dict[int, int]:
    """Line of the file → number of its paragraph; headings are none."""
    lines = split_lines(made.text)
    line = len(lines) - len(split_lines("\n\n".join(made.part.blocks)))
    numbers: dict[int, int] = {}
    number = before
    for block in made.part.blocks:
        is_heading = block.startswith("#")
        number += not is_heading
        for text in split_lines(block):
            number += bool(_BETWEEN.match(text))
            if not is_heading:
                numbers[line] = number
            line += 1
        line += 1
    return numbers
