"""Erase the payloads of a call: its arguments are in both its `started` record and its outcome.

The erasure records are written first, so a crash leaves a payload to erase again, never an erasure without a record.
"""

from collections.abc import Iterator
from typing import Protocol

from tallystick.errors import LedgerError
from tallystick.gate.record.journal import Journal
from tallystick.gate.record.receipt import Draft, Receipt
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
