"""Changes that are no calls, in the ledger: who changed what, and when. What cannot be recorded is not done."""

from collections.abc import Mapping
from typing import Any

from tallystick.app.gate import Gate
from tallystick.errors import LedgerUnwritable
from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Caller, Session


def demand_ledger(gate: Gate) -> None:
    """Before a change: see that it could be recorded.

    Raises:
        LedgerUnwritable: It could not.
    """
    obstacle = gate.ledger.obstacle()
    if obstacle is not None:
        message = "The ledger cannot be written, so nothing was changed. `tally doctor` says why."
        raise LedgerUnwritable(message, code=obstacle)


def note_change(
    gate: Gate, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any] | None = None, *, session: str
) -> str:
    """After a change: record it; gives the record's id.

    Args:
        gate: The open workspace.
        caller: Who changed something.
        action: A fixed word, e.g. `agent.remove`.
        resource: What was changed.
        metadata: Ids and digests, never text.
        session: The session of such records.
    """
    audit: dict[str, Any] = {"subject": caller.subject, "action": action, "resource": resource}
    if metadata:
        audit["metadata"] = dict(metadata)
    where = Session(session_id=session, caller=caller)
    return gate.ledger.record_sync(Draft(kind="note", session=where, audit=audit)).receipt_id
