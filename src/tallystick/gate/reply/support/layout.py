"""Check claims about the structure of a file against the cited lines: counts, names and order."""

import re
from collections.abc import Sequence
from fractions import Fraction

from tallystick.gate.quotes import fold
from tallystick.gate.reply.support.amounts import Amount
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, read
from tallystick.records import record
from tallystick.text.stems import stem

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.+)")
_NUMBERED = re.compile(r"\s{0,12}\d{1,3}[.)][ \t]+(.+)")
_BULLET = re.compile(r"\s{0,12}[-*+•][ \t]+(.+)")
_ROW = re.compile(r"\s{0,3}\|(.+)")
_QUOTED = re.compile(r"[\"“]([^\"“”]{1,100})[\"”]")
_BEFORE = re.compile(r"\b(?:before|above|ahead of|precedes?|followed by)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:after|below|behind|follows)\b", re.IGNORECASE)
_ONE = re.compile(
    r"\b(?:only|just|exactly|a single|single) one\b|\b(?:only|just) a single\b|\bone (?:only|single)\b", re.IGNORECASE
)
_LINES = frozenset(map(stem, ("lines", "line")))
_PARAGRAPHS = frozenset(map(stem, ("paragraph", "paragraphs")))
_LISTS = frozenset(
    map(stem, ["step", "item", "point", "bullet", "beat", "entry", "reason", "numbered", "task", "question", "row"])
)
_SECTIONS = frozenset(map(stem, ["section", "heading", "chapter", "part", "act", "scene", "headings"]))


@record
class Layout:
    """The structural elements of the cited lines."""

    headings: tuple[tuple[int, str], ...]
    """Level and name."""
    numbered: int
    bullets: int
    rows: int
    lines: int
    paragraphs: int

    @property
    def sections(self) -> frozenset[int]:
        """The number of headings on each level and in total."""
        levels = [level for level, _ in self.headings]
        return frozenset({len(levels), *(levels.count(level) for level in levels)})

    @property
    def entries(self) -> frozenset[int]:
        """The possible numbers of entries: of lists, table rows or numbered headings."""
        numbered = sum(bool(re.match(r"\d", name)) for _, name in self.headings)
        return frozenset({self.numbered, self.bullets, self.numbered + self.bullets, max(self.rows - 2, 0), numbered})


def layout_of(lines: Sequence[str]) -> Layout:
    """Return the structural elements of some lines."""
    marked = [found for line in lines if (found := _HEADING.fullmatch(line))]
    blank = [not line.strip() for line in lines]
    starts = sum(not empty and (not at or blank[at - 1]) for at, empty in enumerate(blank))
    return Layout(
        headings=tuple((len(found[1]), found[2].strip()) for found in marked),
        numbered=sum(_NUMBERED.fullmatch(line) is not None for line in lines),
        bullets=sum(_BULLET.fullmatch(line) is not None for line in lines),
        rows=sum(_ROW.fullmatch(line) is not None for line in lines),
        lines=len(lines) - sum(blank),
        paragraphs=starts - len(marked),
    )


def layout_differs(claim: Reading, grounds: Sequence[Ground]) -> Doubt | None:
    """Return a doubt if a claim about structure contradicts the cited lines; else None."""
    text = "\n".join(ground.quote for ground in grounds)
    layouts = [layout_of(ground.quote.split("\n")) for ground in grounds]
    held = {amount.value for amount in read(f"{text} . {' . '.join(g.context for g in grounds)}").amounts}
    for amount in claim.amounts:
        if amount.kind == "number" and not _count_holds(amount, claim, layouts, held):
            return Doubt(
                code="structure_unsupported", reason=f"The cited lines do not contain {amount.written} such entries."
            )
    return _names(claim, text) or _order(claim, text)


def _count_holds(amount: Amount, claim: Reading, layouts: Sequence[Layout], held: set[Fraction]) -> bool:
    if amount.weak and _ONE.search(claim.text) is None:
        return True
    if amount.value in held and _is_label(amount, claim.text):
        return True
    if not amount.weak and amount.value in held and amount.noun not in _LISTS | _SECTIONS | _LINES | _PARAGRAPHS:
        return True
    counts: set[int] = set()
    nouns = {amount.noun} if amount.noun in _LISTS | _SECTIONS | _LINES | _PARAGRAPHS else claim.stems
    for layout in layouts:
        counts |= layout.sections if nouns & _SECTIONS else frozenset()
        counts |= layout.entries if nouns & _LISTS else frozenset()
        counts |= {layout.lines} if nouns & _LINES else set()
        counts |= {layout.paragraphs} if nouns & _PARAGRAPHS else set()
    return amount.value in counts or (not counts and amount.value in held)


def _is_label(amount: Amount, text: str) -> bool:
    """Whether a number is part of a name: `Scene 3`."""
    # An amount may be read from a word that does not stand in the text as it is written.
    before = text.partition(amount.written)[0].split() if amount.written else []
    return bool(before) and stem(before[-1].lower()) in _LISTS | _SECTIONS | _LINES


def _names(claim: Reading, text: str) -> Doubt | None:
    folded = fold(text).casefold()
    for found in _QUOTED.finditer(claim.text):
        if fold(found[1]).casefold().strip(" .,") not in folded:
            return Doubt(code="structure_unsupported", reason=f"{found[1]!r} does not occur in the cited lines.")
    return None


def _order(claim: Reading, text: str) -> Doubt | None:
    """Compare the order of two quoted names with that of the lines."""
    found = list(_QUOTED.finditer(claim.text))
    if len(found) != 2:  # noqa: PLR2004
        return None
    between = claim.text[found[0].end() : found[1].start()]
    folded = fold(text).casefold()
    first, second = (folded.find(fold(each[1]).casefold().strip(" .,")) for each in found)
    wrong = (_BEFORE.search(between) and first > second) or (_AFTER.search(between) and first < second)
    return Doubt(code="structure_unsupported", reason="The two names occur in the opposite order.") if wrong else None
