"""A question back to the customer, where the answer depends on what the message does not say."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.desk.language.overlap import relevance, stems_of
from tallystick.rooms.desk.options import DOCUMENT_TOOLS
from tallystick.rooms.desk.verdict.case import Case, VerifiedEvidence

NEAR = 0.75
"""What a further passage must be worth, in the best one, to be another answer."""
ALIKE = 0.35
"""The share of a title's words that two documents about parallel things have in common."""
FEW = 3
"""Words of a message that says hardly anything."""
TELL_MORE = "Could you tell us a little more: which product or order is it about, and what happened?"


def clarifying_question(case: Case) -> str | None:
    """Return what to ask the customer; None: nothing that was found depends on it."""
    for one, other in combinations(_near(case), 2):
        titles = _titles(case)
        first, second = titles.get(one.source, ""), titles.get(other.source, "")
        if _are_parallel(first, second) and not _names_one(case.content, first, second):
            return f"Which is it about: “{first}” or “{second}”?"
    if not case.counted and len(stems_of(case.content)) <= FEW:
        return TELL_MORE
    return None


def _near(case: Case) -> Sequence[VerifiedEvidence]:
    """The best passage of each document that is nearly as probable as the best of all."""
    best: dict[str, VerifiedEvidence] = {}
    for one in sorted(case.counted, key=lambda one: -one.relevance):
        best.setdefault(one.source, one)
    pieces = list(best.values())
    return [one for one in pieces if one.relevance >= NEAR * pieces[0].relevance]


def _are_parallel(first: str, second: str) -> bool:
    """Whether two titles name two of a kind: `Brisa 2, manual` and `Brisa 3, manual`."""
    if not first or not second or first == second:
        return False
    return min(relevance(first, second), relevance(second, first)) >= ALIKE


def _names_one(content: str, first: str, second: str) -> bool:
    """Whether a message says which of two it is about: it has a word that only one of the titles has."""
    said, mine, theirs = stems_of(content), stems_of(first), stems_of(second)
    return bool(said & (mine ^ theirs))


def _titles(case: Case) -> dict[str, str]:
    """Document → its title, by the signed results of searches."""
    return {str(one.get("doc")): str(one.get("title") or "") for receipt in case.ran() for one in _passages(receipt)}


def _passages(receipt: Receipt) -> Iterator[Mapping[str, object]]:
    outputs = receipt.outputs
    if receipt.header.get("tool_id") in DOCUMENT_TOOLS and isinstance(outputs, Mapping):
        listed = outputs.get("passages")
        yield from (one for one in (listed if isinstance(listed, list) else []) if isinstance(one, Mapping))
