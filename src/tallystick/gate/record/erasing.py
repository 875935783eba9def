"""Erasing what a call held: its arguments stand in the record before it ran as well as in its outcome.

The orders are recorded first. A crash in between leaves a payload to erase again, never an erasure that nobody ordered.
"""

from collections.abc import Iterator
from typing import Protocol

from tallystick.errors import LedgerError
from tallystick.gate.record.journal import Journal
from tallystick.gate.record.receipt import Draft, Receipt
from tallystick.gate.session import Session


class Records(Protocol):
    """What erasing asks of the ledger."""

    def find(self, receipt_id: str) -> Receipt | None:
        """A receipt that verifies."""
        ...

    def session(self, session_id: str) -> Iterator[Receipt]:
        """The receipts of a session."""
        ...

    def record_sync(self, draft: Draft) -> Receipt:
        """Store a record."""
        ...


def erase_call(ledger: Records, journal: Journal, receipt_id: str, *, session: Session, reason: str) -> Receipt:
    """Erase the payload of a receipt, and of the record that was made when its call began.

    Returns:
        The record of the order; of the one that names `receipt_id`, where there are two.

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
    # The one that was asked for comes last: while it is there, a failure shows and erasing can be repeated.
    for receipt in same_call:
        journal.erase(receipt.seq)
    return receipts[-1]


def _of_same_call(ledger: Records, receipt: Receipt) -> list[Receipt]:
    """The `started` record of an outcome, or the outcome of a `started` record."""
    kind, links = receipt.header["kind"], receipt.header.get("links", {})
    if kind == "outcome" and "started" in links:
        started = ledger.find(links["started"])
        return [] if started is None else [started]
    if kind == "started":
        later = ledger.session(receipt.header["session_id"])
        return [one for one in later if one.header.get("links", {}).get("started") == receipt.receipt_id]
    return []
