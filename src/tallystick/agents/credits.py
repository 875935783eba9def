"""Credits: what an agent's work was worth, as events that only the system writes.

An event says what happened, to whom, and which receipt shows it. What it is worth follows from the table, never from
the event; a balance is the sum of the events and nothing else.
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
"""Who writes events that the gate itself found out."""


class Merit(StrEnum):
    """What can happen."""

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
    # To have nothing to add is no fault, and must not become a way to earn.
    Merit.ABSTAINED: 0,
    Merit.PROPOSAL_ACCEPTED: 3,
}

_INVENTED = frozenset({"quote_not_found", "no_such_file", "receipt_unknown", "record_unknown"})


@record
class CreditEvent:
    """One thing that happened."""

    event_id: str
    agent_id: str
    merit: Merit
    receipt_id: str
    """The receipt that shows it: of the reply check, or of what was accepted."""
    given_by: str
    """`system`, or who accepted; never the agent itself."""
    timestamp: str

    @property
    def points(self) -> int:
        """What it is worth."""
        return POINTS[self.merit]

    @property
    def same_thing(self) -> tuple[str, str, str]:
        """Two events that agree in this are one: what a receipt shows is credited once."""
        return self.agent_id, self.merit, self.receipt_id

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**asdict(self), "merit": str(self.merit), "points": self.points}

    @classmethod
    def from_dict(cls, value: Any) -> Self | Problem:
        """From the wire form; points that disagree with the table are damage."""
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
    """Why an event is not written."""
    if not event.receipt_id:
        message = "An event names the receipt that shows what happened."
        return Problem(code="credit_without_receipt", message=message, pointer="/receipt_id")
    if event.given_by.casefold() == event.agent_id.casefold():
        return Problem(code="credit_to_oneself", message="No agent credits itself.", pointer="/given_by")
    return None


def balances(events: Iterable[CreditEvent], opening: dict[str, int] | None = None) -> dict[str, int]:
    """What each agent has, from what happened."""
    totals = dict(opening or {})
    for event in events:
        totals[event.agent_id] = totals.get(event.agent_id, 0) + event.points
    return totals


def merit_of(findings: Findings) -> Merit | None:
    """What a checked reply is worth; None: nothing was claimed that could be verified."""
    if findings.abstained:
        return Merit.ABSTAINED
    if not findings.ok:
        return Merit.HALLUCINATION if _invents(findings) else Merit.VERIFICATION_FAILED
    # A request for access is valid, but proves nothing and earns nothing.
    if findings.request is not None or not findings.items:
        return None
    return Merit.PRECISE_QUOTE if any(map(_is_precise, findings.items)) else Merit.EVIDENCE_VERIFIED


def _invents(findings: Findings) -> bool:
    """Whether the reply cites what is not there: words no file holds, a file or receipt that does not exist."""
    return any(not item.ok and item.code in _INVENTED for item in findings.items)


def _is_precise(item: Item) -> bool:
    """A quote that stands in the file to the letter, with the place where."""
    matched = item.matched
    return item.ok and matched is not None and matched.quote is not None and not matched.normalised


@cache
def _event_schema() -> CompiledSchema:
    fields = {name: {"type": "string", "minLength": 1} for name in CreditEvent.__dataclass_fields__}
    properties = {**fields, "merit": {"enum": [str(merit) for merit in Merit]}, "points": {"type": "integer"}}
    schema = {
        "type": "object", "additionalProperties": False, "required": list(properties), "properties": properties,
    }  # fmt: skip
    return compile_schema(schema, closed=True)
