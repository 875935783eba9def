"""Check that every clause of a claim shares enough words with the quoted text."""

import re
from collections.abc import Sequence

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, akin, clauses, read
from tallystick.text.stems import stem
from tallystick.text.words import REQUEST_WORDS

MIN_COVERAGE = 0.34
"""Minimum share of a clause's words that must occur in the quotes or their context."""
MIN_TERMS = 2
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|can|could|must|may|might|shall|should|do|does|did)\b",
    re.IGNORECASE,
)
_REASON = re.compile(r"\b(?:because(?: of)?|thanks to|due to|owing to)\b([^.;]{3,})", re.IGNORECASE)
_MIN_REASON = 0.5
"""A stated reason needs a greater share: it is a claim of its own, and may not borrow the words of what it explains."""
_REPORTING = frozenset(map(stem, ("report", "return", "result", "state", "note", "tool")))
"""Words about the source rather than the content (`the tool reported`), which are not counted."""
_LEAD = re.compile(
    r"(?:in|on|at|for|from|per|according to|as|after|before|since|during|under|by|about|of|with)\b", re.IGNORECASE
)
"""Beginning of an introductory clause, which gives place or time; it needs no word coverage, and the other rules check
its names and numbers."""


def restates(claim: Reading, grounds: Sequence[Ground]) -> bool:
    """Whether every word of a claim occurs in these texts, so that the claim only repeats them."""
    held = read(" . ".join(f"{ground.quote} . {ground.context}" for ground in grounds))
    for part in map(read, clauses(claim.text)):
        terms = [term for term in part.terms if term.folded not in REQUEST_WORDS and term.stem not in _REPORTING]
        if not all(covers(term.stem, held.stems | held.words) for term in terms):
            return False
    return bool(claim.terms or claim.amounts)


def not_covered(claim: Reading, grounds: Sequence[Ground], known: frozenset[str] = frozenset()) -> Doubt | None:
    """Return a doubt if the quotes do not cover a clause of a claim; else None."""
    texts = (text for ground in grounds for text in (ground.quote, f"{ground.context} . {ground.sentence}"))
    stems = known.union(*(read(text).stems for text in texts))
    parts = clauses(claim.text)
    for place, part in enumerate(map(read, parts)):
        if (place < len(parts) - 1 and _LEAD.match(part.text)) or part.text.lower().startswith("according to"):
            continue
        share = coverage(part, stems)
        if share is not None and share < MIN_COVERAGE:
            return Doubt(code="claim_unsupported", reason=f"The quoted text does not say: {part.text[:80]}")
    return _reason_missing(claim, stems) or _predicate_missing(claim, stems)


def _predicate_missing(claim: Reading, stems: frozenset[str]) -> Doubt | None:
    """Return a doubt if the quotes contain a claim's subject but no word of its predicate."""
    for part in clauses(claim.text):
        verb = _VERB.search(part)
        if verb is None or not read(part[: verb.start()]).terms:
            continue
        said = read(part[verb.end() :])
        if len(said.terms) < MIN_TERMS or said.amounts or any(covers(term.stem, stems) for term in said.terms):
            continue
        return Doubt(code="claim_unsupported", reason=f"The quoted text does not say: {part[:80]}")
    return None


def _reason_missing(claim: Reading, stems: frozenset[str]) -> Doubt | None:
    found = _REASON.search(claim.text)
    given = read(found[1]).terms if found is not None else ()
    if found is None or not given:
        return None
    if sum(covers(term.stem, stems) for term in given) > _MIN_REASON * len(given):
        return None
    return Doubt(code="claim_unsupported", reason=f"The quoted text does not give this reason: {found[1].strip()[:80]}")


def coverage(part: Reading, stems: frozenset[str]) -> float | None:
    """Return the share of a clause's words that occur in a text; None if the clause is too short to tell."""
    terms = [term for term in part.terms if term.folded not in REQUEST_WORDS and term.stem not in _REPORTING]
    if len(terms) < MIN_TERMS:
        return None
    amounts = sum(not amount.weak for amount in part.amounts)
    covered = sum(covers(term.stem, stems) for term in terms)
    return (covered + amounts) / (len(terms) + amounts)


def covers(wanted: str, stems: frozenset[str]) -> bool:
    """Whether a word or a related form occurs in a text."""
    return wanted in stems or any(akin(wanted, each) for each in stems)
