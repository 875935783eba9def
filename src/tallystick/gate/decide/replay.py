"""Replay: decide a recorded call again.

`tally replay` checks that the recorded policy still gives the recorded decision; `tally policy replay` shows what
another policy would have decided. Both call `judge` with the content of the receipt; no tool runs.
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
"""Keys of the objects that replace proposed values in a receipt (see `gate/record/masks.py`)."""

_BEFORE_DECIDE = frozenset(
    fault.name
    for fault in (
        codes.FORMAT,
        codes.MULTIPLE,
        codes.TOOL_SYNTAX,
        codes.COT,
        codes.NONCE,
        codes.BAD_ARGS,
        codes.NO_PROVENANCE,
        codes.CANONICAL_WRITE,
    )
)
_AFTER_DECIDE = frozenset(
    [fault.name for fault in codes.FAULTS.values() if fault.ran] + [codes.LEDGER.name, codes.STALE.name]
)
_ASKED = frozenset({"approval_refused", "approval_expired", "approval_used", "approval_outdated", "approval_mismatch"})
"""Denial reasons of calls for which decide returned ask; the later answer is not part of the decision."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """One decided call, as read from its receipt."""

    card: Card
    args: Mapping[str, Any]
    """Normalised and as stored, with secrets masked."""
    context: Mapping[str, Any]
    """The header's `context`."""
    outcome: Mapping[str, Any]
    """The header's `outcome`: status, fault?, reason?, shadow?."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionSummary:
    """The comparable part of a decision. `reason` is empty for allow."""

    verdict: Verdict
    reason: str = ""
    would: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Redecided:
    """The recorded decision and the new one."""

    result: Replay
    was: DecisionSummary
    now: DecisionSummary | None = None
    """None if undecidable."""
    why: str = ""
    """Set if undecidable: `redacted` or `room_rule`."""


def was_decided(outcome: Mapping[str, Any]) -> bool:
    """Whether the call reached decide; a call rejected by admit has no decision to replay."""
    fault = outcome.get("fault")
    if fault == codes.UNKNOWN_TOOL.name:
        return outcome.get("reason") == "tool_not_known_to_policy"
    return fault not in _BEFORE_DECIDE


def redecide(recorded: Recorded, policy: Policy) -> Redecided:
    """Decide a recorded call by a policy, and compare the result with the recorded decision.

    The rule of the tool's plugin (room) is not run again, because the data it read is not stored. If it ran and allowed
    the call, only the policy's part is compared. If it did not allow the call and this policy would still pass the call
    on to it, the result is undecidable.
    """
    was = summary_of_outcome(recorded.outcome)
    context = context_from_record(recorded.context)
    rule = policy.rule_for(recorded.card)
    # Rules that read redacted arguments cannot be evaluated (`blind`); the others are evaluated again.
    if context.redacted:
        rule = rule.blinded(hidden_keys(recorded.args))
    proposal = Proposal(
        card=recorded.card, args=dict(recorded.args), proposed_tool=recorded.card.name, proposed_args=recorded.args
    )
    decision = judge(proposal, context, rule)
    if decision is UNDECIDABLE:
        return Redecided(result="undecidable", was=was, why="redacted")
    now = summary_of_decision(decision)
    # The digest is present exactly if the room's rule ran, which happens only after policy allowed the call.
    room_spoke = "snapshot" in recorded.context
    if room_spoke and now.verdict == "allow" and was.verdict != "allow":
        return Redecided(result="undecidable", was=was, why="room_rule")
    return Redecided(result="same" if now == was else "changed", was=was, now=now)


def summary_of_decision(decision: Decision) -> DecisionSummary:
    """Return the comparable part of a decision."""
    reason = "" if decision.verdict == "allow" else decision.reason
    return DecisionSummary(verdict=decision.verdict, reason=reason, would=decision.would)


def summary_of_outcome(outcome: Mapping[str, Any]) -> DecisionSummary:
    """Derive the decision from the outcome in a receipt."""
    fault = outcome.get("fault")
    reason = str(outcome.get("reason", ""))
    # A failed tool, ledger write or stale snapshot comes after the decision, which was allow.
    if fault is None or fault in _AFTER_DECIDE:
        return DecisionSummary(verdict="allow", would=outcome.get("shadow"))
    if fault == codes.HELD.name or reason in _ASKED:
        return DecisionSummary(verdict="ask", reason=REASON if reason == REASON else "approval_required")
    return DecisionSummary(verdict="deny", reason=reason)


def hidden_keys(args: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the arguments that contain a redacted value; None (any may be hidden) if no mark is found."""
    return frozenset(key for key, value in args.items() if _holds_mark(value)) or None


def _holds_mark(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not REDACTED_MARKS.isdisjoint(value) or any(_holds_mark(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_holds_mark(item) for item in value)
