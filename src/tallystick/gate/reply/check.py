"""Check a reply step by step; the first failure determines the code.

1. In a conference (a discussion of several agents in rounds) the reply ABSTAIN is valid and is not checked further.
2. The reply is valid text within the length limit, without thinking and without tool syntax.
3. It has exactly one Evidence line (or, in the per-sentence form, a reference for each sentence). A reply that claims
   nothing, such as a greeting or a question, needs no Evidence line and passes here.
4. Every item on the line is verified.
5. Every receipt named anywhere in the reply is valid; if tools ran, at least one receipt is cited.
6. Every quotation in the body occurs in a source named on the line.
7. At least one item comes from a source required for the agent's role.
8. Every claim in the body is supported by the verified items.

Arguments other than `text`, the reply exactly as the model gave it:

- `sources`, `receipts`: the files and records the reply may cite, and the lookup for receipts;
- `session_id`, and in a conference `round_id` and `conference_id`: where its receipts must come from. ABSTAIN is a
  valid reply only if `conference` is true;
- `agent`: its id or role, which determines the required sources; `role_sources`: agent or role → sources, overrides
  `roles.DEFAULT_SOURCES`;
- `writings`: what agents wrote; an agent cannot cite its own text as a source (`own_text`);
- `author`: the author of the reply, whose earlier text is not accepted as evidence; by default the agent, or the
  session if no agent is named;
- `tools_ran`: whether tools ran before this reply; None: inferred from the reply text;
- `form`: one Evidence line, or a reference in each sentence;
- `tool_names`: ids and aliases of the tools, used to recognise calls in prose;
- `scorer`: judges the claims that every rule accepted; it can only refuse more.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from tallystick.gate.codes import Bucket
from tallystick.gate.quotes import split_lines
from tallystick.gate.reply.citations import check_claim
from tallystick.gate.reply.cited_figures import number_without_figure
from tallystick.gate.reply.claims import Claim, read_claims
from tallystick.gate.reply.evidence import EvidenceLine, LineFault, evidence_line, fenced_lines, split_items
from tallystick.gate.reply.findings import Findings, Form, Item
from tallystick.gate.reply.judgement import Judgement, check_statements, claims_nothing
from tallystick.gate.reply.leaks import find_leak, is_abstention, says_tool_was_used, tools_said_used
from tallystick.gate.reply.own_text import Author, OwnText, Writings
from tallystick.gate.reply.quotations import MAX_FAILURES, check_quotations, quotations
from tallystick.gate.reply.references import RECEIPT, REQUEST
from tallystick.gate.reply.roles import OUTLINE, looks_where_it_should, sources_of
from tallystick.gate.reply.sentences import Sentence, read_sentences, strip_references
from tallystick.gate.reply.sources import ReceiptBook, Sources, sha256_text
from tallystick.gate.reply.statements import MAX_STATEMENTS, too_many_statements
from tallystick.gate.reply.support.scorer import Judged, SupportScorer
from tallystick.gate.reply.surroundings import Checked, CitedText, Surroundings, is_own
from tallystick.records import record

MAX_REPLY = 262_144
"""Characters. A longer reply is refused before any search runs."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def check_reply(  # noqa: PLR0913 - everything the check depends on
    text: str,
    *,
    sources: Sources,
    receipts: ReceiptBook,
    writings: Writings,
    session_id: str,
    round_id: str | None = None,
    conference_id: str | None = None,
    agent: str | None = None,
    role_sources: Mapping[str, Sequence[str]] | None = None,
    author: Author | None = None,
    tools_ran: bool | None = None,
    form: Form = "line",
    conference: bool = False,
    tool_names: Iterable[str] = (),
    scorer: SupportScorer | None = None,
) -> Findings:
    """Check what a reply claims; the module docstring describes the arguments."""
    frame = Findings(ok=True, form=form, reply_sha256=sha256_text(text), abstained=conference and is_abstention(text))
    if frame.abstained:
        return frame
    names = tuple(tool_names)
    if (fault := _format_fault(text) or find_leak(text, names) or _length_fault(text, form)) is not None:
        return _refused(frame, *fault)
    around = Surroundings(
        sources=sources,
        receipts=receipts,
        own=OwnText(author or Author(session_id=session_id, agent=agent), writings, sources, receipts),
        session_id=session_id,
        round_id=round_id,
        conference_id=conference_id,
        conference=conference,
        opinions=conference or agent is not None,
        scorer=scorer,
    )
    if form == "per-sentence":
        return _check_sentences(text, frame, around)
    duties = _duties(text, names, sources_of(agent, role_sources or {}), tools_ran=tools_ran)
    return _check_line(text, frame, around, duties)


