"""Records and states of the desk: tickets, evidence, verdicts, reviews and outgoing messages.

A ticket is the JSON of the contract, kept as it came: fields that are unknown to us stay, in their order. What the desk
needs to know of it is read from there, so that a ticket goes out as it came in.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from tallystick.gate.session import valid_session_id
from tallystick.records import record

TICKET_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,119}")
"""Used in URLs, receipts and session names."""
_OURS = re.compile(r"(?:triage|tool|reply)_[0-9a-f]{24}")
_DIGITS = 24
MOVES: Mapping[str, frozenset[str]] = {
    "pending": frozenset({"running", "review", "done", "blocked", "failed"}),
    "running": frozenset({"pending", "done", "failed", "blocked", "review"}),
    "review": frozenset({"pending", "done", "blocked"}),
    "failed": frozenset({"pending"}),
    "done": frozenset(),
    "blocked": frozenset(),
}
"""`running → pending`: a lease that ended or was given back. `pending → done`: nothing had to be done."""
STATUSES = tuple(MOVES)
BACK_OFF_MS = (2_000, 10_000, 60_000, 300_000)
"""How long a ticket waits after each failure; after the last it stays failed, for a person to see."""
Kind = Literal["TRIAGE", "TOOL", "REPLY"]
Status = Literal["pending", "running", "done", "failed", "blocked", "review"]
Verdict = Literal["PROCEED", "DEFER", "BLOCK"]
Author = Literal["document", "memory", "customer", "log", "web", "tool"]
"""The author of a piece of evidence: the owner's documents, memory, customers, programs, web pages, or another tool."""
KINDS: tuple[Kind, ...] = ("TRIAGE", "TOOL", "REPLY")
VERDICTS: tuple[Verdict, ...] = ("PROCEED", "DEFER", "BLOCK")
BEFORE_SENDING = "review.before-sending"
"""The rule under which a reply that passed every check waits for a person."""
FLOWS: Mapping[Kind, str] = {"TRIAGE": "triage_v1", "TOOL": "tool_execution_v1", "REPLY": "reply_v1"}
"""The `flow_id` of tickets that are made here."""
TYPE = "DraftTicket"


@record
class Ticket:
    """A ticket, with what the desk keeps beside it."""

    body: Mapping[str, Any]
    """The contract's JSON: id, type, status, flow_id, event, metadata."""
    version: int = 0
    """Counts changes; a change is made against the version that was read."""
    attempts: int = 0
    not_before: int = 0
    """Epoch milliseconds: a ticket that failed waits."""
    lease_owner: str | None = None
    lease_until: int = 0
    """Epoch milliseconds, by the database's clock."""
    holder: str | None = None
    """The subject that leased it last or posted it with its outputs: only calls of that subject count for it.
    None: calls of the built-in worker count."""
    held_from: int = 0
    """Epoch milliseconds: from when on calls of the holder belong to this attempt; 0: no bound."""
    warnings: tuple[str, ...] = ()
    """What the schema would have said, and what of the policy cannot be meant."""
    judged: "Judgement | None" = None
    """The server's verdict. Any client may have written the one in `body`, so it decides nothing."""
    created: int = 0
    updated: int = 0

    @property
    def ticket_id(self) -> str:
        """Its id."""
        found: str = self.body["id"]
        return found

    @property
    def status(self) -> str:
        """The status."""
        return str(self.body.get("status", "pending"))

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What belongs to the flow; empty when it is no object."""
        return _object(self.body.get("metadata"))

    @property
    def event(self) -> Mapping[str, Any]:
        """What happened: the customer's words are in `content`."""
        return _object(self.body.get("event"))

    @property
    def kind(self) -> Kind | None:
        """What is to be done; None: unknown, so it stays pending."""
        return kind_of(self.body)

    @property
    def thread_id(self) -> str | None:
        """The conversation it belongs to."""
        found = self.event.get("thread_id")
        return found if isinstance(found, str) and found else None

    @property
    def content(self) -> str:
        """The customer's words."""
        found = self.event.get("content")
        return found if isinstance(found, str) else ""

    @property
    def tool_input(self) -> Mapping[str, Any]:
        """What a TOOL ticket is to work on."""
        return _object(self.metadata.get("tool_input"))

    @property
    def final_outputs(self) -> Mapping[str, Any]:
        """The outputs of the ticket."""
        return _object(self.metadata.get("final_outputs"))


def kind_of(body: Mapping[str, Any]) -> Kind | None:
    """What a ticket is: as it says, else as the name of its flow says; old tickets say only the latter."""
    said = _object(body.get("metadata")).get("kind")
    if said is not None:
        return next((kind for kind in KINDS if kind == said), None)
    flow = str(body.get("flow_id", "")).lower()
    return next((kind for kind in KINDS if kind.lower() in flow), None)


