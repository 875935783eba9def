"""Rules of policy and rooms about the call itself: denied tools, argument rules, the room's own rule.

In the order of the spec, the checks of provenance for durable writes and of direct canonical writes come between these.
They need only the arguments, so admit runs them before schema validation; a proposal that reaches decide passed both.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.tool_rule import UNDECIDABLE, ArgumentCheck, ToolRule
from tallystick.gate.decide.verdict import Context, Decision

RoomRule = Callable[[Proposal, Any], Decision]
"""A room's own rule. It must read only the proposal and the snapshot, so that replay is exact."""

TOOL_DENIED = Decision(verdict="deny", fault=DENIED, reason="tool_denied")
ROOM_RULE_FAILED = Decision(verdict="deny", fault=DENIED, reason="room_rule_failed")
UNREADABLE = "unreadable"
"""Used as the digest of a snapshot that cannot be read or hashed."""

_log = logging.getLogger(__name__)


def not_denied(_proposal: Proposal, _context: Context, rule: ToolRule) -> Decision | None:
    """Deny a tool that policy denies."""
    return TOOL_DENIED if rule.verdict == "deny" else None


def arguments_allowed(proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny arguments that break a rule whose `otherwise` is deny."""
    for check in rule.deny_checks:
        if check.binds(context.roles):
            if check.blind:
                return UNDECIDABLE
            if not check.accepts(proposal.args):
                return Decision(verdict="deny", fault=DENIED, reason=check.name, pointer=pointer_of(check, proposal))
    return None


def pointer_of(check: ArgumentCheck, proposal: Proposal) -> str:
    """Return the JSON pointer at which the arguments break the rule."""
    return check.explain(proposal.args)[0]


def ask_room(room_rule: RoomRule, proposal: Proposal, snapshot: Any, so_far: Decision) -> Decision:
    """Run the room's rule on a call that policy allows.

    The rule is third-party code. Fail closed: if it raises or returns no valid decision, the call is denied.
    """
    digest = UNREADABLE
    if snapshot is Unreadable:
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    try:
        digest = snapshot_digest(snapshot)
        said = room_rule(proposal, snapshot)
    except Exception:  # noqa: BLE001 - a room's code may raise anything
        _log.exception("the rule of %s failed", proposal.card.name)
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    if not isinstance(said, Decision) or (said.fault is None) != (said.verdict == "allow"):
        _log.error("the rule of %s gave no usable decision", proposal.card.name)
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    if said.verdict != "allow":
        return replace(said, snapshot_digest=digest)
    # Keep the shadow fields of the policy decision when the room allows the call.
    return Decision(
        verdict="allow", reason=said.reason or so_far.reason, pointer=said.pointer, shadowed=so_far.shadowed,
        would=so_far.would, args=said.args, snapshot_digest=digest,
    )  # fmt: skip


class Unreadable:
    """Marks a snapshot that could not be read; the call is denied without running the rule."""

    digest = UNREADABLE


def read_snapshot(read: Callable[[], Any] | None) -> Any:
    """Read the snapshot for a room's rule; `Unreadable` if the room's code raises."""
    if read is None:
        return None
    try:
        return read()
    except Exception:  # noqa: BLE001
        _log.exception("a room's snapshot cannot be read")
        return Unreadable


def snapshot_digest(snapshot: Any) -> str:
    """Return the snapshot's own `digest` if it has one, else the SHA-256 of its JSON with sorted keys.

    A rule without a snapshot gets the digest of null, so that the receipt shows that a rule ran.
    """
    own = getattr(snapshot, "digest", None)
    if isinstance(own, str):
        return own
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    return sha256(orjson.dumps(snapshot, default=_plain, option=options)).hexdigest()


def is_stale(decision: Decision, snapshot_now: Any) -> bool:
    """Whether the room decided on a snapshot that has changed since; a write must then be denied as `STALE`."""
    return decision.snapshot_digest is not None and snapshot_digest(snapshot_now) != decision.snapshot_digest


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError
