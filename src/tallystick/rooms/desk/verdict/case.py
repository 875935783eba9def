"""The case of a ticket: the ticket and its receipts from the ledger. Verdicts rest on nothing else."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.session import LOCAL_OWNER
from tallystick.records import record
from tallystick.rooms.desk.derivation import event_of, needs_of
from tallystick.rooms.desk.gather.evidence import best_need, fact_in, has_doubt, headings_of, probability_of
from tallystick.rooms.desk.gather.provenance import author_of, counts, quotable_texts
from tallystick.rooms.desk.kb.readable_text import read_passage
from tallystick.rooms.desk.model import Author, Need, SourceUse, Ticket
from tallystick.rooms.desk.options import DOCUMENT_TOOLS, VerdictPolicy
from tallystick.rooms.desk.triage.categories import MessageClassifier

Effect = Callable[[str], str | None]
"""A tool's name → its effect; None: no such tool is here."""
WORTH = 0.2
"""What answers with less probability is no evidence."""
_DONE = frozenset({"accepted", "transformed"})


@record
class VerifiedEvidence:
    """Verified evidence: its words occur in the output of a call that was made for this ticket."""

    evidence_id: str
    source: str
    snippet: str
    need: int
    """The need it answers."""
    relevance: float
    """How likely it answers the need."""
    receipt_id: str
    tool: str
    """Which gave it, by its receipt."""
    author: Author
    counts: bool
    """Whether it may answer a customer; if not, it is context for people."""
    about: tuple[str, ...] = ()
    """The headings above it, as the tool returned them."""
    text: str = ""
    """The snippet as a customer can read it."""


@record
class Case:
    """Everything that the rules may read."""

    ticket: Ticket
    content: str
    """The customer's words."""
    needs: tuple[Need, ...]
    categories: tuple[str, ...]
    """Of the message, by the desk's own classifier."""
    triage: Mapping[str, Any]
    claimed: tuple[Mapping[str, Any], ...]
    """Evidence as the worker gives it."""
    trace: tuple[Mapping[str, Any], ...]
    """Calls as the worker reports them."""
    context: Mapping[str, Any]
    proposed: Mapping[str, Any]
    receipts: tuple[Receipt, ...]
    """Verified receipts of this ticket's session that its worker caused, in order."""
    shown: tuple[VerifiedEvidence, ...]
    """Verified evidence of any author."""
    effect: Effect

    @property
    def counted(self) -> tuple[VerifiedEvidence, ...]:
        """Evidence that checks out and may answer a customer: all that covers a need or is quoted."""
        return tuple(one for one in self.shown if one.counts)

    def outcomes(self) -> Iterator[Receipt]:
        """Receipts of calls."""
        return (one for one in self.receipts if one.header["kind"] == "outcome")

    def ran(self) -> Iterator[Receipt]:
        """Receipts of calls that were made."""
        return (one for one in self.outcomes() if was_made(one))


def was_made(receipt: Receipt) -> bool:
    """Whether a call was let through and gave something."""
    outcome = receipt.header.get("outcome") or {}
    return outcome.get("status") in _DONE and "fault" not in outcome


def source_uses(pieces: Iterable[VerifiedEvidence]) -> tuple[SourceUse, ...]:
    """The calls that pieces of evidence come from, each once for what counts of it and once for what does not."""
    found = (
        SourceUse(receipt_id=one.receipt_id, tool=one.tool, author=one.author, counts=one.counts) for one in pieces
    )
    return tuple(dict.fromkeys(found))


def case_of(
    ticket: Ticket,
    receipts: Iterable[Receipt],
    effect: Effect,
    policy: VerdictPolicy,
    classifier: MessageClassifier,
) -> Case:
    """Read a TOOL ticket."""
    context, proposed = _object(ticket.final_outputs.get("tool_context")), _proposed(ticket)
    # A TRIAGE ticket that was left to people has its evidence itself.
    triage = _object(ticket.tool_input.get("triage")) or _object(ticket.final_outputs.get("triage"))
    found = tuple(one for one in receipts if _is_of_worker(ticket, one))
    needs = needs_of(triage)
    claimed = _objects(context.get("evidence"))
    content = event_of(ticket).get("content")
    return Case(
        ticket=ticket,
        content=content if isinstance(content, str) else "",
        needs=needs,
        categories=classifier.categories(content) if isinstance(content, str) else (),
        triage=triage,
        claimed=claimed,
        trace=_objects(context.get("tool_trace")),
        context=context,
        proposed=proposed,
        receipts=found,
        shown=tuple(_shown(claimed, needs, found, policy)),
        effect=effect,
    )