@record
class Need:
    """A question that must be answered before the customer can be."""

    question: str
    purpose: str = ""


@record
class Evidence:
    """A piece of a source that answers a need."""

    evidence_id: str
    """`ev_…`, unique in its ticket."""
    source: str
    """Where it is: a document's path, a record's reference."""
    snippet: str
    """Verbatim."""
    relevance_score: float
    need: int | None = None
    """The need it answers."""
    quote_ok: bool = False
    """Whether the snippet was found in the source by us."""
    receipt_id: str | None = None
    place: str | None = None
    """A section or lines."""
    author: Author = "tool"
    counts: bool = False
    """Whether it may answer a customer; if not, it is context for people."""

    def as_dict(self) -> dict[str, Any]:
        """The form in `tool_context.evidence`: the contract's three fields first."""
        said: dict[str, Any] = {
            "source": self.source,
            "snippet": self.snippet,
            "relevance_score": self.relevance_score,
            "evidence_id": self.evidence_id,
            "quote_ok": self.quote_ok,
            "author": self.author,
            "counts": self.counts,
        }
        more = {"need": self.need, "receipt_id": self.receipt_id, "place": self.place}
        return said | {name: value for name, value in more.items() if value is not None}


@record
class SourceUse:
    """A call whose result is evidence, and whether it counted toward the verdict."""

    receipt_id: str
    tool: str
    author: Author
    counts: bool

    def as_dict(self) -> dict[str, Any]:
        """The form in `tool_verdict.sources`."""
        return {"receipt_id": self.receipt_id, "tool": self.tool, "author": self.author, "counts": self.counts}


@record
class Judgement:
    """The server's verdict on a ticket."""

    status: Verdict
    rule_id: str
    """The rule that decided, as people see it."""
    reason: str
    others: tuple[tuple[str, str], ...] = ()
    """Further rules that would have decided so, with their reasons."""
    sources: tuple[SourceUse, ...] = ()
    """Where the evidence comes from, each call once for what counts of it and once for what does not."""

    def as_dict(self) -> dict[str, Any]:
        """The form in `tool_verdict`: the contract's two fields first."""
        said: dict[str, Any] = {"status": self.status, "reason": self.reason, "rule_id": self.rule_id}
        if self.others:
            said["also"] = [{"rule_id": rule, "reason": reason} for rule, reason in self.others]
        if self.sources:
            said["sources"] = [one.as_dict() for one in self.sources]
        return said

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> "Judgement":
        """From its own `as_dict`."""
        others = tuple((one["rule_id"], one["reason"]) for one in said.get("also", ()))
        sources = tuple(SourceUse(**one) for one in said.get("sources", ()))
        return cls(
            status=said["status"], rule_id=said["rule_id"], reason=said["reason"], others=others, sources=sources
        )


@record
class Outgoing:
    """A message of the outbox."""

    key: str
    """Made from the ticket: the same message has the same key wherever and however often it is tried."""
    ticket_id: str
    thread_id: str | None
    channel: str
    payload: Mapping[str, Any]
    state: str
    """queued, sending, sent, withheld, failed."""
    attempts: int = 0
    note: str = ""
    created: int = 0
    updated: int = 0


@record
class Review:
    """A review of a ticket by a person."""

    ticket_id: str
    state: str
    """waiting, taken, approved, rejected, returned (for more evidence)."""
    rule_id: str
    reason: str
    draft: str
    person: str | None = None
    """Who has it in hand."""
    taken_until: int = 0
    owner: str | None = None
    """To whom it was given; it stays theirs when they let it lie."""
    created: int = 0
    updated: int = 0


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def may_move(now: str, then: str) -> bool:
    """Whether a ticket may go from one status to another; to stay is no move."""
    return then in MOVES.get(now, frozenset())


def wait_after(attempts: int) -> int | None:
    """Milliseconds until the next attempt; None: no more."""
    return BACK_OFF_MS[attempts - 1] if 0 < attempts <= len(BACK_OFF_MS) else None


def is_ours(ticket_id: str) -> bool:
    """Whether an id is reserved for the desk: an imported one could take the place of a derived ticket."""
    return _OURS.fullmatch(ticket_id) is not None


def derived_id(kind: Kind, parent_id: str) -> str:
    """The id of the ticket of a kind that follows from another: there is one."""
    return f"{kind.lower()}_{digest(kind, parent_id)[:_DIGITS]}"


def session_of(ticket_id: str) -> str:
    """The session of all calls for a ticket; a receipt of another session says nothing about it."""
    plain = f"desk-{ticket_id}"
    return plain if valid_session_id(plain) else f"desk-{digest('session', ticket_id)[:_DIGITS]}"


def message_key(root_id: str) -> str:
    """The key of the one answer to what a customer wrote."""
    return digest("message", root_id)


def digest(*parts: str) -> str:
    """A name for parts in their order; no two lists of parts have the same."""
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()