@record
class _Duties:
    """What a reply must cite in addition to the evidence of its claims."""

    sources: Sequence[str]
    """The sources of the agent's role; at least one must be cited."""
    must_cite: bool
    """Whether a receipt must be cited, because tools ran or the reply says that they did."""
    tools: Sequence[str]
    """Tools that the reply says were used; a receipt of each must be cited."""


def _duties(text: str, names: tuple[str, ...], sources: Sequence[str], *, tools_ran: bool | None) -> _Duties:
    named = tools_said_used(text, names)
    return _Duties(sources=sources, must_cite=bool(tools_ran or named) or says_tool_was_used(text), tools=named)


def _check_line(text: str, frame: Findings, around: Surroundings, duties: _Duties) -> Findings:
    lines = split_lines(text)
    line = evidence_line(lines)
    if isinstance(line, LineFault):
        if line.code == "no_evidence_line" and claims_nothing(lines, fenced_lines(lines)):
            return frame
        return _refused(frame, Bucket.EVIDENCE_INVALID, line.code, line.reason)
    items = split_items(line.body)
    if isinstance(items, LineFault):
        return _refused(frame, Bucket.EVIDENCE_INVALID, items.code, items.reason)
    frame = replace(frame, line=line.written)
    claims = [*read_claims(items, line.tag), *_receipts_in_body(lines, line)]
    if not claims:
        return _refused(frame, Bucket.EVIDENCE_INVALID, "no_items", "The Evidence line is empty; cite something.")
    skip = fenced_lines(lines) | set(range(line.number, line.last + 1))
    if any(claim.kind == "request" for claim in claims):
        return _check_request(frame, claims, around, quotes=any(quotations(lines, skip)))
    return _check_body(lines, skip, frame, claims, around, duties)


def _check_body(
    lines: list[str], skip: set[int], frame: Findings, claims: list[Claim], around: Surroundings, duties: _Duties
) -> Findings:
    """Check the items, then what must be cited, then what the body claims."""
    checked = [check_claim(claim, around) for claim in claims]
    failures = check_quotations(lines, skip, _texts(checked), partial(is_own, where=around), _absent(claims, checked))
    findings = _judged(frame, checked, failures)
    if findings.ok:
        findings = _check_duties(findings, checked, around, duties)
    if not findings.ok:
        return findings
    found = check_statements(lines, skip, checked, around)
    return replace(_judged(frame, checked, found.failures, tuple(found.unsure)), judged=tuple(found.judged))


def _check_duties(findings: Findings, checked: list[Checked], around: Surroundings, duties: _Duties) -> Findings:
    """Check what the reply is required to cite: a receipt if tools were used, and a source of the agent's role."""
    wanted = duties.sources
    if duties.must_cite and not findings.receipts:
        advice = "Tools were used; cite the receipts: receipt rcpt_…."
        return _refused(findings, Bucket.EVIDENCE_INVALID, "receipt_missing", advice)
    cited = {ground.receipt.header.get("tool_id") for one in checked for ground in one.grounds if ground.receipt}
    unused = [name for name in duties.tools if name not in cited]
    if unused:
        advice = f"No receipt of {unused[0]} is cited; cite it, or do not say that it was used."
        return _refused(findings, Bucket.EVIDENCE_INVALID, "tool_not_used", advice)
    outline = around.sources.outline() if OUTLINE in wanted else None
    if not looks_where_it_should(wanted, checked, outline.path if outline else None):
        advice = f"This role must cite at least one of: {', '.join(wanted)}."
        return _refused(findings, Bucket.EVIDENCE_INVALID, "role_source_missing", advice)
    return findings


def _check_sentences(text: str, frame: Findings, around: Surroundings) -> Findings:
    if text.strip().startswith(REQUEST):
        items = split_items(" ".join(text.split()))
        claims = [] if isinstance(items, LineFault) else read_claims(items)
        return _check_request(frame, claims, around, quotes=False)
    checked: list[Checked] = []
    failures: list[Item] = []
    unsure: list[Item] = []
    judged: list[Judged] = []
    for sentence in read_sentences(text):
        own = [check_claim(claim, around, bare_records=True) for claim in sentence.claims]
        checked += own
        if own and all(one.item.ok for one in own) and len(failures) < MAX_FAILURES:
            found = _check_sentence(sentence, own, around)
            failures += found.failures
            unsure += found.unsure
            judged += found.judged
        if not sentence.claims and not sentence.is_courtesy and len(failures) < MAX_FAILURES:
            failures.append(
                Item(
                    kind="sentence",
                    source=sentence.text[:200],
                    ok=False,
                    code="sentence_without_reference",
                    reason="Give this sentence a reference in square brackets, or leave it out.",
                    bucket=Bucket.EVIDENCE_INVALID,
                )
            )
    lines = split_lines(strip_references(text))
    failures += check_quotations(lines, fenced_lines(lines), _texts(checked), partial(is_own, where=around))
    return replace(_judged(frame, checked, failures), unsure=tuple(unsure), judged=tuple(judged))


