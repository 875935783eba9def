"""A ticket with what the ledger knows of it: only this is judged."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.session import LOCAL_OWNER
from tallystick.records import record
from tallystick.rooms.desk.deriving import event_of, needs_of
from tallystick.rooms.desk.judging.provenance import author_of, counts, quotable_texts
from tallystick.rooms.desk.judging.telling import focus
from tallystick.rooms.desk.nouns import Author, Need, SourceUse, Ticket
from tallystick.rooms.desk.options import VerdictPolicy

Effect = Callable[[str], str | None]
"""A tool's name → its effect; None: no such tool is here."""
LEAST = 0.3
"""What a search thinks less of is no answer: it knows all documents, and so which words of a question say most."""
_DONE = frozenset({"accepted", "transformed"})


@record
class Shown:
    """A piece of evidence that checks out: its words stand in the output of a call that was made for this ticket."""

    evidence_id: str
    source: str
    snippet: str
    need: int
    """Which need it speaks to."""
    relevance: float
    """How much of the need its best sentence answers."""
    receipt_id: str
    tool: str
    """Which gave it, by its receipt."""
    author: Author
    counts: bool
    """Whether it may answer a customer; if not, it is context for people."""
    about: tuple[str, ...] = ()
    """The headings it stands under, as the tool gave them."""
    found: float = 0.0
    """How much a search of ours thought of it."""
    rank: int = 0
    """How far down it was found."""


@record
class Case:
    """Everything a rule may look at."""

    ticket: Ticket
    content: str
    """The customer's words."""
    needs: tuple[Need, ...]
    triage: Mapping[str, Any]
    claimed: tuple[Mapping[str, Any], ...]
    """Evidence as the worker gives it."""
    trace: tuple[Mapping[str, Any], ...]
    """Calls as the worker tells them."""
    context: Mapping[str, Any]
    proposed: Mapping[str, Any]
    receipts: tuple[Receipt, ...]
    """Of this ticket's session, what whoever works on it has done: verified, in order."""
    shown: tuple[Shown, ...]
    """Evidence that checks out, whoever wrote it."""
    effect: Effect

    @property
    def counted(self) -> tuple[Shown, ...]:
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


def source_uses(pieces: Iterable[Shown]) -> tuple[SourceUse, ...]:
    """The calls that pieces of evidence come from, each once for what counts of it and once for what does not."""
    found = (
        SourceUse(receipt_id=one.receipt_id, tool=one.tool, author=one.author, counts=one.counts) for one in pieces
    )
    return tuple(dict.fromkeys(found))


def case_of(ticket: Ticket, receipts: Iterable[Receipt], effect: Effect, policy: VerdictPolicy) -> Case:
    """Read a TOOL ticket."""
    context, proposed = _object(ticket.final_outputs.get("tool_context")), _proposed(ticket)
    triage = _object(ticket.tool_input.get("triage"))
    found = tuple(one for one in receipts if _is_of_worker(ticket, one))
    needs = needs_of(triage)
    claimed = _objects(context.get("evidence"))
    content = event_of(ticket).get("content")
    return Case(
        ticket=ticket, content=content if isinstance(content, str) else "", needs=needs, triage=triage,
        claimed=claimed, trace=_objects(context.get("tool_trace")), context=context, proposed=proposed,
        receipts=found, shown=tuple(_shown(claimed, needs, found, policy)), effect=effect,
    )  # fmt: skip


def _is_of_worker(ticket: Ticket, receipt: Receipt) -> bool:
    """Whether whoever works on a ticket has done this.

    Anybody may name any session in a call. What others do in this one is no evidence, and silences no customer.
    """
    caller = receipt.header["caller"]
    if ticket.holder is not None:
        return bool(caller["subject"] == ticket.holder)
    # Calls that come through a door are marked with it, so only those of this process look like our own worker's.
    return (caller["subject"], caller["channel"]) == (LOCAL_OWNER.subject, LOCAL_OWNER.channel)


def _proposed(ticket: Ticket) -> Mapping[str, Any]:
    """The worker's word. Once the server has judged, its own stands there, and the worker's beside it."""
    said = _object(ticket.final_outputs.get("tool_verdict"))
    return _object(said.get("proposed")) if ticket.judged is not None else said


