"""The neutral form as files of the workspace, and the origin of their lines in the manuscript.

The same manuscript gives the same bytes, whatever its format.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.gate.quotes import split_lines
from tallystick.records import record
from tallystick.rooms.studio.book.paths import FOLDERS, SCENES, slugged
from tallystick.rooms.studio.manuscript_import.model import CardDraft, ChapterDraft, Manuscript, SceneDraft
from tallystick.storage.files import OUTLINE

MAX_SLUG = 60
_PREFIXES = {
    "character": "CHAR",
    "location": "LOC",
    "lore": "LORE",
    "faction": "FAC",
    "technology": "TECH",
    "culture": "CUL",
    "event": "EVT",
    "theme": "THM",
    "glossary": "GLS",
    "misc": "MISC",
}
_PLAIN = re.compile(r"[^\W\d_][\w '’().-]{0,200}(?<![ ])")  # noqa: RUF001 - the apostrophe of books
_WORDS_OF_YAML = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


@record
class Written:
    """A file that is made from a part of a manuscript."""

    path: str
    text: str
    part: SceneDraft | CardDraft
    chapter: ChapterDraft | None = None
    title: str = ""
    """Of a scene, made up where it has none."""


def files_of(manuscript: Manuscript) -> dict[str, bytes]:
    """Path → content of everything the manuscript becomes."""
    made = written_of(manuscript)
    files = dict(manuscript.carried) | {one.path: one.text.encode() for one in made}
    if OUTLINE not in files and any("synopsis" in scene.front for _, scene, _, _ in _named(made)):
        files[OUTLINE] = _outline(_named(made)).encode()
    return files


def written_of(manuscript: Manuscript) -> list[Written]:
    """The scenes in reading order, then the cards."""
    taken = {path.casefold() for path in manuscript.carried}
    made: list[Written] = []
    for chapter, scene, title, slug in _scenes(manuscript.chapters):
        path = _free(f"{SCENES}/SCN-{slug}.md", taken)
        text = _scene(chapter, scene, title, len(made) + 1)
        made.append(Written(path=path, text=text, part=scene, chapter=chapter, title=title))
    for card in manuscript.cards:
        stem = f"{_PREFIXES[card.kind]}-{_slug(card.name) or 'card'}"
        path = _free(f"Compendium/{FOLDERS[card.kind]}/{stem}.md", taken)
        made.append(Written(path=path, text=_card(card), part=card, title=card.name))
    return made


def _named(made: list[Written]) -> list[tuple[ChapterDraft, SceneDraft, str, str]]:
    return [
        (one.chapter, one.part, one.title, one.path)
        for one in made
        if one.chapter is not None and isinstance(one.part, SceneDraft)
    ]


def numbered_title(chapter: str, place: int) -> str:
    """The title of a scene that has none of its own, in a chapter of several."""
    return f"{chapter}, scene {place}"


def _scenes(chapters: tuple[ChapterDraft, ...]) -> Iterator[tuple[ChapterDraft, SceneDraft, str, str]]:
    """Each scene with its title and its slug."""
    for chapter in chapters:
        for place, scene in enumerate(chapter.scenes, start=1):
            alone = chapter.title if len(chapter.scenes) == 1 else numbered_title(chapter.title, place)
            title = scene.title or alone or "Scene"
            yield chapter, scene, title, _slug(title) or f"scene-{place}"


def _scene(chapter: ChapterDraft, scene: SceneDraft, title: str, order: int) -> str:
    front: dict[str, str | int | tuple[str, ...]] = {"title": title, "order": order}
    front |= {"part": chapter.part} if chapter.part else {}
    front |= {"chapter": chapter.title} if chapter.title else {}
    return _text({**front, **scene.front}, title, scene.blocks)


def _card(card: CardDraft) -> str:
    front: dict[str, str | int | tuple[str, ...]] = {"name": card.name, "type": card.kind}
    front |= {"aliases": card.aliases} if card.aliases else {}
    return _text(front, card.name, card.blocks)


def _text(front: Mapping[str, str | int | tuple[str, ...]], title: str, blocks: tuple[str, ...]) -> str:
    fields = "".join(f"{name}: {_value(value)}\n" for name, value in front.items())
    return "\n\n".join([f"---\n{fields}---", f"# {title}", *blocks]) + "\n"


def _value(value: str | int | tuple[str, ...]) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return f"[{', '.join(json.dumps(each, ensure_ascii=False) for each in value)}]"
    plain = _PLAIN.fullmatch(value) and value.casefold() not in _WORDS_OF_YAML
    return value if plain else json.dumps(value, ensure_ascii=False)


def _outline(named: list[tuple[ChapterDraft, SceneDraft, str, str]]) -> str:
    told = ["# Outline"]
    part: str | None = None
    for number, (chapter, scene, title, path) in enumerate(named, start=1):
        if chapter.part != part and chapter.part:
            told.append(f"## {chapter.part}")
        part = chapter.part
        told.append(f"### {number}. {title}")
        synopsis = scene.front.get("synopsis", "")
        about = [f"Scene: [[{path.rpartition('/')[2].removesuffix('.md')}]]"]
        about += [f"POV: {scene.front['pov']}"] if "pov" in scene.front else []
        told.append("\n".join([*about, *([str(synopsis)] if synopsis else [])]))
    return "\n\n".join(told) + "\n"


def _slug(text: str) -> str:
    return slugged(text)[:MAX_SLUG].strip("-")


def _free(path: str, taken: set[str]) -> str:
    """A free path, compared case-insensitively; it is reserved."""
    stem, _, ending = path.rpartition(".")
    free, number = path, 2
    while free.casefold() in taken:
        free, number = f"{stem}-{number}.{ending}", number + 1
    taken.add(free.casefold())
    return free


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
