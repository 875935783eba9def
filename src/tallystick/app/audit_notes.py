"""Audit records of changes other than calls. A change that cannot be recorded is not made."""

from collections.abc import Mapping
from typing import Any, Protocol

from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Caller, Session


class HasLedger(Protocol):
    """An open workspace or its components: anything with a ledger."""

    @property
    def ledger(self) -> Ledger:
        """The receipts."""
        ...


def demand_ledger(gate: HasLedger) -> None:
    """Check that the ledger is writable before a change is made.

    Raises:
        LedgerUnwritable: The ledger cannot be written.
    """
    obstacle = gate.ledger.obstacle()
    if obstacle is not None:
        message = "The ledger cannot be written, so nothing was changed. `tally doctor` says why."
        raise LedgerUnwritable(message, code=obstacle)


def note_change(
    gate: HasLedger,
    caller: Caller,
    action: str,
    resource: str,
    metadata: Mapping[str, Any] | None = None,
    *,
    session: str,
) -> str:
    """Record a change after it was made; return the record's id.

    Args:
        gate: The open workspace.
        caller: Who made the change.
        action: A fixed identifier, e.g. `agent.remove`.
        resource: The changed object.
        metadata: Ids and digests, never text.
        session: The id of the session that holds these records.
    """
    audit: dict[str, Any] = {"subject": caller.subject, "action": action, "resource": resource}
    if metadata:
        audit["metadata"] = dict(metadata)
    where = Session(session_id=session, caller=caller)
    return gate.ledger.record_sync(Draft(kind="note", session=where, audit=audit)).receipt_id
