"""Check that claim and quote agree in negation and that the claim does not use the opposite of a quoted word."""

import re
from collections.abc import Sequence
from functools import cache

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, clauses, form_stems, forms, read
from tallystick.text.stems import stem

_PREFIXES = ("un", "in", "im", "ir", "non", "dis")
_SHORTEST = 3
_ELLIPSIS = re.compile(r"\b(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could)$", re.IGNORECASE)
"""An elliptical clause (`but his clerk did`) affirms of someone else what was denied."""


def says_opposite(claim: Reading, grounds: Sequence[Ground]) -> Doubt | None:
    """Return a doubt if a claim says the opposite of the quoted text; else None."""
    quoted = [read(part) for ground in grounds for part in clauses(ground.quote)]
    for part in map(read, clauses(claim.text)):
        best = _nearest(part, quoted)
        if best is not None and _differs(part, best, claim, quoted):
            reason = "The claim contradicts the quoted text: they differ in a negation or use opposite words."
            return Doubt(code="negation_unsupported", reason=reason)
    if _asserts_denied(claim, quoted):
        return Doubt(code="negation_unsupported", reason="The claim states what the quoted text denies.")
    if claim.negations and not _any_negative(claim, quoted):
        return Doubt(code="negation_unsupported", reason="The claim has a negation, but the quoted text has none.")
    return None


def _asserts_denied(claim: Reading, quoted: Sequence[Reading]) -> bool:
    """Whether a claim without negation uses a word that the quote only negates."""
    if any(_ELLIPSIS.search(each.text) for each in quoted):
        return False
    if claim.negations or claim.has("soft_negation") or claim.has("possibility") or claim.has("report"):
        return False
    denied = frozenset(word for each in quoted for group in each.negated for word in group)
    return bool(denied & claim.stems - frozenset().union(*(each.stems for each in quoted if not each.negations)))


def _nearest(part: Reading, quoted: Sequence[Reading]) -> Reading | None:
    best = max(quoted, key=lambda each: (len(part.stems & each.stems), -len(each.terms)), default=None)
    return best if best is not None and part.stems & best.stems else None


def _differs(part: Reading, best: Reading, claim: Reading, quoted: Sequence[Reading]) -> bool:
    flips = _flips(part, best)
    ours, theirs = _governed(part), _governed(best)
    shared = part.stems & best.stems
    we, they = bool(part.negations), bool(best.negations)
    if flips % 2:
        return we == they
    if part.has("soft_negation") != best.has("soft_negation"):
        return False
    if theirs & shared and not we:
        # The negation may be in another clause of the claim.
        return not any(each.negations and _governed(each) & theirs for each in map(read, clauses(claim.text)))
    return bool(ours & shared) and not they and not any(each.negations for each in quoted)


def _governed(reading: Reading) -> frozenset[str]:
    return frozenset(word for group in reading.negated for word in group)


def _flips(part: Reading, best: Reading) -> int:
    """Return how many words of a clause have their opposite in the quote."""
    flips = sum(any(_is_negative(term.folded, other.folded) for other in best.terms) for term in part.terms)
    for word in part.words - best.words:
        others = _opposites().get(word, frozenset())
        if others & best.words and not others & part.words:
            flips += 1
    return flips


def _is_negative(one: str, other: str) -> bool:
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    if len(shorter) < _SHORTEST or longer == shorter:
        return False
    return any(longer == prefix + shorter for prefix in _PREFIXES) or longer == shorter + "less"


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in forms()["opposites"]:
        one, other = map(stem, pair.split())
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


def _any_negative(claim: Reading, quoted: Sequence[Reading]) -> bool:
    soft = form_stems("soft_negation") | form_stems("only") | form_stems("condition")
    if any(each.negations or each.words & soft for each in quoted) or claim.words & form_stems("soft_negation"):
        return True
    return any(_flips(part, each) for part in map(read, clauses(claim.text)) for each in quoted)