def _check_sentence(sentence: Sentence, own: list[Checked], around: Surroundings) -> Judgement:
    """Check what a sentence claims against its own references alone."""
    if all(claim.figure is None for claim in sentence.claims):
        return check_statements([sentence.text], set(), own, around)
    strange = number_without_figure(sentence.text, sentence.claims, (text.text.text for text in _texts(own)))
    if strange is None:
        return Judgement(failures=[], unsure=[], judged=[])
    item = Item(
        kind="claim",
        source=sentence.text[:200],
        ok=False,
        code="number_unsupported",
        reason=f"No reference of this sentence gives {strange[:40]}; cite its figure, or leave it out.",
        bucket=Bucket.EVIDENCE_INVALID,
    )
    return Judgement(failures=[item], unsure=[], judged=[])


def _check_request(frame: Findings, claims: list[Claim], around: Surroundings, *, quotes: bool) -> Findings:
    """Check an access request, which must be the only item: the agent cannot cite a file it has not seen yet."""
    checked = [check_claim(claim, around) for claim in claims]
    findings = _judged(frame, checked, [])
    if findings.ok and (quotes or len(claims) != 1):
        advice = "A reply that requests access must not quote or cite anything else; send two replies."
        return _refused(findings, Bucket.EVIDENCE_INVALID, "request_not_alone", advice)
    return replace(findings, request=claims[0].scope) if findings.ok else findings


def _length_fault(text: str, form: Form) -> tuple[Bucket, str, str] | None:
    if form == "per-sentence" or not too_many_statements(text):
        return None
    return Bucket.FORMAT_ERROR, "too_many_sentences", f"Keep a reply under {MAX_STATEMENTS} sentences."


def _format_fault(text: str) -> tuple[Bucket, str, str] | None:
    if len(text) > MAX_REPLY:
        return Bucket.FORMAT_ERROR, "reply_too_long", f"Keep a reply under {MAX_REPLY} characters."
    if not text.strip():
        return Bucket.FORMAT_ERROR, "reply_empty", "The reply is empty."
    if _HALF_CHARACTER.search(text):
        return Bucket.FORMAT_ERROR, "reply_not_text", "The reply contains lone surrogates; send valid Unicode."
    return None


def _receipts_in_body(lines: list[str], line: EvidenceLine) -> list[Claim]:
    """Return claims for receipts named only outside the Evidence line: they must be valid too."""
    cited = set(RECEIPT.findall(line.written))
    found = (
        receipt
        for number, text in enumerate(lines)
        if not line.number <= number <= line.last and "rcpt_" in text
        for receipt in RECEIPT.findall(text)
    )
    return [
        Claim(kind="tool_result", source=receipt, receipt=receipt)
        for receipt in dict.fromkeys(found)
        if receipt not in cited
    ]


def _texts(checked: list[Checked]) -> list[CitedText]:
    return [text for one in checked for text in one.texts]


def _absent(claims: list[Claim], checked: list[Checked]) -> list[str]:
    return [claim.term for claim, one in zip(claims, checked, strict=True) if claim.term and one.item.ok]


def _judged(frame: Findings, checked: list[Checked], failures: list[Item], unsure: tuple[Item, ...] = ()) -> Findings:
    items = (*(one.item for one in checked), *failures)
    receipts = tuple(dict.fromkeys(item.source for item in items if item.kind == "tool_result" and item.ok))
    findings = replace(frame, items=items, receipts=receipts, unsure=unsure)
    for item in items:
        if not item.ok:
            return _refused(findings, item.bucket or Bucket.EVIDENCE_INVALID, item.code or "", item.reason or "")
    return findings


def _refused(findings: Findings, bucket: Bucket, fault: str, reason: str) -> Findings:
    return replace(findings, ok=False, bucket=bucket, fault=fault, reason=reason)
