"""The baseline: a name and a word of the kind in one paragraph, and later another such word. No grammar, no speech.

What somebody with `grep` and an afternoon would do. The names are the book's own words with capitals.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from benchmarks.continuity.findings import Finding, Quote

_NUMBER = r"(?:twenty|thirty|forty|fifty|sixty|seventy)(?:-[a-z]+)?|nineteen|\d\d"
_DAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_COLOUR = r"blue|brown|gr[ae]y|green|black|hazel|red|fair|golden|white"
PATTERNS = {
    "eyes": re.compile(rf"\b({_COLOUR})(?:-eyed| eyes?)\b|\beyes\b[^.]{{0,30}}?\b({_COLOUR})\b"),
    "hair": re.compile(rf"\b({_COLOUR})(?:-haired| hair)\b|\bhair\b[^.]{{0,30}}?\b({_COLOUR})\b"),
    "age": re.compile(rf"\b({_NUMBER}) years? (?:old|of age)\b|\b(?:[Aa]ged?|was|[Aa]t|turned) ({_NUMBER})\b"),
    "date": re.compile(rf"\b({_DAY})\b|\b([a-z-]+ of (?:{_MONTH}))\b|\b(1[78]\d\d)\b"),
    "place": re.compile(r"\b(?:born|lived|lives|rooms|house|home) (?:in|at) ([A-Z][a-z]+)"),
}
_DEAD = re.compile(r"\b(?:died|dead|buried|drowned|killed|funeral|passed away)\b")
_SPEAKS = re.compile(r"\b(?:said|asked|replied|cried|answered|laughed|came in)\b")
_NAME = re.compile(r"(?<=[a-z,;] )(?:(?:Mr|Mrs|Dr)\. |Miss |Lady |Sir |Captain |Colonel )?([A-Z][a-z]{3,})\b")
MIN_TIMES = 2


@dataclass(frozen=True, kw_only=True)
class _Paragraph:
    path: str
    first: int
    last: int
    text: str

    @property
    def quote(self) -> Quote:
        return Quote(path=self.path, first=self.first, last=self.last, text=self.text)


def grep(files: Mapping[str, str]) -> list[Finding]:
    """All scenes, in the order of their names."""
    paragraphs = [
        found for path in sorted(files) if path.startswith("Story/") for found in _paragraphs(path, files[path])
    ]
    names = Counter(name for paragraph in paragraphs for name in _NAME.findall(paragraph.text))
    known = {name for name, times in names.items() if times >= MIN_TIMES}
    by_name: dict[str, list[_Paragraph]] = defaultdict(list)
    for paragraph in paragraphs:
        for name in known.intersection(re.findall(r"[A-Z][a-z]{3,}", paragraph.text)):
            by_name[name].append(paragraph)
    found = [finding for name in sorted(by_name) for finding in _about(by_name[name])]
    return [*found, *_spellings(names, paragraphs)]


def _about(paragraphs: list[_Paragraph]) -> Iterator[Finding]:
    for kind, pattern in PATTERNS.items():
        first: tuple[str, _Paragraph] | None = None
        seen: set[str] = set()
        for paragraph in paragraphs:
            for groups in pattern.findall(paragraph.text):
                value = groups if isinstance(groups, str) else next(filter(None, groups))
                if first is None:
                    first = (value, paragraph)
                elif value != first[0] and value not in seen:
                    seen.add(value)
                    yield Finding(rule=f"grep.{kind}", quotes=(first[1].quote, paragraph.quote))
    dead = next((number for number, paragraph in enumerate(paragraphs) if _DEAD.search(paragraph.text)), None)
    if dead is not None:
        later = next((paragraph for paragraph in paragraphs[dead + 1 :] if _SPEAKS.search(paragraph.text)), None)
        if later is not None:
            yield Finding(rule="grep.death", quotes=(paragraphs[dead].quote, later.quote))


def _spellings(names: Counter[str], paragraphs: list[_Paragraph]) -> Iterator[Finding]:
    """A rare word with a capital, one letter away from a frequent name."""
    often = [name for name, times in names.items() if times >= 5]
    first: dict[str, _Paragraph] = {}
    times: Counter[str] = Counter()
    for paragraph in paragraphs:
        for word in re.findall(r"\b[A-Z][a-z]{3,}\b", paragraph.text):
            first.setdefault(word, paragraph)
            times[word] += 1
    for word in sorted(first):
        near = [name for name in often if name != word and OSA.distance(name, word, score_cutoff=1) == 1]
        if near and times[word] <= 2 and word.lower() != near[0].lower():
            yield Finding(rule="grep.name", quotes=(first[near[0]].quote, first[word].quote))


def _paragraphs(path: str, text: str) -> Iterator[_Paragraph]:
    lines = text.split("\n")
    start = 0
    for number, line in enumerate([*lines, ""]):
        if not line.strip():
            if number > start:
                yield _Paragraph(path=path, first=start + 1, last=number, text=" ".join(lines[start:number]))
            start = number + 1