def _shown(
    claimed: Iterable[Mapping[str, Any]],
    needs: tuple[Need, ...],
    receipts: tuple[Receipt, ...],
    policy: VerdictPolicy,
) -> Iterator[Shown]:
    outputs = {one.receipt_id: one for one in receipts if one.header["kind"] == "outcome" and was_made(one)}
    for place, item in enumerate(claimed):
        snippet, receipt = item.get("snippet"), outputs.get(str(item.get("receipt_id")))
        source = item.get("source")
        if not isinstance(snippet, str) or not isinstance(source, str) or receipt is None:
            continue
        found = _stands(snippet, source, receipt, policy)
        if found is None:
            continue
        about, tool = headings_of(found.piece), _tool_of(receipt)
        name, thought = item.get("evidence_id"), _score(found.piece)
        need, relevance = best_need(needs, snippet, about, meant=_asked_for(needs, receipt))
        if thought is not None and thought < LEAST:
            relevance = min(relevance, thought)
        yield Shown(
            evidence_id=name if isinstance(name, str) and name else f"ev_{place + 1}", source=source, snippet=snippet,
            need=need, relevance=relevance, receipt_id=receipt.receipt_id, about=about, rank=found.rank,
            found=thought or 0.0, tool=tool, author=author_of(tool), counts=found.counts,
        )  # fmt: skip


def best_need(
    needs: tuple[Need, ...], snippet: str, about: tuple[str, ...] = (), *, meant: int | None = None
) -> tuple[int, float]:
    """Which need a snippet answers most, and how much. Worked out by us, whatever a worker says.

    Args:
        needs: What must be known.
        snippet: Verbatim.
        about: The headings it stands under.
        meant: The need it was found for, which is the first where two are answered alike.
    """
    scores = [focus(need.question, snippet, about) for need in needs] or [0.0]
    best = max(range(len(scores)), key=lambda place: (scores[place], place == meant, -place))
    return best, scores[best]


def _score(piece: Mapping[str, Any]) -> float | None:
    """What a search thought of a piece, 0 to 1: of our own tools, in a receipt that we signed."""
    score = piece.get("score")
    # A whole number is memory's, and only compares the passages of one answer.
    return score if isinstance(score, float) and 0 <= score <= 1 else None


def headings_of(piece: Mapping[str, Any]) -> tuple[str, ...]:
    """Title and section of a piece, where its tool names them."""
    return tuple(value for name in ("title", "section") if isinstance(value := piece.get(name), str) and value)


@record
class _Standing:
    """Where a snippet stands in what a call gave."""

    rank: int
    """How far down."""
    piece: Mapping[str, Any]
    counts: bool


def _stands(snippet: str, source: str, receipt: Receipt, policy: VerdictPolicy) -> _Standing | None:
    """Where the words stand in what the call gave, beside their source; a piece that counts comes first."""
    given = {"text": receipt.outputs} if isinstance(receipt.outputs, str) else receipt.outputs
    if isinstance(given, Mapping) and has_doubt(given):
        return None
    tool, args = _tool_of(receipt), _args_of(receipt)
    first: _Standing | None = None
    for rank, piece in enumerate(_pieces(given)):
        texts = (*piece.values(), fact_in(piece), *quotable_texts(tool, piece, policy))
        if source not in {tool, *_names(piece)} or not any(
            find_quote(snippet, fold_text(value)) is not None for value in texts if isinstance(value, str)
        ):
            continue
        counted = counts(snippet, tool=tool, piece=piece, args=args, policy=policy)
        found = _Standing(rank=max(0, rank - 1), piece=piece, counts=counted)
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


def has_doubt(result: Mapping[str, Any]) -> bool:
    """Whether memory itself says that what it found may be no answer: hardly related, or said of another."""
    return isinstance(result.get("doubt"), str)


def fact_in(piece: Mapping[str, Any]) -> str | None:
    """What memory holds for a fact, as a sentence; what is only claimed or disputed is none."""
    parts = [piece.get(name) for name in ("subject", "predicate", "object")]
    if piece.get("status") != "accepted" or not all(isinstance(part, str) and part for part in parts):
        return None
    subject, predicate, thing = map(str, parts)
    return f"{subject} {predicate.replace('_', ' ')} {thing}"


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
