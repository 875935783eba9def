"""What policy and a room say about the call itself: deny, argument rules, the room's own rule.

Provenance for durable writes and direct canonical writes come between these in the spec's order. They ask only
about arguments, so admit answers them before the schema does, and a proposal that reaches decide has passed both.
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
"""A room's own rule. It reads the proposal and the snapshot, nothing else, or replay would not be exact."""

TOOL_DENIED = Decision(verdict="deny", fault=DENIED, reason="tool_denied")
ROOM_RULE_FAILED = Decision(verdict="deny", fault=DENIED, reason="room_rule_failed")
UNREADABLE = "unreadable"
"""Stands for the digest of a snapshot that has none."""

_log = logging.getLogger(__name__)


def not_denied(_proposal: Proposal, _context: Context, rule: ToolRule) -> Decision | None:
    """Refuse a tool that policy denies."""
    return TOOL_DENIED if rule.verdict == "deny" else None


def arguments_allowed(proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Refuse arguments that break a rule whose `otherwise` is deny."""
    for check in rule.deny_checks:
        if check.binds(context.roles):
            if check.blind:
                return UNDECIDABLE
            if not check.accepts(proposal.args):
                return Decision(verdict="deny", fault=DENIED, reason=check.name, pointer=pointer_of(check, proposal))
    return None


def pointer_of(check: ArgumentCheck, proposal: Proposal) -> str:
    """Where the arguments break the rule."""
    return check.explain(proposal.args)[0]


def ask_room(room_rule: RoomRule, proposal: Proposal, snapshot: Any, so_far: Decision) -> Decision:
    """Let the room have the last word on a call that policy lets through.

    The room's code may be anyone's. If it raises or answers with something else, the call is refused: a rule that
    cannot be asked has not agreed.
    """
    digest = UNREADABLE
    if snapshot is Unreadable:
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    try:
        digest = snapshot_digest(snapshot)
        said = room_rule(proposal, snapshot)
    except Exception:  # noqa: BLE001 - a room's code, of which anything may come
        _log.exception("the rule of %s failed", proposal.card.name)
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    if not isinstance(said, Decision) or (said.fault is None) != (said.verdict == "allow"):
        _log.error("the rule of %s gave no usable decision", proposal.card.name)
        return replace(ROOM_RULE_FAILED, snapshot_digest=digest)
    if said.verdict != "allow":
        return replace(said, snapshot_digest=digest)
    # What shadow let through must not be forgotten because the room agrees.
    return Decision(
        verdict="allow", reason=said.reason or so_far.reason, pointer=said.pointer, shadowed=so_far.shadowed,
        would=so_far.would, args=said.args, snapshot_digest=digest,
    )  # fmt: skip


class Unreadable:
    """Stands for a snapshot that could not be read; no rule is asked about it, the call is refused."""

    digest = UNREADABLE


def read_snapshot(read: Callable[[], Any] | None) -> Any:
    """What a room's rule will read; a room's code, of which anything may come."""
    if read is None:
        return None
    try:
        return read()
    except Exception:  # noqa: BLE001
        _log.exception("a room's snapshot cannot be read")
        return Unreadable


def snapshot_digest(snapshot: Any) -> str:
    """Name what a rule read. A snapshot may bring its own `digest`; else it is the SHA-256 of its sorted JSON.

    A rule that reads no snapshot gets the digest of null, so that the receipt shows a rule was asked.
    """
    own = getattr(snapshot, "digest", None)
    if isinstance(own, str):
        return own
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS
    return sha256(orjson.dumps(snapshot, default=_plain, option=options)).hexdigest()


def is_stale(decision: Decision, snapshot_now: Any) -> bool:
    """Whether the room agreed on a snapshot that has changed since; a write must then be refused as `STALE`."""
    return decision.snapshot_digest is not None and snapshot_digest(snapshot_now) != decision.snapshot_digest


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError
