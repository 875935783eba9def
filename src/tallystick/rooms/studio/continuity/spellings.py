"""Names and terms spelt two ways."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from rapidfuzz.distance import DamerauLevenshtein

from tallystick.records import record
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.continuity.passages import Passage

_NAME = re.compile(r"(?<![\w’'-])[A-Z][a-zà-ÿ]{3,}(?![\w-])")  # noqa: RUF001
_WORD = re.compile(r"(?<![\w’'-])[A-Za-zà-ÿ]+(?:-[A-Za-zà-ÿ]+)*(?![\w-])")  # noqa: RUF001
_HYPHENED = re.compile(r"(?<![\w-])[a-z]{2,}(?:-[a-z]{2,})+(?![\w-])")
_QUOTE = "[\"'\u201c\u201d\u2018\u2019]?"
_RULED_OUT = re.compile(
    rf"(?<!\w)(?:not|never)\s+(?:the\s+)?{_QUOTE}(?P<other>[\w-]+(?:\s[\w-]+)?){_QUOTE}", re.IGNORECASE
)
_ALWAYS = re.compile(r"\balways\s+(?:written|spelled|spelt|called|in this house style)?\b", re.IGNORECASE)
_TWO_WORDS = re.compile(r"\b([A-Z][\w’'-]{1,60})\s++[A-Z][\w’'-]+")  # noqa: RUF001
_LONG_NAME = re.compile(r"\b[A-Z][a-z]+ (?:of|in|on) (?:the )?[A-Z][a-z]+ [A-Z][a-z]+\b")
"""A place or thing of at least three words."""
_RARE, _USUAL = 2, 4
_LONG, _SHORT = 7, 5


@record
class Slip:
    """A spelling that stands against the usual one."""

    kind: str
    """`name-spelling` or `term-variant`."""
    usual: str
    odd: str
    count: int
    """How often the usual one stands in the book."""
    passage: Passage
    at: int
    card: CanonCard | None
    card_line: int
    first: tuple[Passage, int] | None
    """Where the usual one stands in the book."""


class Spellings:
    """How the book writes its capitalised words and its compounds."""

    def __init__(
        self, passages: Sequence[Passage], cards: Sequence[CanonCard], is_person: Callable[[str], bool]
    ) -> None:
        self._passages, self._cards, self._is_person = passages, cards, is_person
        self.names: dict[str, list[tuple[Passage, int]]] = defaultdict(list)
        self.plain: Counter[str] = Counter()
        for passage in passages:
            for match in _WORD.finditer(passage.text):
                word = match[0]
                if word.islower():
                    self.plain[word] += 1
            for match in _NAME.finditer(passage.text):
                self.names[match[0]].append((passage, match.start()))

    def name_slips(self) -> Iterator[Slip]:
        """Yield rare names that are one or two letters away from a card's or a usual one."""
        carded = self._card_names()
        usual = {name: len(places) for name, places in self.names.items() if len(places) >= _USUAL}
        for odd, places in self.names.items():
            if len(places) > _RARE or odd in carded or self.plain[odd.lower()] or _plural(odd, carded, usual):
                continue
            for known in [*carded, *(name for name in usual if name not in carded)]:
                least = _USUAL if known in carded else _USUAL + 1
                if _near(odd, known) and (
                    known in carded or (usual.get(known, 0) >= least and self._could_slip(odd, known))
                ):
                    if self.plain[known.lower()] or self._beside(odd, known):
                        continue
                    card, line = carded.get(known, (None, 0))
                    for passage, at in places:
                        first = self.names[known][0] if self.names.get(known) else None
                        yield Slip(
                            kind="name-spelling",
                            usual=known,
                            odd=odd,
                            count=len(self.names.get(known, [])),
                            passage=passage,
                            at=at,
                            card=card,
                            card_line=line,
                            first=first,
                        )
                    break

    def _could_slip(self, odd: str, known: str) -> bool:
        """Whether one letter of a person's name is doubled, dropped or swapped, and both sound alike."""
        return self._is_person(known) and _skeleton(odd) == _skeleton(known)

    def term_slips(self) -> Iterator[Slip]:
        """Yield terms that a card rules out, and compounds that are hyphened or joined against a card or the book."""
        for ruling, at, term, wrong in _ruled_out(self._cards):
            yield from self._written(term, wrong, ruling, at)
        for ruling, at, term, wrong in self._renamed():
            yield from self._written(term, wrong, ruling, at)
        usual_terms = {**self._hyphened(), **self._card_terms()}
        seen: set[str] = set()
        for usual, (card, line, least) in usual_terms.items():
            for other in self._variants(usual):
                count = self._count(usual)
                if (card or count >= least) and other not in seen and self.plain[other] <= max(1, count // 3):
                    seen.add(other)
                    yield from self._written(usual, other, card, line)

    def _renamed(self) -> Iterator[tuple[CanonCard, int, str, str]]:
        """A long name with another last word: `House of White Stones` where a card has a House of White Glass."""
        text = "\n".join(passage.text for passage in self._passages)
        for card in self._cards:
            for number, line in enumerate(card.source.lines, 1):
                for match in _LONG_NAME.finditer(line):
                    head, _, last = match[0].rpartition(" ")
                    for other in set(re.findall(rf"\b{re.escape(head)} ([A-Z][a-z]+)\b", text)) - {last}:
                        if text.count(f"{head} {last}") > text.count(f"{head} {other}"):
                            yield card, number, match[0].lower(), f"{head} {other}".lower()

    def _variants(self, usual: str) -> Iterator[str]:
        joined = usual.replace("-", "")
        if "-" not in usual:
            yield from (word for word in self.plain if "-" in word and word.replace("-", "") == usual)
            return
        if self.plain[joined]:
            yield joined
        if len(joined) >= _LONG and not usual.endswith("s"):
            yield from (word for word, count in self.plain.items() if count <= _RARE and _misspells(word, joined))

    def _hyphened(self) -> dict[str, tuple[CanonCard | None, int, int]]:
        usual = (word for word, count in self.plain.items() if "-" in word and count >= _RARE and len(word) > _SHORT)
        return dict.fromkeys(usual, (None, 0, 3))

    def _card_terms(self) -> dict[str, tuple[CanonCard | None, int, int]]:
        found: dict[str, tuple[CanonCard | None, int, int]] = {}
        for card in self._cards:
            for number, line in enumerate(card.source.lines, 1):
                for match in _HYPHENED.finditer(line):
                    found.setdefault(match[0], (card, number, 0))
            if card.kind == "glossary" and card.name.islower() and " " not in card.name:
                found.setdefault(card.name, (card, 1, 0))
        return found

    def _count(self, term: str) -> int:
        return self.plain[term]

    def _written(self, usual: str, other: str, card: CanonCard | None, line: int) -> Iterator[Slip]:
        pattern = re.compile(rf"(?<![\w-]){re.escape(other)}(?:s|es)?(?![\w-])", re.IGNORECASE)
        first = None
        wanted = re.compile(rf"(?<![\w-]){re.escape(usual)}(?![\w-])", re.IGNORECASE)
        for passage in self._passages:
            if first is None and (match := wanted.search(passage.text)):
                first = (passage, match.start())
        for passage in self._passages:
            for match in pattern.finditer(passage.text):
                yield Slip(
                    kind="term-variant",
                    usual=usual,
                    odd=match[0],
                    count=self._count(usual),
                    passage=passage,
                    at=match.start(),
                    card=card,
                    card_line=line,
                    first=first,
                )

    def _card_names(self) -> dict[str, tuple[CanonCard, int]]:
        found: dict[str, tuple[CanonCard, int]] = {}
        for card in self._cards:
            for number, line in enumerate(card.source.lines, 1):
                for match in _NAME.finditer(line):
                    if not self.plain[match[0].lower()]:
                        found.setdefault(match[0], (card, number))
        return found

    def _beside(self, odd: str, known: str) -> bool:
        """Whether both stand in one paragraph: then they are two names."""
        here = {id(passage) for passage, _ in self.names[odd]}
        both = re.compile(rf"\b{odd}\b.{{0,80}}\b{known}\b|\b{known}\b.{{0,80}}\b{odd}\b")
        return any(id(passage) in here and both.search(passage.text) for passage, _ in self.names.get(known, []))


def _misspells(word: str, joined: str) -> bool:
    """Whether a word without a hyphen is one letter away from a compound."""
    alike = word[0] == joined[0] and abs(len(word) - len(joined)) <= 1 and "-" not in word and not word.endswith("s")
    return alike and DamerauLevenshtein.distance(word, joined) == 1


def _near(odd: str, known: str) -> bool:
    short = len(known) < _LONG
    if odd[0] != known[0] or abs(len(odd) - len(known)) > (1 if short else 2) or min(len(odd), len(known)) < _SHORT:
        return False
    if odd.startswith(known) or known.startswith(odd):
        return False
    apart = DamerauLevenshtein.distance(odd, known)
    return apart == 1 or (apart == 2 and not short and _skeleton(odd) == _skeleton(known))  # noqa: PLR2004


def _skeleton(name: str) -> str:
    """The consonants of a name, each once in a row: names with one skeleton sound alike."""
    consonants = re.sub(r"[aeiouyh]", "", name.lower())
    return re.sub(r"(.)\1+", r"\1", consonants)


def _plural(odd: str, carded: Iterable[str], usual: Iterable[str]) -> bool:
    bases = {odd.removesuffix(ending) for ending in ("s", "es", "ian", "n", "an")} - {odd}
    bases |= {odd + "s", odd + "e"}
    return bool(bases & (set(carded) | set(usual)))


def _ruled_out(cards: Sequence[CanonCard]) -> Iterator[tuple[CanonCard, int, str, str]]:
    """`strait-waistcoat (not strait-jacket)`, `Always lamp-house, not lighthouse`, `Quincey, never Quincy`."""
    for card in cards:
        for number, line in enumerate(card.source.lines, 1):
            for match in _RULED_OUT.finditer(line):
                other = match["other"].strip("-").lower()
                usual = _alike(other, line[: match.start()])
                named = _TWO_WORDS.search(line[: match.start()])
                if named is not None and match["other"][0].isupper():
                    # `Lucas Lodge, never Hall or House`
                    for word in re.findall(r"[A-Z][a-z]+", line[match.start() :].split(".")[0]):
                        yield card, number, named[0].lower(), f"{named[1]} {word}".lower()
                    continue
                if usual is not None and len(other) > 3:  # noqa: PLR2004
                    yield card, number, usual, other


def _alike(other: str, before: str) -> str | None:
    """The term before it that it replaces: one that shares a part with it, or the first after `always`."""
    terms = [match[0] for match in _WORD.finditer(before) if match[0].lower() not in other.split()]
    parts = set(re.split(r"[- ]", other))
    for term in terms:
        if term.lower() != other and set(term.lower().split("-")) & parts and len(term) > 4:  # noqa: PLR2004
            return term.lower()
        joined = (term.lower().replace("-", ""), other.replace("-", "").replace(" ", ""))
        if term.lower() != other and DamerauLevenshtein.distance(*joined) <= 2 and len(term) > 4:  # noqa: PLR2004
            return term.lower()
    if (found := _ALWAYS.search(before)) is not None and (named := _WORD.search(before, found.end())) is not None:
        return named[0].lower()
    return None
