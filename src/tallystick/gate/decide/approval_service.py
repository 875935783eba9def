"""Ask a person: use a grant that waits for exactly this call, or write down the request."""

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.approvals import ApprovalBook, Grant, Hold, call_digest, canonical
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.session import Session


@dataclass(frozen=True, kw_only=True)
class ApprovalService:
    """Takes grants and holds requests. The book is opened on first need: most workspaces never ask anyone."""

    open_book: Callable[[], ApprovalBook]
    new_id: Callable[[], str]
    now_ms: Callable[[], int]
    ttl_s: int
    told: Callable[[Hold], None] | None = None
    """Is told of each request, also of one that is made again; a person must hear of it."""

    def take(self, proposal: Proposal, session: Session, policy_digest: str) -> Grant | None:
        """Use a grant for exactly this call, if a person gave one."""
        return self.open_book().take(_digest(proposal, session, policy_digest), self.now_ms())

    def hold(self, proposal: Proposal, decision: Decision, session: Session, policy_digest: str, shown: bytes) -> Hold:
        """Write down a request; the same one made again is found, not doubled."""
        now = self.now_ms()
        held = self.open_book().hold(
            Hold(
                approval_id=self.new_id(),
                digest=_digest(proposal, session, policy_digest),
                session=session,
                tool=proposal.card.name,
                args=canonical(proposal.args),
                shown=_shown_args(shown),
                policy_digest=policy_digest,
                reason=decision.reason,
                created=now,
                expires=now + self.ttl_s * 1000,
                tool_version=proposal.card.version,
                dry_run=proposal.dry_run,
                pointer=decision.pointer,
            )
        )
        if self.told is not None:
            self.told(held)
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
    """The arguments out of a receipt's payload, where secrets are already replaced."""
    payload = orjson.loads(inputs)
    return orjson.dumps(payload.get("normalised", payload)["args"])
