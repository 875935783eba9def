"""Approval requests: calls that wait for a person.

    held ──► granted ──► taken        granted: a person approved exactly this call
      │  ├─► edited ───► taken        edited:  a person approved the call with other arguments
      │  ├─► refused                  granted and edited expire like held
      │  └─► expired

A request is bound to the digest of caller, tool, exact arguments and policy, and to the session and agent that made the
call; if any of them changes, it is a different request. Granting runs nothing: the process that has the tool takes the
grant, once, when the call is resumed or repeated. The database implements `ApprovalStore` and reads the allowed
transitions from `MOVES`. Its content is trusted only where it matches the ledger's signed records
(`gate/record/approval_records.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Literal, Protocol

import orjson
import rfc8785

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED, HELD
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest
from tallystick.gate.decide.rules import pointer_of
from tallystick.gate.decide.tool_rule import UNDECIDABLE, ToolRule, verdict_in
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.session import Session

ASK = Decision(verdict="ask", fault=HELD, reason="approval_required")


def needed(proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Ask for approval if policy says ask or a rule whose `otherwise` is ask is broken, unless already granted."""
    # A grant is for exactly this call, so it satisfies every rule that asks for approval.
    if context.granted:
        return None
    if verdict_in(context, rule) == "ask":
        return ASK
    for check in rule.ask_checks:
        if check.binds(context.roles):
            if check.blind:
                return UNDECIDABLE
            if not check.accepts(proposal.args):
                return Decision(
                    verdict="ask", fault=HELD, reason="approval_required", pointer=pointer_of(check, proposal)
                )
    return None


class State(StrEnum):
    """The state of a request."""

    HELD = "held"
    GRANTED = "granted"
    EDITED = "edited"
    TAKEN = "taken"
    REFUSED = "refused"
    EXPIRED = "expired"


MOVES: dict[State, frozenset[State]] = {
    State.HELD: frozenset({State.GRANTED, State.EDITED, State.REFUSED, State.EXPIRED}),
    State.GRANTED: frozenset({State.TAKEN, State.EXPIRED}),
    State.EDITED: frozenset({State.TAKEN, State.EXPIRED}),
    State.TAKEN: frozenset(),
    State.REFUSED: frozenset(),
    State.EXPIRED: frozenset(),
}
"""The allowed transitions from each state; there are no others."""

LIVE: frozenset[State] = frozenset(state for state, onward in MOVES.items() if onward)
"""States that are not final; at most one live request exists per live digest."""


