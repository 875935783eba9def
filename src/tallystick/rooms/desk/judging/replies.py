"""The rules for a draft: every sentence that says something cites a piece of evidence that holds, and nobody's data."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.records import record
from tallystick.rooms.desk.judging.blocks import PERSONAL
from tallystick.rooms.desk.judging.matching import relevance, sentences, stems_of

CITATION = re.compile(r"\s*\[ev:([A-Za-z0-9_.-]{1,64})\]")
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,400})[”\"]")
_COURTESY = re.compile(
    r"^(?:hello|hi|hey|dear|good (?:morning|afternoon|evening))\b.{0,60}$|"
    r"^(?:thank you|thanks|many thanks)\b.{0,90}$|^(?:kind |best |warm )?(?:regards|wishes)\b.{0,60}$|"
    r"^(?:sincerely|yours)\b.{0,60}$|^(?:please )?(?:let (?:us|me) know|feel free to|do not hesitate)\b.{0,120}$|"
    r"^(?:we|i) hope (?:this|that) (?:helps|answers)\b.{0,40}$|^here is what (?:our|the) documents? say\w*:?$|"
    r"^is there anything else\b.{0,60}$|^you asked:?.{0,20}$",
    re.IGNORECASE,
)
SUPPORT = 0.5
"""The share of a sentence's words that must stand in what it cites: a citation beside other words proves nothing."""


@record
class Unsupported:
    """A sentence that says something nobody can check."""

    sentence: str
    why: str


def text_of(draft: str) -> str:
    """A draft as it is sent: without the references."""
    return CITATION.sub("", draft).strip()


def unsupported(draft: str, evidence: Mapping[str, str]) -> Iterator[Unsupported]:
    """Sentences of a draft that do not stand on evidence.

    Args:
        draft: With its references, `[ev:ID]` behind a sentence.
        evidence: Id → the verified snippet.
    """
    for sentence in _with_references(draft):
        said = CITATION.sub("", sentence).strip()
        if not any(map(str.isalnum, said)) or _COURTESY.match(said.rstrip(".!:,")):
            continue
        cited = CITATION.findall(sentence)
        if not cited:
            yield Unsupported(sentence=said, why="it cites nothing")
            continue
        missing = [name for name in cited if name not in evidence]
        if missing:
            yield Unsupported(sentence=said, why=f"there is no evidence {missing[0]} that holds")
            continue
        why = _unproved(said, " ".join(evidence[name] for name in cited))
        if why is not None:
            yield Unsupported(sentence=said, why=why)


def others_data(text: str, own: str) -> str | None:
    """Personal data that would go out and that the customer did not bring along."""
    return next((found[0] for found in PERSONAL.finditer(text) if found[0] not in own), None)


def _unproved(said: str, snippets: str) -> str | None:
    folded = fold_text(snippets)
    for quote in _QUOTED.findall(said):
        if find_quote(quote, folded) is None:
            return "what it quotes does not stand in what it cites"
    if not stems_of(said) or relevance(said, snippets) >= SUPPORT:
        return None
    return "what it says does not stand in what it cites"


def _with_references(draft: str) -> list[str]:
    """Sentences, each with the references that stand behind its stop."""
    joined = re.sub(r"([.!?])((?:\s*\[ev:[A-Za-z0-9_.-]{1,64}\])+)", r"\2\1", draft)
    return sentences(joined)


def evidence_texts(claimed: Any) -> dict[str, str]:
    """Id → snippet, of evidence that was verified before."""
    return {one.evidence_id: one.snippet for one in claimed}
