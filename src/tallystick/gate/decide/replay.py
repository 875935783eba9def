"""Deciding a recorded call again.

`tally replay` asks whether the recorded policy still gives the recorded answer; `tally policy replay` asks what
another policy would have said. Both feed what the receipt holds to `judge`; nothing is run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tallystick.gate import codes
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.context_record import context_from_record
from tallystick.gate.decide.decide import judge
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.provenance import REASON
from tallystick.gate.decide.tool_rule import UNDECIDABLE
from tallystick.gate.decide.verdict import Decision, Verdict
from tallystick.gate.tool import Card

Replay = Literal["same", "changed", "undecidable"]

REDACTED_MARKS = frozenset({"$redacted", "$masked", "$literal"})
"""Keys of the objects that stand in a receipt instead of what was proposed (see `gate/record/masks.py`)."""

_BEFORE_DECIDE = frozenset(
    fault.name
    for fault in (
        codes.FORMAT, codes.MULTIPLE, codes.TOOL_SYNTAX, codes.COT, codes.NONCE, codes.BAD_ARGS,
        codes.NO_PROVENANCE, codes.CANONICAL_WRITE,
    )
)  # fmt: skip
_AFTER_DECIDE = frozenset(
    [fault.name for fault in codes.FAULTS.values() if fault.ran] + [codes.LEDGER.name, codes.STALE.name]
)
_ASKED = frozenset({"approval_refused", "approval_expired", "approval_used", "approval_outdated", "approval_mismatch"})
"""Refusals of a call for which decide had said ask; what became of the question is no part of its answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What a receipt says about one decided call."""

    card: Card
    args: Mapping[str, Any]
    """As normalised, and as stored: secrets replaced."""
    context: Mapping[str, Any]
    """The header's `context`."""
    outcome: Mapping[str, Any]
    """The header's `outcome`: status, fault?, reason?, shadow?."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A decision, as far as it can be compared. `reason` is left empty for a plain allow."""

    verdict: Verdict
    reason: str = ""
    would: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Redecided:
    """The old answer beside the new one."""

    result: Replay
    was: Answer
    now: Answer | None = None
    """None: undecidable."""
    why: str = ""
    """For undecidable: `redacted` or `room_rule`."""


def was_decided(outcome: Mapping[str, Any]) -> bool:
    """Whether the call came as far as decide; what admit refused has no decision to repeat."""
    fault = outcome.get("fault")
    if fault == codes.UNKNOWN_TOOL.name:
        return outcome.get("reason") == "tool_not_known_to_policy"
    return fault not in _BEFORE_DECIDE


def redecide(recorded: Recorded, policy: Policy) -> Redecided:
    """Decide a recorded call by a policy, and compare.

    A room's rule is code over a snapshot that is gone; it is not asked again. Where it had run and had agreed, the
    policy's part alone is compared. Where it had refused and policy would still let the call come to it, nobody can
    say.
    """
    was = answer_from_outcome(recorded.outcome)
    context = context_from_record(recorded.context)
    rule = policy.rule_for(recorded.card)
    # Only the rules that read what is hidden are blind; the others are asked again.
    if context.redacted:
        rule = rule.blinded(hidden_keys(recorded.args))
    proposal = Proposal(
        card=recorded.card, args=dict(recorded.args), proposed_tool=recorded.card.name, proposed_args=recorded.args
    )
    decision = judge(proposal, context, rule)
    if decision is UNDECIDABLE:
        return Redecided(result="undecidable", was=was, why="redacted")
    now = answer_from_decision(decision)
    # The digest is there exactly when the room was asked, which is only when policy had let the call through.
    room_spoke = "snapshot" in recorded.context
    if room_spoke and now.verdict == "allow" and was.verdict != "allow":
        return Redecided(result="undecidable", was=was, why="room_rule")
    return Redecided(result="same" if now == was else "changed", was=was, now=now)


def answer_from_decision(decision: Decision) -> Answer:
    """The comparable part of a decision."""
    reason = "" if decision.verdict == "allow" else decision.reason
    return Answer(verdict=decision.verdict, reason=reason, would=decision.would)


def answer_from_outcome(outcome: Mapping[str, Any]) -> Answer:
    """What decide must have said, from what a receipt says came of the call."""
    fault = outcome.get("fault")
    reason = str(outcome.get("reason", ""))
    # A tool that failed, a ledger that could not write: the decision before that was yes.
    if fault is None or fault in _AFTER_DECIDE:
        return Answer(verdict="allow", would=outcome.get("shadow"))
    if fault == codes.HELD.name or reason in _ASKED:
        return Answer(verdict="ask", reason=REASON if reason == REASON else "approval_required")
    return Answer(verdict="deny", reason=reason)


def hidden_keys(args: Mapping[str, Any]) -> frozenset[str] | None:
    """The arguments that hold a redacted value; None when none can be found though some should be."""
    return frozenset(key for key, value in args.items() if _holds_mark(value)) or None


def _holds_mark(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not REDACTED_MARKS.isdisjoint(value) or any(_holds_mark(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_holds_mark(item) for item in value)
