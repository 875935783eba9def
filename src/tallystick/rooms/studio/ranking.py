"""Which files fit a search best, and why.

A file's score is the sum over the terms that fit it: how rare the term is among the files, times where it fits (its
name counts most, then headings and front matter, then the text), plus a little for each repetition. Everything that
goes into a score stands in `why`, so that a reader can follow it.
"""

import math
from collections.abc import Iterable, Sequence

from tallystick.records import record
from tallystick.rooms.studio.criteria import Criteria, Term
from tallystick.rooms.studio.shelf import Searchable, pattern

NAME, SUMMARY, TEXT = 3.0, 2.0, 1.0
"""What a fit is worth, by place."""
PHRASE = 2.0
"""A phrase is worth this many words."""
WHOLE_PATH = 50.0
"""For the file that is asked for by its very path: nothing else comes before it."""
WINDOW = 3
"""Lines that belong together when a passage is judged: words of one thought stand within them."""
MAX_HITS = 5
SHOWN = 240
"""Characters of a line that are shown."""


@record
class Looked:
    """One file, looked at for every term."""

    path: str
    file: Searchable | None
    """None: only its name was looked at."""
    in_name: frozenset[str]
    in_summary: frozenset[str]
    lines: dict[str, list[int]]
    """Term → the lines it stands on."""

    def fits(self, term: Term) -> bool:
        """Whether the term is anywhere in it."""
        return term.text in self.in_name or term.text in self.in_summary or bool(self.lines.get(term.text))


@record
class Hit:
    """A passage: the line it begins on, what stands there, and the terms in it."""

    line: int
    text: str
    terms: tuple[str, ...]


@record
class Ranked:
    """A file that fits."""

    path: str
    score: float
    why: tuple[str, ...]
    matches: int
    hits: tuple[Hit, ...]
    looked: Looked


def look(path: str, file: Searchable | None, criteria: Criteria, *, deep: bool) -> Looked:
    """Look at one file for every term."""
    name = path.lower().replace("_", " ").replace("-", " ")
    named = [term for term in criteria.terms if _in(term, name) or _in(term, path.lower())]
    summed = [] if file is None else [term for term in criteria.terms if _in(term, file.summary)]
    lines: dict[str, list[int]] = {}
    if deep and file is not None:
        for term in criteria.terms:
            if found := file.lines_with(term.stem, phrase=term.is_phrase):
                lines[term.text] = found
    return Looked(
        path=path,
        file=file,
        in_name=frozenset(term.text for term in named),
        in_summary=frozenset(term.text for term in summed),
        lines=lines,
    )


def rank(looked: Sequence[Looked], criteria: Criteria) -> list[Ranked]:
    """The files that fit anything, the best first; equal ones by path."""
    holding = {term.text: sum(one.fits(term) for one in looked) for term in criteria.terms}
    rarity = {
        term.text: math.log(1 + len(looked) / max(1, holding[term.text])) * (PHRASE if term.is_phrase else 1)
        for term in criteria.terms
    }
    ranked = [_ranked(one, criteria, rarity) for one in looked]
    return sorted((one for one in ranked if one.score > 0), key=lambda one: (-one.score, one.path))


def _ranked(one: Looked, criteria: Criteria, rarity: dict[str, float]) -> Ranked:
    score = 0.0
    why: list[str] = []
    written = criteria.written.strip().lower()
    if one.path.lower() == written or (criteria.globs and not criteria.terms):
        score += WHOLE_PATH
        why.append("path")
    for places, worth, name in ((one.in_name, NAME, "name"), (one.in_summary, SUMMARY, "heading")):
        score += sum(rarity[term] * worth for term in sorted(places))
        why += [f"{name}: {term}" for term in sorted(places)]
    for term, lines in one.lines.items():
        score += rarity[term] * TEXT * (1 + math.log(len(lines)) / 4)
        why.append(f"text: {term} x{len(lines)}")
    hits = _hits(one, rarity)
    # Words that stand together say more than the same words pages apart.
    score += sum(rarity[term] for term in hits[0].terms[1:]) if hits else 0
    matches = sum(map(len, one.lines.values()))
    return Ranked(path=one.path, score=round(score, 3), why=tuple(why), matches=matches, hits=hits, looked=one)


def _hits(one: Looked, rarity: dict[str, float]) -> tuple[Hit, ...]:
    """The best passages of a file, in the order of their worth; no two overlap."""
    if one.file is None:
        return ()
    on_line: dict[int, set[str]] = {}
    for term, lines in one.lines.items():
        for line in set(lines):
            on_line.setdefault(line, set()).add(term)
    # A passage begins on the line that holds most of it.
    worth = {
        line: sum(rarity[term] for term in sorted(_within(on_line, line))) + len(terms) / 100
        for line, terms in on_line.items()
    }
    chosen: list[int] = []
    for line in sorted(worth, key=lambda line: (-worth[line], line)):
        if all(abs(line - other) >= WINDOW for other in chosen):
            chosen.append(line)
        if len(chosen) == MAX_HITS:
            break
    text = one.file.source.lines
    return tuple(
        Hit(line=line, text=text[line - 1].strip()[:SHOWN], terms=_by_worth(_within(on_line, line), rarity))
        for line in chosen
        if line <= len(text)
    )


def _within(on_line: dict[int, set[str]], line: int) -> set[str]:
    return set().union(*(on_line.get(near, ()) for near in range(line, line + WINDOW)))


def _by_worth(terms: Iterable[str], rarity: dict[str, float]) -> tuple[str, ...]:
    return tuple(sorted(terms, key=lambda term: (-rarity[term], term)))


def _in(term: Term, text: str) -> bool:
    return pattern(term.stem, phrase=term.is_phrase).search(text) is not None
