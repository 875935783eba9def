"""Public-domain novels as a novelist's project: one chapter a scene file, with or without hard line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

WIDTH = 72
_START = re.compile(r"^\*\*\* ?START OF TH(?:IS|E) PROJECT GUTENBERG.*$", re.MULTILINE)
_END = re.compile(
    r"^(?:\*\*\* ?END OF TH(?:IS|E) PROJECT GUTENBERG|End of (?:the )?Project Gutenberg).*$", re.MULTILINE
)
_HEADING = re.compile(
    r"^(?:(?i:(?:chapter|letter|volume|book|adventure|part)\s+(?:\d+|[ivxlc]+)\b.{0,70}"
    r"|(?:prelude|finale|epilogue|prologue)\.?)|[IVXLC]{1,6}(?:\.?|\. [A-Z][A-Z\W]+))$"
)
_QUOTES = frozenset('"“”‘«»_[]')
MIN_SCENE_WORDS = 150
"""A shorter stretch between two headings is a list of contents or a heading's second line, not a scene."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    title: str
    path: str
    paragraphs: tuple[tuple[str, ...], ...]
    """Each a tuple of lines, as the book breaks them."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(" ".join(lines) for lines in self.paragraphs)


@dataclass(frozen=True, kw_only=True, eq=False)
class Novel:
    id: str
    """Its Gutenberg number, by which the annotations of litbank are found."""
    title: str
    scenes: tuple[Scene, ...]

    @cached_property
    def text(self) -> str:
        return "\n".join(text for scene in self.scenes for text in scene.texts)

    @cached_property
    def words(self) -> int:
        return len(self.text.split())

    @cached_property
    def curly(self) -> bool:
        """Whether it sets its quotation marks curly; what is planted must look like its surroundings."""
        return self.text.count("“") > self.text.count('"')


def novels(data: Path) -> list[Novel]:
    """All novels that are there, in the order of their names."""
    folder = data / "gutenberg-novels"
    return [novel_of(path) for path in sorted(folder.rglob("*.txt")) if path.name != "SOURCE.txt"]


def novel_of(path: Path) -> Novel:
    title, _, number = path.stem.rpartition("_")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return Novel(id=number, title=title.replace("-", " "), scenes=tuple(scenes_of(text)))


def scenes_of(text: str) -> Iterator[Scene]:
    """The chapters between Gutenberg's head and tail; a text without headings is one scene."""
    number = 0
    for title, paragraphs in _stretches(_stripped(text.replace("\r\n", "\n").replace("\r", "\n"))):
        if sum(len(line.split()) for lines in paragraphs for line in lines) < MIN_SCENE_WORDS:
            continue
        number += 1
        slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
        yield Scene(title=title, path=f"Story/Scenes/SCN-{number:03d}-{slug}.md", paragraphs=tuple(paragraphs))


def is_narration(text: str) -> bool:
    """Whether a paragraph is plainly told: prose of some length, without speech, verse or letters' heads."""
    return len(text.split()) >= 35 and not _QUOTES.intersection(text) and text[0].isupper() and text.endswith(".")


def is_closed(text: str) -> bool:
    """Whether nobody is still speaking at its end, so that narration may follow."""
    return text.count("“") == text.count("”") and text.count('"') % 2 == 0 and text.endswith((".", "”", '"', "?", "!"))


def rendered(scene: Scene, *, wrapped: bool) -> list[str]:
    """The scene file's lines, untouched."""
    lines = [f"# {scene.title}", ""]
    for paragraph in scene.paragraphs:
        lines += [*(paragraph if wrapped else (" ".join(paragraph),)), ""]
    return lines


def _stripped(text: str) -> str:
    start, end = _START.search(text), _END.search(text)
    return text[start.end() if start else 0 : end.start() if end else len(text)]


def _stretches(text: str) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    title, paragraphs = "Opening", list[tuple[str, ...]]()
    for block in re.split(r"\n[ \t]*\n", text):
        lines = tuple(" ".join(line.split()) for line in block.split("\n") if line.strip())
        if len(lines) == 1 and _HEADING.match(lines[0]):
            yield title, paragraphs
            title, paragraphs = lines[0], []
        elif lines:
            paragraphs.append(lines)
    yield title, paragraphs
