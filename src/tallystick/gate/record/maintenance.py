"""Erasure of payloads and rotation of keys: the two operations on a log besides appending to it.

An erasure is recorded before the payload is erased: after a crash, a recorded erasure may still have to be carried
out, but no payload is erased without a record. A rotation is recorded with the old key's signature before the new keys
sign anything.
"""

from collections.abc import Iterator
from typing import Protocol

from tallystick.errors import LedgerError, LedgerUnwritable
from tallystick.gate.record.journal import Journal
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.record.record_signer import RecordSigner
from tallystick.gate.record.signing import Keys, signed_header
from tallystick.gate.session import Session


class Records(Protocol):
    """The ledger operations that erasing needs."""

    def find(self, receipt_id: str) -> Receipt | None:
        """Return a verified receipt, or None."""
        ...

    def session(self, session_id: str) -> Iterator[Receipt]:
        """Yield the receipts of a session."""
        ...

    def record_sync(self, draft: Draft) -> Receipt:
        """Store a record."""
        ...


def erase_call(ledger: Records, journal: Journal, receipt_id: str, *, session: Session, reason: str) -> Receipt:
    """Erase the payload of a receipt and of the other record (`started` or outcome) of the same call.

    Returns:
        The erasure record; if there are two, the one that names `receipt_id`.

    Raises:
        LedgerError: There is no such receipt.
    """
    found = ledger.find(receipt_id)
    if found is None:
        raise LedgerError(f"There is no valid receipt {receipt_id}.", code="receipt_unknown")
    same_call = [*_of_same_call(ledger, found), found]
    orders = [
        Draft(kind="erasure", session=session, links={"erased": receipt.receipt_id}, context={"reason": reason})
        for receipt in same_call
    ]
    receipts = [ledger.record_sync(order) for order in orders]
    # Erase the requested receipt last: while its payload remains, a failure is visible and erasing can be repeated.
    for receipt in same_call:
        journal.erase(receipt.seq)
    return receipts[-1]


def _of_same_call(ledger: Records, receipt: Receipt) -> list[Receipt]:
    """Find the `started` record of an outcome, or the outcome of a `started` record."""
    kind, links = receipt.header["kind"], receipt.header.get("links", {})
    if kind == "outcome" and "started" in links:
        started = ledger.find(links["started"])
        return [] if started is None else [started]
    if kind == "started":
        later = ledger.session(receipt.header["session_id"])
        return [one for one in later if one.header.get("links", {}).get("started") == receipt.receipt_id]
    return []


def rotate(keys: Keys, journal: Journal, signer: RecordSigner, session: Session) -> Receipt:
    """Activate new keys.

    All of it happens under the journal's lock: no other process takes this for an interrupted rotation, or signs with
    the old key after the record of the rotation.
    """
    place = journal.lock()
    try:
        rotation = keys.begin_rotation(place[0])
        header, factory = signer.prepare(Draft(kind="key_rotation", session=session, context=rotation.as_dict()))
        stored = factory(place)
        journal.write((stored,))
        keys.finish_rotation()
    except OSError as error:
        message = (
            f"The new keys cannot be stored ({error.strerror or error}). "
            "Check free space and permissions of the workspace, then try again."
        )
        raise LedgerUnwritable(message) from error
    finally:
        journal.unlock()
    return Receipt.just_written(header, stored.flat)


def settle_rotation(keys: Keys, journal: Journal) -> None:
    """Finish an interrupted rotation if its record is in the log, else abandon it."""
    if keys.pending_rotation() is not None:
        journal.lock()
        try:
            _settle(keys, journal)
        finally:
            journal.unlock()


def _settle(keys: Keys, journal: Journal) -> None:
    pending = keys.pending_rotation()
    if pending is None:
        return  # another process finished it before this one got the lock
    rotation, since = pending
    for columns in journal.read(since):
        header = signed_header(columns[0], keys) or {}
        if header.get("kind") == "key_rotation" and header.get("context") == rotation.as_dict():
            keys.finish_rotation()
            return
    keys.abandon_rotation()
