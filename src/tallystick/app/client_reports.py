"""Results that clients report for calls handed back to them."""

from typing import Any

from tallystick.app.wiring import Parts
from tallystick.errors import LedgerError
from tallystick.gate.execute.output import NotJsonError, to_output
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.unfinished import session_of


def report(parts: Parts, receipt_id: str, result: Any) -> str:
    """Record the result that a client reports and return the receipt's id; the gate does not verify the result.

    Raises:
        LedgerError: The receipt does not exist, its call was not handed back, or the result is not JSON.
    """
    handed = parts.ledger.find(receipt_id)
    if handed is None:
        raise LedgerError(f"There is no valid receipt {receipt_id:.60}.", code="receipt_unknown")
    if not (handed.header.get("outcome") or {}).get("handed_back"):
        raise LedgerError(f"{receipt_id} is no call that was handed back to a client.", code="not_handed_back")
    try:
        output = to_output(result)
    except NotJsonError:
        raise LedgerError("What is reported must be JSON.", code="result_not_json") from None
    draft = Draft(
        kind="report",
        session=session_of(handed.header),
        tool_id=handed.header.get("tool_id"),
        tool_version=handed.header.get("tool_version"),
        outcome={"status": "reported"},
        links={"outcome": receipt_id},
        outputs=output.data,
    )
    return parts.ledger.record_sync(draft).receipt_id
