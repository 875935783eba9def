"""Rules about the call itself: tools denied by policy, argument rules, and the rule of a room.

A room is a plugin that provides tools; it can supply a rule for each. Two more checks need only the arguments, so admit
runs them before schema validation, and a proposal that reaches decide has passed both: a durable write must name the
source of its data in an argument (`Card.provenance_key`), and no call may set a field that only the system sets
(`Card.owned_keys`).
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.tool_rule import UNDECIDABLE, ArgumentCheck, ToolRule, verdict_in
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.tool import Effect
from tallystick.records import record

RoomRule = Callable[[Proposal, Any], Decision]
"""A room's own rule. It must read only the proposal and the snapshot, so that replay is exact."""

TOOL_DENIED = Decision(verdict="deny", fault=DENIED, reason="tool_denied")
ROOM_RULE_FAILED = Decision(verdict="deny", fault=DENIED, reason="room_rule_failed")
UNREADABLE = "unreadable"
"""Used as the digest of a snapshot that cannot be read or hashed."""

_log = logging.getLogger(__name__)


@record
class RoomChecks:
    """What a room adds to the decision about its tool: a rule, the snapshot that the rule reads, secret arguments."""

    rule: Callable[..., Any] | None = None
    snapshot: Callable[[], Any] | Any = None
    """The snapshot itself, or the function that reads it."""
    room: str | None = None
    """The room that provides the tool."""
    secrets: frozenset[str] = frozenset()
    """Names of secret arguments."""

    @property
    def source(self) -> str:
        """Who wrote the rule, for messages."""
        return "This program" if self.room is None else f"The room {self.room}"

    @property
    def reads_state(self) -> bool:
        """Whether the snapshot may differ from call to call."""
        return callable(self.snapshot)

    def checks_again(self, effect: Effect) -> bool:
        """Whether the snapshot is compared once more before the tool starts."""
        return self.rule is not None and callable(self.snapshot) and effect != "read"


NO_ROOM_CHECKS = RoomChecks()


def not_denied(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Deny a tool that policy denies."""
    return TOOL_DENIED if verdict_in(context, rule) == "deny" else None


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
    if isinstance(snapshot, Unreadable):
        return rule_failed(f"its snapshot cannot be read ({snapshot.why})", UNREADABLE)
    try:
        digest = snapshot_digest(snapshot)
    except TypeError:
        _log.exception("the snapshot for the rule of %s is not JSON", proposal.card.name)
        return rule_failed("its snapshot is not JSON", UNREADABLE)
    try:
        said = room_rule(proposal, snapshot)
    except Exception as error:  # noqa: BLE001 - a room's code may raise anything
        _log.exception("the rule of %s failed", proposal.card.name)
        return rule_failed(_cause(error), digest)
    if (misuse := _misuse(said)) is not None:
        return rule_failed(misuse, digest)
    if said.verdict != "allow":
        return replace(said, snapshot_digest=digest)
    # Keep the shadow fields of the policy decision when the room allows the call.
    return Decision(
        verdict="allow",
        reason=said.reason or so_far.reason,
        pointer=said.pointer,
        shadowed=so_far.shadowed,
        would=so_far.would,
        args=said.args,
        snapshot_digest=digest,
    )


@record
class Unreadable:
    """Stands for a snapshot that could not be read; the call is denied without running the rule."""

    why: str
    digest: str = UNREADABLE


def rule_failed(why: str, digest: str | None) -> Decision:
    """Build the decision about a call whose rule cannot be applied. `why` names types, never values."""
    hint = f"the tool's rule failed: {why}. TALLY_DEBUG=1 shows where."
    return replace(ROOM_RULE_FAILED, snapshot_digest=digest, hint=hint)


def _misuse(said: Any) -> str | None:
    if not isinstance(said, Decision):
        return f"it returned {type(said).__name__} instead of Decision"
    fits = (said.fault is None) == (said.verdict == "allow")
    return None if fits else "its decision must have a `fault` unless the verdict is allow"


def _cause(error: Exception) -> str:
    """Describe an error of a room's code by its type; the texts of our own errors are made to be shown."""
    name = type(error).__name__
    return f"{name}: {str(error).rstrip('.')}" if isinstance(error, ConfigError) else name


def read_snapshot(read: Callable[[], Any]) -> Any:
    """Read the snapshot for a room's rule; `Unreadable` if the room's code raises."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001
        _log.exception("a room's snapshot cannot be read")
        return Unreadable(why=_cause(error))


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
