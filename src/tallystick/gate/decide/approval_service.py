"""Approval by a person: take an existing grant for exactly this call, or create a request."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.approvals import MISMATCH, ApprovalStore, Grant, Hold, State
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest, storable_text
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.session import Session


@dataclass(frozen=True, kw_only=True)
class ApprovalService:
    """Takes grants and stores requests. The store is opened on first use, since most workspaces need no approvals."""

    open_store: Callable[[], ApprovalStore]
    new_id: Callable[[], str]
    now_ms: Callable[[], int]
    ttl_s: int
    proved: Callable[[Hold], bool]
    """Whether the stored request matches its signed records."""
    notify: Callable[[Hold], None] | None = None
    """Called for each request, repeated ones included, so that a person is notified."""

    def take(self, proposal: Proposal, session: Session, policy_digest: str) -> Grant | Rejection | None:
        """Take the grant for exactly this call of this agent in this session, if a person gave one.

        Returns:
            The grant; None if there is none; a rejection if the stored request does not match its signed records.
        """
        store, now = self.open_store(), self.now_ms()
        wanted = live_digest(_digest(proposal, session, policy_digest), session)
        found = store.find(wanted, now)
        if found is None or found.state is State.HELD:
            return None
        if not self.proved(found):
            return Rejection(fault=DENIED, reason=MISMATCH.reason, proposed_tool=proposal.card.name)
        return store.take(wanted, now)

    def request(
        self, proposal: Proposal, decision: Decision, session: Session, policy_digest: str, shown: bytes
    ) -> Hold | Rejection:
        """Return the live request for this call, or a new one, which must be recorded before `store` is called."""
        now, digest = self.now_ms(), _digest(proposal, session, policy_digest)
        found = self.open_store().find(live_digest(digest, session), now)
        if found is not None and (found.digest != digest or not found.is_bound()):
            # Stored under the digest of this call, but for another one: recording it would sign a tampered request.
            return Rejection(fault=DENIED, reason=MISMATCH.reason, proposed_tool=proposal.card.name)
        return found or Hold(
            approval_id=self.new_id(),
            digest=digest,
            live_digest=live_digest(digest, session),
            session=session,
            tool=proposal.card.name,
            args=canonical(proposal.args),
            shown=_shown_args(shown),
            policy_digest=policy_digest,
            reason=storable_text(decision.reason),
            created=now,
            expires=now + self.ttl_s * 1000,
            tool_version=proposal.card.version,
            dry_run=proposal.dry_run,
            pointer=None if decision.pointer is None else storable_text(decision.pointer),
        )

    def store(self, recorded: Hold) -> Hold:
        """Store a request that the ledger has recorded, or return the same one if it was stored in the meantime."""
        store = self.open_store()
        held = store.get(recorded.approval_id, self.now_ms()) or store.hold(recorded)
        if self.notify is not None:
            self.notify(held)
        return held


def _digest(proposal: Proposal, session: Session, policy_digest: str) -> str:
    return call_digest(
        session.caller.subject,
        proposal.card.name,
        proposal.args,
        policy_digest,
        tool_version=proposal.card.version,
        dry_run=proposal.dry_run,
    )


def _shown_args(inputs: bytes) -> bytes:
    """Extract the arguments from a receipt's payload, in which secrets are already masked."""
    payload = orjson.loads(inputs)
    return orjson.dumps(payload.get("normalised", payload)["args"])
