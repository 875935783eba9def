"""What is right and what is wrong among findings.

A planted error is found when a finding points at the line that contradicts. A finding is right when it does that; it is
wrong when it points elsewhere, unless the untouched novel gives the same finding: those are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.continuity.findings import Finding, Quote
from benchmarks.continuity.planting import Book, Passage, Plant

Places = frozenset[tuple[str, int]]


@dataclass(kw_only=True)
class Score:
    planted: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    right: int = 0
    wrong: int = 0
    alarms: Counter[str] = field(default_factory=Counter)
    """Why each twin that was reported is clean; `elsewhere` for what points at no plant."""
    missed: list[Plant] = field(default_factory=list)
    false: list[tuple[Finding, Plant | None]] = field(default_factory=list)

    @property
    def precision(self) -> float | None:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        return self.found.total() / self.planted.total() if self.planted else None

    def add(self, other: Score) -> None:
        self.planted += other.planted
        self.found += other.found
        self.right += other.right
        self.wrong += other.wrong
        self.alarms += other.alarms
        self.missed += other.missed
        self.false += other.false

    def as_dict(self) -> dict[str, object]:
        return {
            "planted": self.planted.total(), "found": self.found.total(), "right": self.right, "wrong": self.wrong,
            "precision": self.precision, "recall": self.recall,
            "recall_by_kind": {kind: self.found[kind] / times for kind, times in sorted(self.planted.items())},
            "false_alarms": dict(sorted(self.alarms.items())),
        }  # fmt: skip


def score(
    book: Book, findings: Iterable[Finding], on_untouched: Iterable[Finding], plants: Sequence[Plant] | None = None
) -> Score:
    """One book's findings; `plants` are those that could have been found, if not all of the book's."""
    known = {places(finding.quotes, None) for finding in on_untouched}
    result = Score()
    sought = book.plants if plants is None else plants
    result.planted.update(plant.case.kind for plant in sought if plant.is_error)
    hit: set[int] = set()
    for finding in findings:
        if places(finding.quotes, book) in known:
            continue
        at = next((number for number, plant in enumerate(book.plants) if _points_at(finding, plant.second)), None)
        if at is not None and book.plants[at].is_error:
            hit.add(at)
            result.right += 1
        else:
            plant = None if at is None else book.plants[at]
            result.wrong += 1
            result.alarms[plant.case.why if plant else "elsewhere"] += 1
            result.false.append((finding, plant))
    result.found.update(book.plants[at].case.kind for at in hit if book.plants[at] in sought)
    result.missed = [
        plant for number, plant in enumerate(book.plants) if plant.is_error and number not in hit and plant in sought
    ]
    return result


def places(quotes: Iterable[Quote], book: Book | None) -> Places:
    """The lines of the untouched novel that quotes point at."""
    found = set()
    for quote in quotes:
        origin = book.origins.get(quote.path) if book is not None else None
        inside = origin is not None and 0 < quote.first <= len(origin)
        found.add((quote.path, origin[quote.first - 1] if origin is not None and inside else quote.first))
    return frozenset(found)


def _points_at(finding: Finding, passage: Passage) -> bool:
    return any(
        quote.path == passage.path and quote.first <= passage.last and quote.last >= passage.first
        for quote in finding.quotes
    )
