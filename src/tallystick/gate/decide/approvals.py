"""Calls that wait for a person.

    held ──► granted ──► taken        granted: a person said yes to exactly this call
      │  ├─► edited ───► taken        edited:  a person said yes to the call with other arguments
      │  ├─► refused                  granted and edited expire like held
      │  └─► expired

A held call is a grant waiting to be given. It is bound to the digest of caller, tool, exact arguments and policy, and
to the session and agent that asked, so a change of any of them is another request. Giving a grant runs nothing: the
process that has the tool takes it, once, when the call is resumed or made again. The store satisfies `ApprovalBook`; it
reads the moves from the table here. What it stores is believed only as far as the ledger's signed records say the same
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
from tallystick.gate.decide.tool_rule import UNDECIDABLE, ToolRule
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.session import Session

ASK = Decision(verdict="ask", fault=HELD, reason="approval_required")


def needed(proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Hold a call that policy, or a broken rule whose `otherwise` is ask, leaves to a person; unless one agreed."""
    # The grant was taken for exactly this call, so it answers every question about it at once.
    if context.granted:
        return None
    if rule.verdict == "ask":
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
    """Where a request stands."""

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
"""From each state, where it may go. Nothing else moves a request."""

LIVE: frozenset[State] = frozenset(state for state, onward in MOVES.items() if onward)
"""States that can still come to something; at most one live request exists for a digest."""


