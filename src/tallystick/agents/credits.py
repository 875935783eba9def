"""Credits for agents' work, stored as events that only the system writes.

An event has a kind, an agent and the receipt that proves it. Its points come from the table, never from the event; a
balance is the sum of the points of all events.
"""

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from functools import cache
from typing import Any, Self

from tallystick.agents.problem import Problem, misfit
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.reply.findings import Findings, Item
from tallystick.records import record

SYSTEM = "system"
"""`given_by` of events that the gate itself detects."""


class Merit(StrEnum):
    """Kinds of credit events."""

    EVIDENCE_VERIFIED = "evidence_verified"
    PRECISE_QUOTE = "precise_quote"
    VERIFICATION_FAILED = "verification_failed"
    HALLUCINATION = "hallucination"
    ABSTAINED = "abstained"
    PROPOSAL_ACCEPTED = "proposal_accepted"


POINTS: dict[Merit, int] = {
    Merit.EVIDENCE_VERIFIED: 1,
    Merit.PRECISE_QUOTE: 2,
    Merit.VERIFICATION_FAILED: -2,
    Merit.HALLUCINATION: -3,
    # Abstaining is not a failure, and must not be a way to earn points.
    Merit.ABSTAINED: 0,
    Merit.PROPOSAL_ACCEPTED: 3,
}

_INVENTED = frozenset({"quote_not_found", "no_such_file", "receipt_unknown", "record_unknown"})


@record
class CreditEvent:
    """One credit event."""

    event_id: str
    agent_id: str
    merit: Merit
    receipt_id: str
    """The receipt that proves it: of the reply check, or of the accepted proposal."""
    given_by: str
    """`system`, or the person who accepted; never the agent itself."""
    timestamp: str

    @property
    def points(self) -> int:
        """The points of this event."""
        return POINTS[self.merit]

    @property
    def same_thing(self) -> tuple[str, str, str]:
        """The deduplication key: one receipt credits an agent at most once for each kind."""
        return self.agent_id, self.merit, self.receipt_id

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**asdict(self), "merit": str(self.merit), "points": self.points}

    @classmethod
    def from_dict(cls, value: Any) -> Self | Problem:
        """Read the wire form; points that differ from the table are reported as damage."""
        problem = misfit(_event_schema(), value, code="credits_damaged", what="An event cannot be read")
        if problem is not None:
            return problem
        given = dict(value)
        merit, points = Merit(given.pop("merit")), given.pop("points")
        if points != POINTS[merit]:
            message = f"'{merit}' is worth {POINTS[merit]}, not {points}. Undo the change."
            return Problem(code="credits_damaged", message=message, pointer="/points")
        return cls(merit=merit, **given)


def event_problem(event: CreditEvent) -> Problem | None:
    """Return why an event must not be written; None if it may."""
    if not event.receipt_id:
        message = "An event names the receipt that shows what happened."
        return Problem(code="credit_without_receipt", message=message, pointer="/receipt_id")
    if event.given_by.casefold() == event.agent_id.casefold():
        return Problem(code="credit_to_oneself", message="No agent credits itself.", pointer="/given_by")
    return None


def balances(events: Iterable[CreditEvent], opening: dict[str, int] | None = None) -> dict[str, int]:
    """Sum the points of each agent, starting from `opening`."""
    totals = dict(opening or {})
    for event in events:
        totals[event.agent_id] = totals.get(event.agent_id, 0) + event.points
    return totals


def merit_of(findings: Findings) -> Merit | None:
    """Return the credit event for a checked reply; None if it made no verifiable claim."""
    if findings.abstained:
        return Merit.ABSTAINED
    if not findings.ok:
        return Merit.HALLUCINATION if _invents(findings) else Merit.VERIFICATION_FAILED
    # A request for access is valid, but it verifies nothing and earns nothing; nor does a reply that is undecided.
    if findings.request is not None or findings.unsure or not findings.items:
        return None
    return Merit.PRECISE_QUOTE if any(map(_is_precise, findings.items)) else Merit.EVIDENCE_VERIFIED


def _invents(findings: Findings) -> bool:
    """Return whether the reply cites a quote, file or receipt that does not exist."""
    return any(not item.ok and item.code in _INVENTED for item in findings.items)


def _is_precise(item: Item) -> bool:
    """Return whether an item is a quote that matches its file exactly, without normalisation."""
    matched = item.matched
    return item.ok and matched is not None and matched.quote is not None and not matched.normalised


@cache
def _event_schema() -> CompiledSchema:
    fields = {name: {"type": "string", "minLength": 1} for name in CreditEvent.__dataclass_fields__}
    properties = {**fields, "merit": {"enum": [str(merit) for merit in Merit]}, "points": {"type": "integer"}}
    schema = {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
    return compile_schema(schema, closed=True)