def _is_of_worker(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether the ticket's worker caused this receipt.

    Anybody may name any session in a call. What others do in this one is no evidence, and silences no customer.
    """
    caller = receipt.header["caller"]
    if ticket.holder is not None:
        return bool(caller["subject"] == ticket.holder)
    # Calls that come through a door are marked with it, so only those of this process look like our own worker's.
    return (caller["subject"], caller["channel"]) == (LOCAL_OWNER.subject, LOCAL_OWNER.channel)


def _proposed(ticket: Ticket) -> Mapping[str, Any]:
    """The worker's verdict; once the server has judged, it is kept under `proposed`."""
    said = _object(ticket.final_outputs.get("tool_verdict"))
    return _object(said.get("proposed")) if ticket.judged is not None else said


def _shown(
    claimed: Iterable[Mapping[str, Any]],
    needs: tuple[Need, ...],
    receipts: tuple[Receipt, ...],
    policy: VerdictPolicy,
) -> Iterator[VerifiedEvidence]:
    outputs = {one.receipt_id: one for one in receipts if one.header["kind"] == "outcome" and was_made(one)}
    for place, item in enumerate(claimed):
        snippet, receipt = item.get("snippet"), outputs.get(str(item.get("receipt_id")))
        source = item.get("source")
        if not isinstance(snippet, str) or not isinstance(source, str) or receipt is None:
            continue
        found = _find_snippet(snippet, source, receipt, policy)
        if found is None:
            continue
        about, tool = headings_of(found.piece), _tool_of(receipt)
        name, probability = item.get("evidence_id"), _probability(found.piece, receipt)
        need, relevance = best_need(needs, snippet, about, meant=_asked_for(needs, receipt), found=probability)
        yield VerifiedEvidence(
            evidence_id=name if isinstance(name, str) and name else f"ev_{place + 1}",
            source=source,
            snippet=snippet,
            need=need,
            relevance=relevance,
            receipt_id=receipt.receipt_id,
            about=about,
            text=_text_of(found.piece, snippet),
            tool=tool,
            author=author_of(tool),
            counts=found.counts,
        )


def _probability(piece: Mapping[str, Any], receipt: Receipt) -> float | None:
    """The probability that a search of the documents gave a piece, from its signed receipt."""
    return probability_of(piece, receipt.outputs) if _tool_of(receipt) in DOCUMENT_TOOLS else None


def _text_of(piece: Mapping[str, Any], snippet: str) -> str:
    """A snippet in the words that its tool gave for customers, else without quotations and markup."""
    given = piece.get("text")
    if piece.get("snippet") == snippet and isinstance(given, str) and given:
        return given
    return read_passage(snippet)


@record
class _SnippetMatch:
    """The part of a tool result that contains a snippet."""

    piece: Mapping[str, Any]
    counts: bool


def _find_snippet(snippet: str, source: str, receipt: Receipt, policy: VerdictPolicy) -> _SnippetMatch | None:
    """Find the part of a result that contains the words and names the source; prefer one that counts."""
    given = {"text": receipt.outputs} if isinstance(receipt.outputs, str) else receipt.outputs
    if isinstance(given, Mapping) and has_doubt(given):
        return None
    tool, args = _tool_of(receipt), _args_of(receipt)
    first: _SnippetMatch | None = None
    for piece in _pieces(given):
        texts = (*piece.values(), fact_in(piece), *quotable_texts(tool, piece, policy))
        if source not in {tool, *_names(piece)} or not any(
            find_quote(snippet, fold_text(value)) is not None for value in texts if isinstance(value, str)
        ):
            continue
        counted = counts(snippet, tool=tool, piece=piece, args=args, policy=policy)
        found = _SnippetMatch(piece=piece, counts=counted)
        if counted:
            return found
        first = first or found
    return first


def _tool_of(receipt: Receipt) -> str:
    return str(receipt.header.get("tool_id"))


def _args_of(receipt: Receipt) -> Mapping[str, Any]:
    inputs = receipt.inputs if isinstance(receipt.inputs, Mapping) else {}
    return _object(inputs.get("args"))


def _names(piece: Mapping[str, Any]) -> Iterator[str]:
    """What a piece may be called: any text in it, and the number of a record."""
    for name, value in piece.items():
        if isinstance(value, str) or (isinstance(value, int) and name.endswith("id")):
            yield str(value)


def _asked_for(needs: tuple[Need, ...], receipt: Receipt) -> int | None:
    """The need that a search was made for, in its own words."""
    query = _args_of(receipt).get("query")
    return next((place for place, need in enumerate(needs) if need.question == query), None)


def _pieces(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in an output: a passage with its document, a record with its id."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _pieces(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _pieces(inner)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()