def sources(target: State) -> frozenset[State]:
    """The states from which the target may be reached."""
    return frozenset(state for state, onward in MOVES.items() if target in onward)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """One request to a person. Times are milliseconds since 1970, UTC."""

    approval_id: str
    digest: str
    """What a grant would be for; after an edit, the digest of the edited call."""
    session: Session
    """Whose call it is and where it belongs; resuming it goes on under the same names and roles."""
    tool: str
    args: bytes
    """Canonical JSON, exactly as held (or as edited). Emptied once the request has come to its end."""
    shown: bytes
    """The arguments as people may see them, secrets replaced; kept."""
    policy_digest: str
    reason: str
    created: int
    expires: int
    tool_version: str = ""
    dry_run: bool = False
    pointer: str | None = None
    """The argument for which a rule asks."""
    state: State = State.HELD
    person: str | None = None
    channel: str | None = None
    """How the person reached us: terminal, start-up token, …"""
    answered: int | None = None
    note: str | None = None
    """Why it was refused."""
    edited: bool = False
    """The person agreed to other arguments than were asked for."""
    live_digest: str | None = None
    """What the store finds a live request by (see `bindings.live_digest`); None once it has come to its end."""

    @property
    def caller(self) -> str:
        """The subject whose call it is."""
        return self.session.caller.subject

    @property
    def expires_at(self) -> str:
        """`expires` as RFC 3339, for the outcome's `held`."""
        return rfc3339(self.expires)

    def arguments(self) -> dict[str, Any]:
        """The exact arguments; empty once the request has come to its end."""
        arguments: dict[str, Any] = orjson.loads(self.args) if self.args else {}
        return arguments

    def bound_digest(self) -> str:
        """The digest of the call as it is stored: what would run."""
        return call_digest(
            self.caller, self.tool, self.arguments(), self.policy_digest, tool_version=self.tool_version,
            dry_run=self.dry_run,
        )  # fmt: skip

    def request_digest(self) -> str:
        """Name the request as it is stored, but for what answering changes; the signed records hold this.

        The arguments themselves are in it by `digest`, so that it can be compared when they are gone.
        """
        bound = {
            "approval_id": self.approval_id, "created": self.created, "digest": self.digest, "dry_run": self.dry_run,
            "expires": self.expires, "pointer": self.pointer, "policy": self.policy_digest, "reason": self.reason,
            "session": orjson.loads(orjson.dumps(self.session, default=sorted)),
            "shown": sha256(self.shown).hexdigest(), "tool": self.tool, "tool_version": self.tool_version, "v": 1,
        }  # fmt: skip
        return sha256(canonical(bound)).hexdigest()

    def is_bound(self) -> bool:
        """Whether a live request is stored under the digests of what it holds."""
        try:
            digest = self.bound_digest()
        except (ValueError, TypeError):  # arguments that were changed into what is no JSON object
            return False
        return digest == self.digest and self.live_digest == live_digest(digest, self.session)

    def with_arguments(self, args: Mapping[str, Any], shown: Mapping[str, Any]) -> "Hold | Unmoved":
        """The request for other arguments, bound to these and no longer to what was asked."""
        try:
            stored, told = canonical(dict(args)), canonical(dict(shown))
        except (rfc8785.CanonicalizationError, TypeError, ValueError):
            return Unmoved(why="bad_arguments", hold=self)
        changed = replace(self, args=stored, shown=told, edited=True)
        digest = changed.bound_digest()
        return replace(changed, digest=digest, live_digest=live_digest(digest, self.session))

    def at(self, now: int) -> State:
        """The state at this time: a live request past its expiry has expired, whether or not anyone wrote it down."""
        return State.EXPIRED if self.state in LIVE and now >= self.expires else self.state

    def as_dict(self) -> dict[str, Any]:
        """What lists and the API show."""
        # From `shown`, never from `args`: this goes to terminals, pages and logs.
        wire = {
            "approval_id": self.approval_id, "state": str(self.state), "tool": self.tool, "caller": self.caller,
            "session_id": self.session.session_id, "agent_id": self.session.agent_id,
            "args": orjson.loads(self.shown), "dry_run": self.dry_run or None, "reason": self.reason,
            "pointer": self.pointer, "policy_digest": self.policy_digest, "created_at": rfc3339(self.created),
            "expires_at": self.expires_at, "person": self.person, "channel": self.channel,
            "answered_at": None if self.answered is None else rfc3339(self.answered), "note": self.note,
            "edited": self.edited or None,
        }  # fmt: skip
        return {key: value for key, value in wire.items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Grant:
    """A yes, taken. The receipt of the run names it."""

    approval_id: str
    person: str
    channel: str
    edited: bool = False

    def as_dict(self) -> dict[str, str]:
        """The header field `approval`: strings only."""
        wire = {"approval_id": self.approval_id, "person": self.person, "channel": self.channel}
        return {**wire, "edited": "true"} if self.edited else wire


@dataclass(frozen=True, kw_only=True, slots=True)
class Unmoved:
    """A request that could not be answered so."""

    why: Literal[
        "not_found", "not_waiting", "expired", "same_call_waits", "bad_arguments", "record_mismatch", "not_masked"
    ]
    hold: Hold | None = None
    """How it stands."""


class ApprovalBook(Protocol):
    """Where requests wait. Every method may be called from several threads and processes at once."""

    def hold(self, wanted: Hold) -> Hold:
        """Keep a new request; an identical one that is still live is given back instead."""
        ...

    def find(self, live_digest: str, now: int) -> Hold | None:
        """The live request for exactly this call of this agent in this session."""
        ...

    def take(self, live_digest: str, now: int) -> Grant | None:
        """Use a grant for exactly this call. Of any number of takers one gets it, once."""
        ...

    def grant(self, approval_id: str, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Say yes. Nothing runs here."""
        ...

    def refuse(self, approval_id: str, *, person: str, channel: str, now: int, reason: str) -> Hold | Unmoved:
        """Say no, and why."""
        ...

    def edit(self, edited: Hold, *, person: str, channel: str, now: int) -> Hold | Unmoved:
        """Say yes to other arguments, as `with_arguments` gives them. They are checked from the top when resumed."""
        ...

    def get(self, approval_id: str, now: int) -> Hold | None:
        """One request as it stands now."""
        ...

    def list(self, now: int, *, state: State | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """Requests, newest first."""
        ...

    def count(self, now: int, *, state: State | None = None) -> int:
        """How many requests there are."""
        ...


_NO_GRANT: dict[State, Decision] = {
    State.HELD: ASK,
    State.REFUSED: Decision(verdict="deny", fault=DENIED, reason="approval_refused"),
    State.EXPIRED: Decision(verdict="deny", fault=DENIED, reason="approval_expired"),
    State.TAKEN: Decision(verdict="deny", fault=DENIED, reason="approval_used"),
}
MISMATCH = Decision(verdict="deny", fault=DENIED, reason="approval_mismatch")
"""What is stored of a request is not what the signed records of hold and answer say; nothing may run on it."""
OUTDATED = Decision(verdict="deny", fault=DENIED, reason="approval_outdated")
"""Policy or tool changed after the person agreed; making the call again makes a new request."""


def resume_refusal(hold: Hold, now: int, *, policy_digest: str, tool_version: str) -> Decision | None:
    """Why a request cannot be resumed under this policy and tool; None: a grant waits to be taken."""
    # How it stands comes first: to hear "outdated" of a refused request would be misleading.
    refusal = _NO_GRANT.get(hold.at(now))
    if refusal is None and (hold.policy_digest, hold.tool_version) != (policy_digest, tool_version):
        return OUTDATED
    return refusal


def rfc3339(milliseconds: int) -> str:
    """A time as text, in UTC, with milliseconds."""
    at = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
