"""Check every claim in the body against the verified items of the Evidence line.

The kind of claim determines the evidence it needs: content needs a quote, structure needs cited lines or a heading,
absence a verified search, and an action the receipt of a matching call. A receipt without a quote proves that a call
ran, but not the content of a claim, unless the claim only repeats the recorded result.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from tallystick.gate.codes import Bucket
from tallystick.gate.reply.absence_claims import absence_missing
from tallystick.gate.reply.findings import Item
from tallystick.gate.reply.quotations import quotations
from tallystick.gate.reply.sources import Sources
from tallystick.gate.reply.statements import Statement, read_statements
from tallystick.gate.reply.support.actions import (
    RecordedCall,
    action_failed,
    action_missing,
    call_of,
    fits,
    verbs_done,
    verbs_passive,
)
from tallystick.gate.reply.support.coverage import restates
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground, ground_of_result, ran
from tallystick.gate.reply.support.layout import layout_differs
from tallystick.gate.reply.support.readings import without_asides
from tallystick.gate.reply.support.rules import doubted, find_doubt
from tallystick.gate.reply.support.scorer import Judged, SupportScorer, source_of
from tallystick.gate.reply.surroundings import Checked, Surroundings
from tallystick.records import record
from tallystick.text.stems import stem

MAX_FAILURES = 20
_SHOWN = 200
_NO_CLAIMS = frozenset({"question", "courtesy", "unknown"})
_OPINIONS = frozenset({"claim_unsupported", "quote_missing"})
_MARK = re.compile("[\"“„«'‘]")  # noqa: RUF001
_CARD = 2_000
"""Maximum characters read from the profile file of a person when looking for other names of that person."""
_QUOTE_MISSING = Doubt(
    code="quote_missing",
    reason="A receipt or a line number alone does not support this claim; quote the text that does: "
    '"words" path:L12 or "words" receipt rcpt_….',
)
_STRUCTURE_MISSING = Doubt(
    code="structure_missing", reason="A claim about structure needs lines or a heading: path:L10-L20 or path § Heading."
)
MAX_JUDGED = 20
"""Claims of one reply that a scorer is asked about; each may take seconds."""
_JUDGED = {
    "contradicted": Doubt(
        code="judged_unsupported",
        reason="The judging model found that the quoted text does not say this; quote text that does, or leave it out.",
    ),
    "unsure": Doubt(
        code="judged_unsure", reason="The judging model could not tell whether the quoted text says this.", unsure=True
    ),
}
_NOT_JUDGED = Doubt(
    code="judged_unsure", reason=f"Only {MAX_JUDGED} claims of a reply are judged; this one was not.", unsure=True
)


@record
class CitedEvidence:
    """The evidence on the Evidence line, grouped by kind."""

    quotes: tuple[Ground, ...]
    receipts: tuple[Ground, ...]
    """Receipts cited without a quote."""
    structures: tuple[Ground, ...]
    placed: bool
    """Whether any quote is cited with line numbers or a heading, or comes from a tool result."""
    checked: tuple[Checked, ...]
    calls: tuple[RecordedCall, ...]
    card: Callable[[str], str]
    counts: frozenset[int]


@record
class Judgement:
    """What was found about the claims of a body."""

    failures: list[Item]
    """Claims that the evidence does not support."""
    unsure: list[Item]
    """Claims whose support is undecided."""
    judged: list[Judged]


def check_statements(lines: list[str], skip: set[int], checked: Sequence[Checked], around: Surroundings) -> Judgement:
    """Check the claims of a body by the rules, and those that pass by the scorer, if there is one."""
    statements = read_statements(lines, skip)
    shown = _shown(checked, statements, around)
    found = Judgement(failures=[], unsure=[], judged=[])
    for statement in statements:
        if not statement.claims:
            continue
        own = _with_quotations(statement, shown)
        doubt = _doubt(statement, own, around) or _scored(statement, own, around.scorer, found.judged)
        if doubt is None:
            continue
        if around.opinions and _is_opinion(statement, doubt):
            doubt = replace(doubt, unsure=True)
        (found.unsure if doubt.unsure else found.failures).append(_item(statement, doubt))
        if len(found.failures) == MAX_FAILURES:
            break
    return found


def _scored(
    statement: Statement, shown: CitedEvidence, scorer: SupportScorer | None, judged: list[Judged]
) -> Doubt | None:
    """Ask the scorer about a claim that the rules accepted; more claims than `MAX_JUDGED` stay undecided."""
    grounds = [*shown.quotes, *shown.receipts]
    if scorer is None or statement.kind == "absence" or not grounds:
        return None
    if len(judged) >= MAX_JUDGED:
        return _NOT_JUDGED
    found = scorer.judge(without_asides(statement.text), source_of(grounds))
    judged.append(found)
    return None if found.verdict == "supported" else _JUDGED[found.verdict]


def claims_nothing(lines: list[str], skip: set[int]) -> bool:
    """Whether a body needs no evidence: only courtesies, questions and statements that something is unknown."""
    kinds = {statement.kind for statement in read_statements(lines, skip)}
    return bool(kinds) and kinds <= _NO_CLAIMS and not any(True for _ in quotations(lines, skip))


def _with_quotations(statement: Statement, shown: CitedEvidence) -> CitedEvidence:
    """Add the quotations in the sentence itself; they were already found in a source named on the line."""
    if not _MARK.search(statement.text):
        return shown
    found = tuple(Ground(quote=quotation[0]) for quotation in quotations([statement.text], set()))
    return replace(shown, quotes=(*found, *shown.quotes)) if found else shown


def _is_opinion(statement: Statement, doubt: Doubt) -> bool:
    """Whether a sentence gives no number, name, negation or quantifier that could be checked."""
    reading = statement.reading
    checkable = reading.amounts or reading.negations or reading.quantifiers & {"every", "only", "most"}
    named = any(term.is_name or term.is_code for term in reading.terms)
    return doubt.code in _OPINIONS and statement.kind == "content" and not checkable and not named


def _shown(checked: Sequence[Checked], statements: Sequence[Statement], around: Surroundings) -> CitedEvidence:
    grounds = [ground for one in checked for ground in one.grounds]
    receipts = {ground.receipt.receipt_id: ground.receipt for ground in grounds if ground.receipt is not None}
    calls = tuple(
        call_of(
            str(receipt.header.get("tool_id", "")),
            receipt.inputs,
            receipt.outputs,
            ok=ran(receipt),
            receipt_id=receipt_id,
        )
        for receipt_id, receipt in receipts.items()
    )
    return CitedEvidence(
        quotes=tuple(ground for ground in grounds if ground.quote and ground.kind != "structural"),
        receipts=tuple(ground for ground in grounds if not ground.quote and ground.receipt is not None),
        structures=tuple(ground for ground in grounds if ground.kind == "structural"),
        placed=any(ground.receipt is not None or ground.placed for ground in grounds),
        checked=tuple(checked),
        calls=calls,
        card=partial(_card, around.sources),
        counts=frozenset({len(receipts), len(statements) - 1} - {0}),
    )


def _doubt(statement: Statement, shown: CitedEvidence, around: Surroundings) -> Doubt | None:
    if statement.kind == "absence":
        return absence_missing(statement.reading, shown.checked, around.sources, _content(statement, shown))
    if statement.kind == "structural" and shown.structures:
        return layout_differs(statement.reading, shown.structures)
    if statement.kind == "structural" and not shown.placed:
        return _STRUCTURE_MISSING
    if statement.kind == "action":
        return _action(statement, shown)
    return _content(statement, shown)


def _content(statement: Statement, shown: CitedEvidence) -> Doubt | None:
    if _repeats(statement, shown):
        return None
    if not shown.quotes:
        return _QUOTE_MISSING
    doubt = find_doubt(
        without_asides(statement.text), [*shown.quotes, *shown.receipts], counts=shown.counts, card=shown.card
    )
    return doubt or action_failed(statement.reading, shown.calls, verbs_passive(statement.text))


def _repeats(statement: Statement, shown: CitedEvidence) -> bool:
    """Whether a sentence only repeats the recorded result of a receipt that is cited without a quote."""
    results = [ground_of_result(cited.receipt) for cited in shown.receipts if cited.receipt is not None]
    grounds = [ground for ground in results if ground.quote]
    if not grounds or not restates(statement.reading, grounds):
        return False
    return not doubted(statement.text, grounds, counts=shown.counts)


def _action(statement: Statement, shown: CitedEvidence) -> Doubt | None:
    doubt = action_missing(statement.reading, shown.calls)
    if doubt is not None:
        return doubt
    known = frozenset(
        stem(verb) for verb in verbs_done(statement.text) if any(fits(verb, call) for call in shown.calls)
    )
    grounds = [*shown.quotes, *shown.receipts]
    return find_doubt(without_asides(statement.text), grounds, counts=shown.counts, known=known, card=shown.card)


def _card(sources: Sources, name: str) -> str:
    """Return the start of the first file whose name contains this person's name (their profile), or an empty string."""
    if not name.isalpha():
        return ""
    for spelling in (name, name.capitalize()):
        for path in sources.expand(f"**/*{spelling}*")[:1]:
            source = sources.read(path)
            return "" if source is None else source.text[:_CARD]
    return ""


def _item(statement: Statement, doubt: Doubt) -> Item:
    return Item(
        kind="claim",
        source=statement.text[:_SHOWN],
        ok=doubt.unsure,
        code=doubt.code,
        reason=doubt.reason,
        bucket=None if doubt.unsure else Bucket.EVIDENCE_INVALID,
    )
