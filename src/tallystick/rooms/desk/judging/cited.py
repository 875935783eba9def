"""The rules for a draft as a whole: what it cites is disputed nowhere, and speaks of what each question turns on.

A true sentence can be no answer, and a sentence that one document proves can be wrong in another.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.gate.reply.sentences import read_sentences
from tallystick.records import record
from tallystick.rooms.desk.judging.asking import Spoken, unanswered
from tallystick.rooms.desk.judging.case import Case, Shown, headings_of
from tallystick.rooms.desk.judging.contradicting import contradicted
from tallystick.rooms.desk.judging.saying import RECORD, spoken
from tallystick.rooms.desk.options import DOCUMENT_TOOLS


@record
class _Cited:
    sentence: str
    pieces: tuple[Shown, ...]


def disputed(case: Case, draft: str) -> str | None:
    """What a passage that a search gave says differently, though the worker did not choose it as evidence."""
    passages = list(_passages(case))
    for one in _cited(case, draft):
        for piece in one.pieces:
            for passage in passages:
                source = str(passage.get("doc"))
                if source == piece.source:
                    continue
                told = contradicted((one.sentence,), piece.about, str(passage.get("snippet")), headings_of(passage))
                if told is not None:
                    return f"{piece.source} and {source} disagree: {told}"
    return None


def beside(case: Case, draft: str) -> str | None:
    """The question that the sentences of a draft pass by."""
    cited = list(_cited(case, draft))
    pieces = list({piece.evidence_id: piece for one in cited for piece in one.pieces}.values())
    leads = {each.sentence: each.under for piece in pieces for each in spoken(piece.snippet)}
    said = Spoken.of([piece.about for piece in pieces], [(one.sentence, leads.get(one.sentence, "")) for one in cited])
    for need in case.needs:
        lacks = unanswered(need.question, said)
        if lacks is not None:
            return f"in the draft, {lacks}: {need.question}"
    return None


def cited_pieces(case: Case, draft: str) -> tuple[Shown, ...]:
    """The pieces of evidence that a draft cites."""
    return tuple(piece for one in _cited(case, draft) for piece in one.pieces)


def _cited(case: Case, draft: str) -> Iterator[_Cited]:
    shown = {one.evidence_id: one for one in case.counted}
    for sentence in read_sentences(draft, kind=RECORD):
        names = [claim.record.removeprefix(f"{RECORD}:") for claim in sentence.claims if claim.record is not None]
        if not sentence.is_courtesy:
            yield _Cited(sentence=sentence.text, pieces=tuple(shown[name] for name in names if name in shown))


def _passages(case: Case) -> Iterator[Mapping[str, Any]]:
    """What searches of the knowledge base gave for this ticket."""
    for receipt in case.ran():
        if receipt.header.get("tool_id") not in DOCUMENT_TOOLS:
            continue
        outputs = receipt.outputs if isinstance(receipt.outputs, Mapping) else {}
        found = outputs.get("passages")
        for passage in found if isinstance(found, list) else []:
            if isinstance(passage, Mapping) and "doc" in passage and "snippet" in passage:
                yield passage
