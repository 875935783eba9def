"""A novel with statements put into it: the files, where each statement stands, and which line was which before."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.continuity.cases import Case, Spot
from benchmarks.continuity.novels import WIDTH, Novel, Scene, rendered


@dataclass(frozen=True, kw_only=True)
class Passage:
    path: str
    first: int
    """Lines from 1."""
    last: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Plant:
    case: Case
    is_error: bool
    established: Passage
    second: Passage
    """What contradicts, or in a twin only looks so."""


@dataclass(frozen=True, kw_only=True)
class Book:
    files: dict[str, str]
    plants: tuple[Plant, ...]
    origins: dict[str, list[int]]
    """Path → for each line, the line of the untouched novel that it was; 0 for a new one."""

    def write(self, folder: Path) -> None:
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8", newline="\n")


def untouched(novel: Novel, *, wrapped: bool) -> Book:
    return planted(novel, (), errors=False, wrapped=wrapped)


def planted(novel: Novel, cases: Sequence[Case], *, errors: bool, wrapped: bool) -> Book:
    """The book with every case in it: all as errors, or all as their clean twins."""
    texts: dict[Spot, str] = {}
    for case in cases:
        texts[case.second] = case.contradicting if errors else case.clean
        if case.card is None:
            texts[case.first] = case.established
    by_scene: dict[int, dict[int, Spot]] = defaultdict(dict)
    for taken in texts:
        by_scene[taken.scene][taken.paragraph] = taken
    files, origins, passages = {}, {}, dict[Spot, Passage]()
    for number, scene in enumerate(novel.scenes):
        page = _Page(scene=scene, wrapped=wrapped, lines=[f"# {scene.title}", ""], origin=[1, 2], old=2)
        for at, paragraph in enumerate(scene.paragraphs):
            spot = by_scene[number].get(at)
            page.add(paragraph, texts[spot] if spot and not spot.own else "", spot, passages)
            if spot and spot.own:
                page.add_new(texts[spot], spot, passages)
        files[scene.path] = "\n".join(page.lines) + "\n"
        origins[scene.path] = page.origin
    cards = {case.card.path: case.card.text for case in cases if case.card is not None}
    plants = tuple(_plant(case, passages, is_error=errors) for case in cases)
    return Book(files=files | cards, plants=plants, origins=origins)


@dataclass(kw_only=True)
class _Page:
    """A scene file while it is written."""

    scene: Scene
    wrapped: bool
    lines: list[str]
    origin: list[int]
    old: int
    """Lines of the untouched file written so far."""

    def add(self, paragraph: tuple[str, ...], text: str, spot: Spot | None, passages: dict[Spot, Passage]) -> None:
        """A paragraph of the book, with a sentence put to its end or without."""
        own = list(paragraph) if self.wrapped else [" ".join(paragraph)]
        start = len(self.lines) + len(own) - 1
        before = self.old
        if text and spot:
            ending = self._broken(f"{own[-1]} {text}")
            # The plant begins on the old last line only where a word of it found room there.
            first = start + (2 if ending[0] == own[-1] else 1)
            passages[spot] = Passage(path=self.scene.path, first=first, last=start + len(ending), text=text)
            self.lines += [*own[:-1], *ending]
            self.origin += [*range(before + 1, before + len(own) + 1), *[0] * (len(ending) - 1)]
        else:
            self.lines += own
            self.origin += range(before + 1, before + len(own) + 1)
        self.old = before + len(own) + 1
        self.lines.append("")
        self.origin.append(self.old)

    def add_new(self, text: str, spot: Spot, passages: dict[Spot, Passage]) -> None:
        """A paragraph that is new."""
        lines = self._broken(text)
        first = len(self.lines) + 1
        passages[spot] = Passage(path=self.scene.path, first=first, last=first + len(lines) - 1, text=text)
        self.lines += [*lines, ""]
        self.origin += [0] * (len(lines) + 1)

    def _broken(self, text: str) -> list[str]:
        if not self.wrapped:
            return [text]
        return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _plant(case: Case, passages: dict[Spot, Passage], *, is_error: bool) -> Plant:
    if case.card is None:
        established = passages[case.first]
    else:
        line = case.card.text.splitlines()[case.card.line - 1]
        established = Passage(path=case.card.path, first=case.card.line, last=case.card.line, text=line)
    return Plant(case=case, is_error=is_error, established=established, second=passages[case.second])


def same_as_novel(book: Book, novel: Novel, *, wrapped: bool) -> bool:
    """Whether a book is the novel itself, line for line."""
    return all(book.files[scene.path].split("\n")[:-1] == rendered(scene, wrapped=wrapped) for scene in novel.scenes)
