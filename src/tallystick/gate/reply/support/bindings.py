"""Check that a claim joins values with the same words as the quote: `Ann covers for Ben` for `Ben covers for Ann`.

A value is a name, an id, a number, a date or a time. A quote with several segments (`3 failed, 5 skipped`) binds each
value to the words of its segment. A claim that takes the words of one segment and the value of another is refused.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from tallystick.gate.reply.support.coverage import covers
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, Term, read
from tallystick.records import record

_CUT = re.compile(
    r"[;!?\n]\s*|(?<!\b[A-Z])\.\s|,\s|\s\(|\)\s?|\s[–—-]{1,2}\s"  # noqa: RUF001
    r"|\s(?:and|but|because|while|whereas|though)\s",
    re.IGNORECASE,
)
"""Where a segment ends. A colon ends none: a label belongs to what follows it."""
_FROM_TO = re.compile(r"(.*\b)(from .{1,60}?) (to .*)")
_MAX_TEXT = 4_000
"""Characters of a quote that are split."""
_ENDS = frozenset({"from", "to"})


@record
class Segment:
    """A part of a sentence with the values it binds."""

    values: frozenset[tuple[str, str]]
    """(kind, value): name, code, number with its unit, month, weekday, time."""
    words: frozenset[str]
    """Stems of its other content words."""


@lru_cache(maxsize=4_096)
def segments(text: str, capital: frozenset[str] = frozenset()) -> tuple[Segment, ...]:
    """Split a text into segments; one without any word is joined to the one before it."""
    return tuple(_segment(read(part), capital) for part in segment_texts(text))


def segment_texts(text: str) -> list[str]:
    """Return the texts of the segments."""
    parts = [part.strip() for cut in _CUT.split(text[:_MAX_TEXT]) if cut for part in _ends(cut)]
    return [part for part in parts if any(map(str.isalnum, part))]


def _ends(cut: str) -> tuple[str, ...]:
    """Return `from A` and `to B` as segments of their own."""
    found = _FROM_TO.fullmatch(cut)
    return (cut,) if found is None else found.groups()


def _segment(reading: Reading, capital: frozenset[str]) -> Segment:
    terms = reading.terms
    names = {term for term in terms if term.is_name or term.folded in capital or term.is_code}
    # A capital letter at the beginning belongs to a name if a name follows.
    names |= {one for one, next_ in pairwise(terms) if next_.is_name and _begins_name(one, next_)}
    values = {("code" if term.is_code else "name", term.folded.removesuffix("'s")) for term in names}
    values |= {(f"{each.kind} {each.dimension}", str(each.value)) for each in reading.amounts if not each.weak}
    words = {term.stem for term in terms if term not in names}
    return Segment(values=frozenset(values), words=frozenset(words | (_ENDS & {reading.text.partition(" ")[0]})))


def _begins_name(one: Term, other: Term) -> bool:
    return one.opens and one.written[:1].isupper() and other.start == one.start + len(one.written) + 1


def bound_otherwise(claim: Reading, grounds: Sequence[Ground], capital: frozenset[str]) -> Doubt | None:
    """Return a doubt if a claim gives the words of one quoted segment the value of another; else None."""
    quoted = [segments(ground.quote, capital) for ground in grounds if ground.quote]
    for part in segments(claim.text, capital):
        for kind in {kind for kind, _ in part.values}:
            mine = {value for each, value in part.values if each == kind}
            if any(_swapped(part, kind, mine, parts) for parts in quoted):
                name = "name" if kind in {"code", "name"} else kind.partition(" ")[0]
                return Doubt(code=f"{name}_unsupported", reason=f"The quote gives another {name} for this.")
    return None


def _swapped(part: Segment, kind: str, mine: set[str], parts: Sequence[Segment]) -> bool:
    anchors = _anchors(part, kind, parts)
    if not anchors:
        return False
    best = max(parts, key=lambda each: len(_shared(part, each) & anchors))
    theirs = {value for each, value in best.values if each == kind}
    covered = sum(covers(word, part.words) for word in best.words)
    if not theirs or theirs & mine or 2 * covered < len(best.words):
        return False
    for other in parts:
        held = {value for each, value in other.values if each == kind}
        if other is not best and held & mine and not _shared(part, other) & anchors:
            # Parallel segments: the other value has words of its own, which the claim does not use.
            own = {each for each in _things(other) - _things(best) if each[0] != kind}
            if own - _things(part):
                return True
    return False


def _things(part: Segment) -> set[tuple[str, str]]:
    return {("word", word) for word in part.words} | set(part.values)


def _shared(part: Segment, other: Segment) -> set[tuple[str, str]]:
    words = {("word", word) for word in part.words if covers(word, other.words)}
    return words | (part.values & other.values)


def _anchors(part: Segment, kind: str, parts: Iterable[Segment]) -> set[tuple[str, str]]:
    """Return what a claim's segment has in common with exactly one quoted segment, apart from values of this kind."""
    found: dict[tuple[str, str], int] = {}
    for other in parts:
        for thing in _shared(part, other):
            if thing[0] != kind:
                found[thing] = found.get(thing, 0) + 1
    return {thing for thing, count in found.items() if count == 1}