def sources(target: State) -> frozenset[State]:
    """Return the states from which the target can be reached."""
    return frozenset(state for state, onward in MOVES.items() if target in onward)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """One approval request. Times are milliseconds since the Unix epoch, UTC."""

    approval_id: str
    digest: str
    """Digest of the call that a grant covers; after an edit, of the edited call."""
    session: Session
    """The session of the call; resuming keeps its caller, roles and ids."""
    tool: str
    args: bytes
    """Canonical JSON, exactly as requested (or as edited). Emptied once the request reaches a final state."""
    shown: bytes
    """The arguments for display, with secrets masked; kept in final states."""
    policy_digest: str
    reason: str
    created: int
    expires: int
    tool_version: str = ""
    dry_run: bool = False
    pointer: str | None = None
    """JSON pointer of the argument that needs approval."""
    state: State = State.HELD
    person: str | None = None
    channel: str | None = None
    """How the person answered: `terminal`, or `token` (HTTP or browser, with the token printed at start-up)."""
    answered: int | None = None
    note: str | None = None
    """Why it was refused."""
    edited: bool = False
    """The person approved other arguments than the requested ones."""
    live_digest: str | None = None
    """The store's key for a live request (see `bindings.live_digest`); None once it reaches a final state."""

    @property
    def caller(self) -> str:
        """The subject of the caller."""
        return self.session.caller.subject

    @property
    def expires_at(self) -> str:
        """`expires` as RFC 3339, for the outcome's `held`."""
        return rfc3339(self.expires)

    def arguments(self) -> dict[str, Any]:
        """Return the exact arguments; empty once the request has reached a final state."""
        arguments: dict[str, Any] = orjson.loads(self.args) if self.args else {}
        return arguments

    def bound_digest(self) -> str:
        """Compute the digest of the stored call, which is the call that would run."""
        return call_digest(
            self.caller,
            self.tool,
            self.arguments(),
            self.policy_digest,
            tool_version=self.tool_version,
            dry_run=self.dry_run,
        )

    def request_digest(self) -> str:
        """Compute the digest of the stored request without the fields that an answer sets, as in the signed records.

        It covers the arguments through `digest`, so it can still be compared after they have been emptied.
        """
        bound = {
            "approval_id": self.approval_id,
            "created": self.created,
            "digest": self.digest,
            "dry_run": self.dry_run,
            "expires": self.expires,
            "pointer": self.pointer,
            "policy": self.policy_digest,
            "reason": self.reason,
            "session": orjson.loads(orjson.dumps(self.session, default=sorted)),
            "shown": sha256(self.shown).hexdigest(),
            "tool": self.tool,
            "tool_version": self.tool_version,
            "v": 1,
        }
        return sha256(canonical(bound)).hexdigest()

    def is_bound(self) -> bool:
        """Whether the digests of a live request match its content."""
        try:
            digest = self.bound_digest()
        except (ValueError, TypeError):  # the stored arguments are no longer a JSON object
            return False
        return digest == self.digest and self.live_digest == live_digest(digest, self.session)

    def with_arguments(self, args: Mapping[str, Any], shown: Mapping[str, Any]) -> "Hold | Unmoved":
        """Return the request with other arguments, bound to these instead of the requested ones."""
        try:
            stored, shown_args = canonical(dict(args)), canonical(dict(shown))
        except (rfc8785.CanonicalizationError, TypeError, ValueError):
            return Unmoved(why="bad_arguments", hold=self)
        changed = replace(self, args=stored, shown=shown_args, edited=True)
        digest = changed.bound_digest()
        return replace(changed, digest=digest, live_digest=live_digest(digest, self.session))

    def at(self, now: int) -> State:
        """Return the state at this time: a live request past its expiry has expired, even if not yet stored as such."""
        return State.EXPIRED if self.state in LIVE and now >= self.expires else self.state

    def as_dict(self) -> dict[str, Any]:
        """Return the form shown in lists and by the API."""
        # Use `shown`, never `args`: the output goes to terminals, pages and logs.
        wire = {
            "approval_id": self.approval_id,
            "state": str(self.state),
            "tool": self.tool,
            "caller": self.caller,
            "session_id": self.session.session_id,
            "agent_id": self.session.agent_id,
            "args": orjson.loads(self.shown),
            "dry_run": self.dry_run or None,
            "reason": self.reason,
            "pointer": self.pointer,
            "policy_digest": self.policy_digest,
            "created_at": rfc3339(self.created),
            "expires_at": self.expires_at,
            "person": self.person,
            "channel": self.channel,
            "answered_at": None if self.answered is None else rfc3339(self.answered),
            "note": self.note,
            "edited": self.edited or None,
        }
        return {key: value for key, value in wire.items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """A grant that has been taken; the receipt of the run names it."""

    approval_id: str
    person: str
    channel: str
    edited: bool = False

    def as_dict(self) -> dict[str, str]:
        """Return the header field `approval`; all values are strings."""
        wire = {"approval_id": self.approval_id, "person": self.person, "channel": self.channel}
        return {**wire, "edited": "true"} if self.edited else wire


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmoved:
    """Reports that an answer could not be applied to a request, and why."""

    why: Literal[
        "not_found", "not_waiting", "expired", "same_call_waits", "bad_arguments", "record_mismatch", "not_masked"
    ]
    hold: Hold | None = None
    """The request in its current state."""


class ApprovalStore(Protocol):
    """The store of requests. Every method may be called from several threads and processes at once."""

    def hold(self, wanted: Hold) -> Hold:
        """Store a new request, or return the identical one if it is still live."""
        ...

    def find(self, live_digest: str, now: int) -> Hold | None:
        """Find the live request for exactly this call of this agent in this session."""
        ...

    def take(self, live_digest: str, now: int) -> Grant | None:
        """Take the grant for exactly this call; of several concurrent callers only one gets it, once."""
        ...

    def grant(self, approval_id: str, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Approve the request; this runs nothing."""
        ...

    def refuse(self, approval_id: str, *, person: str, channel: str, now: int, reason: str) -> Hold | Unmoved:
        """Refuse the request, with a reason."""
        ...

    def edit(self, edited: Hold, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Approve other arguments, as made by `with_arguments`; resuming runs all checks on them again."""
        ...

    def get(self, approval_id: str, now: int) -> Hold | None:
        """Return one request in its current state."""
        ...

    def list(self, now: int, *, state: State | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """List requests, newest first."""
        ...

    def count(self, now: int, *, state: State | None = None) -> int:
        """Count requests."""
        ...


_NO_GRANT: dict[State, Decision] = {
    State.HELD: ASK,
    State.REFUSED: Decision(verdict="deny", fault=DENIED, reason="approval_refused"),
    State.EXPIRED: Decision(verdict="deny", fault=DENIED, reason="approval_expired"),
    State.TAKEN: Decision(verdict="deny", fault=DENIED, reason="approval_used"),
}
MISMATCH = Decision(verdict="deny", fault=DENIED, reason="approval_mismatch")
"""The stored request does not match the signed records of the request and its answer; the call must not run."""
OUTDATED = Decision(verdict="deny", fault=DENIED, reason="approval_outdated")
"""The policy or the tool changed after the approval; repeating the call creates a new request."""


def resume_refusal(hold: Hold, now: int, *, policy_digest: str, tool_version: str) -> Decision | None:
    """Return why a request cannot be resumed under this policy and tool; None if its grant can be taken."""
    # Check the state first: reporting a refused request as "outdated" would be misleading.
    refusal = _NO_GRANT.get(hold.at(now))
    if refusal is None and (hold.policy_digest, hold.tool_version) != (policy_digest, tool_version):
        return OUTDATED
    return refusal


def rfc3339(milliseconds: int) -> str:
    """Format a time as RFC 3339 in UTC, with milliseconds."""
    at = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
