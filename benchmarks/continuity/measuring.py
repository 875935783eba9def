"""All checkers on the books of one split."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from benchmarks.continuity.cases import Case, cases_of
from benchmarks.continuity.checkers import NotThere, ten_scenes, tools_on, whole_book
from benchmarks.continuity.findings import Finding
from benchmarks.continuity.grep import grep
from benchmarks.continuity.novels import Novel
from benchmarks.continuity.planting import Book, planted, untouched
from benchmarks.continuity.scoring import Score, score
from benchmarks.continuity.wordings import Split

WHOLE, TEN, CANON, GREP = "studio check", "consistency_checker", "canon_checker", "grep"
CHECKERS = (WHOLE, TEN, CANON, GREP)
_SALT = 13
"""Chosen so that the known novels fall into two halves of the same size."""
Given = TypeVar("Given")


@dataclass(kw_only=True)
class Untouched:
    novel: str
    words: int
    findings: dict[str, int] = field(default_factory=dict)
    """Checker → findings on the novel as it is."""
    seconds: float | None = None


@dataclass(kw_only=True)
class Measured:
    split: Split
    scores: dict[str, Score] = field(default_factory=dict)
    untouched: list[Untouched] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def attempt(self, name: str, do: Callable[[], Given]) -> Given | None:
        """None where the checker is not there; that is noted."""
        try:
            return do()
        except NotThere:
            self.left_out.add(name)
            return None


@dataclass(frozen=True, kw_only=True)
class Size:
    books: int
    """Planted books, each with its twin, of each novel."""
    per_kind: int
    checkers: tuple[str, ...] = CHECKERS


def split_of(novel: Novel) -> Split:
    return "dev" if hashlib.sha256(f"{_SALT} {novel.id}".encode()).digest()[0] & 1 else "held"


def measure(novels: Sequence[Novel], data: Path, folder: Path, *, split: Split, seed: int, size: Size) -> Measured:
    measured = Measured(split=split)
    for number, novel in enumerate(novels):
        place = folder / split / novel.id
        plain = {wrapped: untouched(novel, wrapped=wrapped) for wrapped in (True, False)}
        known = _on_untouched(measured, novel, plain, place, size)
        for copy in range(size.books):
            # Novels come with hard line ends and without: every second book is the other way.
            wrapped = (number + copy) % 2 == 0
            cases = cases_of(novel, data, split=split, seed=seed + copy, per_kind=size.per_kind)
            for errors in (True, False):
                book = planted(novel, cases, errors=errors, wrapped=wrapped)
                where = place / f"{copy}-{'errors' if errors else 'twins'}"
                for name, found in _whole(measured, book, where, size):
                    measured.scores.setdefault(name, Score()).add(score(book, found, known.get((name, wrapped), ())))
                if TEN in size.checkers and copy == 0:
                    measured.attempt(TEN, lambda: _ten(measured, novel, book, plain[wrapped], where))  # noqa: B023 - called at once
        if CANON in size.checkers:
            measured.attempt(CANON, lambda: _canon(measured, novel, data, place, split, seed, size))  # noqa: B023 - called at once
    return measured


def _whole(measured: Measured, book: Book, where: Path, size: Size) -> Iterator[tuple[str, list[Finding]]]:
    """What reads a whole book at once."""
    if GREP in size.checkers:
        yield GREP, grep(book.files)
    if WHOLE in size.checkers:
        found = measured.attempt(WHOLE, lambda: whole_book(book, where))
        if found is not None:
            yield WHOLE, found[0]


def _on_untouched(
    measured: Measured, novel: Novel, plain: dict[bool, Book], place: Path, size: Size
) -> dict[tuple[str, bool], list[Finding]]:
    row = Untouched(novel=novel.title, words=novel.words)
    known: dict[tuple[str, bool], list[Finding]] = {}
    for wrapped, book in plain.items():
        where = place / f"untouched-{wrapped}"
        if GREP in size.checkers:
            known[GREP, wrapped] = grep(book.files)
        found = measured.attempt(WHOLE, lambda: whole_book(book, where)) if WHOLE in size.checkers else None  # noqa: B023 - called at once
        if found is not None:
            known[WHOLE, wrapped] = found[0]
            row.seconds = min(found[1], row.seconds or found[1])
    for (name, _), findings in known.items():
        row.findings[name] = max(len(findings), row.findings.get(name, 0))
    measured.untouched.append(row)
    return known


def _ten(measured: Measured, novel: Novel, book: Book, plain: Book, where: Path) -> None:
    """One call for each case, with ten scenes; each finding counts once."""
    found: dict[Finding, None] = {}
    known: dict[Finding, None] = {}
    calls = list(dict.fromkeys(tuple(ten_scenes(novel, plant.case)) for plant in book.plants))
    with tools_on(book, where) as tools:
        for paths in calls:
            found |= dict.fromkeys(tools.consistency(paths))
    with tools_on(plain, where.with_name(f"{where.name}-untouched")) as tools:
        for paths in calls:
            known |= dict.fromkeys(tools.consistency(paths))
    measured.scores.setdefault(TEN, Score()).add(score(book, found, known))


def _canon(measured: Measured, novel: Novel, data: Path, place: Path, split: Split, seed: int, size: Size) -> None:
    """Each scene against the one card it breaks, or only seems to."""
    cases = cases_of(novel, data, split=split, seed=seed, per_kind=size.per_kind, cards=True)
    quiet = planted(novel, (), errors=False, wrapped=False)
    for errors in (True, False):
        book = planted(novel, cases, errors=errors, wrapped=False)
        before = Book(files={**quiet.files, **_cards(cases)}, plants=(), origins=quiet.origins)
        answers = []
        for number, state in enumerate((book, before)):
            with tools_on(state, place / f"canon-{errors}-{number}") as tools:
                answers.append(
                    [
                        finding
                        for plant in book.plants
                        for finding in tools.canon(plant.second.path, [plant.established.path])
                    ]
                )
        found, known = (list(dict.fromkeys(answer)) for answer in answers)
        measured.scores.setdefault(CANON, Score()).add(score(book, found, known))


def _cards(cases: Sequence[Case]) -> dict[str, str]:
    return {case.card.path: case.card.text for case in cases if case.card is not None}
