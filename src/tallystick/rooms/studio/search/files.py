"""Searches the project's files and ranks them.

Files come through `FileSources`, so nothing outside the workspace or in the control room is listed or read. Files that
are not text are skipped and counted. A file's score is the sum over the matching terms: the rarity of the term times
the weight of the place (file name, then headings and front matter, then text), plus a little for repetitions.
Everything that contributes to a score is listed in `why`.
"""

import math
import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.reading.files import FileLibrary
from tallystick.reading.fts import FtsIndex
from tallystick.records import record
from tallystick.rooms.studio.search.query import Query, Term
from tallystick.storage.files import FileSources
from tallystick.text.bm25 import idf
from tallystick.text.folding import unify_line_ends
from tallystick.text.stems import stem
from tallystick.text.words import fold_word, vocabulary

MAX_FILES = 5_000
"""Files one search looks at; a project that has more is searched by globs."""
MAX_CHARS = 48 * 1024 * 1024
"""Characters of text kept between searches: some forty novels."""
MAX_HEADINGS = 400
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.{0,199})$", re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*\n(.{0,8000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_WORD_CHARACTER = r"[^\W_]"
_PART = re.compile(f"{_WORD_CHARACTER}+")


class IndexedFile:
    """One file's text, prepared for search once."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def text(self) -> str:
        """The text as words are compared, with the lines of the file."""
        return fold_word(unify_line_ends(self.source.text))

    @cached_property
    def starts(self) -> "array[int]":
        """Where each line begins."""
        return array("I", [0, *(found.end() for found in re.finditer("\n", self.text))])

    @cached_property
    def summary(self) -> "SearchText":
        """Front matter and headings: what a fast scan reads."""
        raw = unify_line_ends(self.source.text)
        front = _FRONT.match(raw)
        headings = [found.group(1) for found in _HEADING.finditer(raw)][:MAX_HEADINGS]
        return SearchText("\n".join([front.group(1) if front else "", *headings]))

    def lines_with(self, term: Term, forms: Iterable[str] = ()) -> list[int]:
        """The lines (from 1) on which a term occurs, in order, with repeats.

        Args:
            term: The term.
            forms: Other words that count as the term.
        """
        if term.is_phrase:
            found = [match.start() for match in _pattern(term).finditer(self.text)]
        else:
            found = list(self._occurrences(term.text, whole=False))
            for form in forms:
                if not form.startswith(term.text):
                    found += self._occurrences(form, whole=True)
        return [bisect_right(self.starts, at) for at in sorted(found)]

    def _occurrences(self, word: str, *, whole: bool) -> Iterator[int]:
        """Where a word begins; `whole`: and ends, too."""
        # Plain search: several times as fast as a pattern on a whole book.
        at = self.text.find(word)
        while at >= 0:
            end = at + len(word)
            if not self.text[at - 1 : at].isalnum() and not (whole and self.text[end : end + 1].isalnum()):
                yield at
            at = self.text.find(word, at + 1)


class SearchText:
    """A short text in which terms are searched for."""

    def __init__(self, text: str) -> None:
        self._text = fold_word(text)
        self._stems = frozenset(map(stem, vocabulary(self._text)))

    def has(self, term: Term) -> bool:
        """Whether a term occurs: a phrase, the beginning of a word, or another form of the word."""
        return term.stem in self._stems or _pattern(term).search(self._text) is not None


class FileIndex:
    """All searchable files of one workspace; the least recently used fall off."""

    def __init__(self, sources: FileSources, index_file: Path) -> None:
        """Open nothing yet.

        Args:
            sources: The files.
            index_file: Where their words are indexed; made by the first search that needs it.
        """
        self._sources = sources
        self._index_file = index_file
        self._kept: OrderedDict[str, IndexedFile] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def paths(self, globs: tuple[str, ...] = ()) -> list[str]:
        """The files that fit any of the globs; all without one.

        Raises:
            PathRefused: A glob that leaves the workspace.
        """
        found: dict[str, None] = {}
        for glob in globs or ("**",):
            found |= dict.fromkeys(self._sources.paths(glob))
        return sorted(found)[:MAX_FILES]

    def occurrences(self, criteria: Query) -> "Occurrences":
        """Look the terms up in the index of words, brought up to date first."""
        self._library.update(self.paths())
        parts = [part for term in criteria.terms for part in _PART.findall(fold_word(term.text))]
        forms = {term.stem: self._library.forms(term.stem) for term in criteria.terms if term.stem is not None}
        return Occurrences(paths=frozenset(self._library.holders(parts)), forms=forms)

    def close(self) -> None:
        """Close the index of words, if it was opened."""
        if "_library" in self.__dict__:
            self._library.close()

    @cached_property
    def _library(self) -> FileLibrary:
        return FileLibrary(self._sources, FtsIndex(self._index_file))

    def open(self, path: str) -> IndexedFile | None:
        """A file ready for search; None where it is gone, too large or no text."""
        try:
            source = self._sources.read(path)
        except PathRefused:
            return None
        if source is None:
            return None
        with self._lock:
            held = self._kept.get(source.sha256)
            if held is not None:
                self._kept.move_to_end(source.sha256)
                # The same text may stand under two names.
                return held if held.source.path == path else IndexedFile(source)
            return self._keep(IndexedFile(source))

    def _keep(self, made: IndexedFile) -> IndexedFile:
        self._kept[made.source.sha256] = made
        self._chars += len(made.source.text)
        while self._chars > MAX_CHARS and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._chars -= len(oldest.source.text)
        return made


@lru_cache(maxsize=512)
def _pattern(term: Term) -> re.Pattern[str]:
    """Matches a term at the beginning of words; a phrase as whole words, across line breaks."""
    inside = r"\s+".join(re.escape(word) for word in term.text.split())
    end = rf"(?!{_WORD_CHARACTER})" if term.is_phrase else ""
    return re.compile(rf"(?<!{_WORD_CHARACTER}){inside}{end}")


NAME, SUMMARY, TEXT = 3.0, 2.0, 1.0
"""Weight of a match, by place."""
PHRASE = 2.0
"""Weight of a phrase, in words."""
WHOLE_PATH = 50.0
"""Score of a file whose exact path is the query."""
WINDOW = 3
"""Lines that belong together when a passage is judged: words of one thought stand within them."""
MAX_HITS = 5
SHOWN = 240
"""Characters of a line that are shown."""


@record
class Occurrences:
    """What the index of words says about the terms of a query."""

    paths: frozenset[str]
    """The files that may hold a term; no other does."""
    forms: Mapping[str, Sequence[str]]
    """Stem → the words of all files that have it."""


@record
class FileMatch:
    """The matches of one file."""

    path: str
    file: IndexedFile | None
    """None: only its name was looked at."""
    in_name: frozenset[str]
    in_summary: frozenset[str]
    lines: dict[str, list[int]]
    """Term → the lines it stands on."""

    def fits(self, term: Term) -> bool:
        """Whether the term is anywhere in it."""
        return term.text in self.in_name or term.text in self.in_summary or bool(self.lines.get(term.text))


@record
class Passage:
    """A passage: the line it begins on, what stands there, and the terms in it."""

    line: int
    text: str
    terms: tuple[str, ...]


@record
class RankedFile:
    """A file that fits."""

    path: str
    score: float
    why: tuple[str, ...]
    matches: int
    hits: tuple[Passage, ...]
    looked: FileMatch


def match_file(path: str, file: IndexedFile | None, criteria: Query, occurrences: Occurrences | None) -> FileMatch:
    """Match one file against every term.

    Args:
        path: The file.
        file: Its content.
        criteria: The terms.
        occurrences: Where the terms occur; None: the text is not searched.
    """
    name, whole = SearchText(path.replace("_", " ").replace("-", " ")), SearchText(path)
    named = [term for term in criteria.terms if name.has(term) or whole.has(term)]
    summed = [] if file is None else [term for term in criteria.terms if file.summary.has(term)]
    lines: dict[str, list[int]] = {}
    if file is not None and occurrences is not None and path in occurrences.paths:
        for term in criteria.terms:
            if found := file.lines_with(term, occurrences.forms.get(term.stem or "", ())):
                lines[term.text] = found
    return FileMatch(
        path=path,
        file=file,
        in_name=frozenset(term.text for term in named),
        in_summary=frozenset(term.text for term in summed),
        lines=lines,
    )


def rank_files(looked: Sequence[FileMatch], criteria: Query) -> list[RankedFile]:
    """The files that fit anything, the best first; equal ones by path."""
    holding = {term.text: sum(one.fits(term) for one in looked) for term in criteria.terms}
    rarity = {
        term.text: idf(holding[term.text], len(looked)) * (PHRASE if term.is_phrase else 1) for term in criteria.terms
    }
    ranked = [_ranked(one, criteria, rarity) for one in looked]
    return sorted((one for one in ranked if one.score > 0), key=lambda one: (-one.score, one.path))


def _ranked(one: FileMatch, criteria: Query, rarity: dict[str, float]) -> RankedFile:
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
    # Terms close together count more than terms pages apart.
    score += sum(rarity[term] for term in hits[0].terms[1:]) if hits else 0
    matches = sum(map(len, one.lines.values()))
    return RankedFile(path=one.path, score=round(score, 3), why=tuple(why), matches=matches, hits=hits, looked=one)


def _hits(one: FileMatch, rarity: dict[str, float]) -> tuple[Passage, ...]:
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
        Passage(line=line, text=text[line - 1].strip()[:SHOWN], terms=_by_worth(_within(on_line, line), rarity))
        for line in chosen
        if line <= len(text)
    )


def _within(on_line: dict[int, set[str]], line: int) -> set[str]:
    return set().union(*(on_line.get(near, ()) for near in range(line, line + WINDOW)))


def _by_worth(terms: Iterable[str], rarity: dict[str, float]) -> tuple[str, ...]:
    return tuple(sorted(terms, key=lambda term: (-rarity[term], term)))
