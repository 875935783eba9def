"""Proof of a lease: checked before anything else of a fill is read.

The token of a lease is a secret that only its holder has; the tables hold its hash. What a token was used for is kept,
so that a repeat is known as one, and a token that has done its work, or whose lease ran out, does nothing more.
"""

from hashlib import sha256
from hmac import compare_digest

from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.rooms.desk.model import Ticket, digest
from tallystick.rooms.desk.store import Transaction

NOT_LEASED = Problem(code="lease_missing", message="Nobody holds this ticket now. Lease it first.")
NOT_YOURS = Problem(code="lease_not_yours", message="Owner and token are not those of the present lease.")
EXPIRED = Problem(code="lease_expired", message="The lease has ended and the ticket went back. Lease it again.")
OURS = Problem(code="begun_by_worker", message="A worker of the desk has begun this ticket. Leave it to that one.")
USED = Problem(code="lease_token_used", message="This token has done its work already. Lease another ticket.")


@record
class Proof:
    """The lease token that a worker presents."""

    owner: str
    token: str

    @property
    def token_hash(self) -> str:
        """What the tables hold of it."""
        return sha256(self.token.encode("utf-8", "surrogatepass")).hexdigest()


def check(tx: Transaction, ticket: Ticket, proof: Proof) -> Problem | None:
    """Why a proof does not hold, by the database's clock; None: it does."""
    if tx.seen(_mark("used", ticket, proof.token_hash)) is not None:
        return USED
    if tx.seen(_mark("lost", ticket, proof.token_hash)) is not None:
        return EXPIRED
    if ticket.status != "running":
        return NOT_LEASED
    if ticket.lease_until == 0:
        return OURS
    kept = tx.lease_hash(ticket.ticket_id)
    if ticket.lease_owner != proof.owner or kept is None or not compare_digest(kept, proof.token_hash):
        return NOT_YOURS
    return EXPIRED if ticket.lease_until <= tx.clock() else None


def done_before(tx: Transaction, ticket: Ticket, proof: Proof, what: str) -> bool:
    """Whether the same was done before by the same holder with the same token."""
    return tx.seen(_deed(ticket, proof, what)) is not None


def mark_done(tx: Transaction, ticket: Ticket, proof: Proof, what: str) -> None:
    """Note what a token was used for; it is used up."""
    tx.first_time(_deed(ticket, proof, what), ticket.ticket_id)
    tx.first_time(_mark("used", ticket, proof.token_hash), ticket.ticket_id)


def mark_lost(tx: Transaction, ticket: Ticket) -> None:
    """Record that a lease expired, so that a late holder is told so."""
    kept = tx.lease_hash(ticket.ticket_id)
    if kept is not None:
        tx.first_time(_mark("lost", ticket, kept), ticket.ticket_id)


def _mark(how: str, ticket: Ticket, token_hash: str) -> str:
    return digest("lease", how, ticket.ticket_id, token_hash)


def _deed(ticket: Ticket, proof: Proof, what: str) -> str:
    return digest("deed", what, ticket.ticket_id, proof.owner, proof.token_hash)
