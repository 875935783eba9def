"""Show the result of an audit in plain words: everything verifies, or what was changed and where."""

from nicegui import ui

from tallystick.doors.web.parts.states import section
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.report import AuditReport, Problem

MOST = 20
MEANS = {
    "signature_invalid": "The record is not what was signed: somebody changed it, or wrote it without the key.",
    "chain_broken": "The record does not follow the one before it: something was put in, taken out or moved.",
    "sequence_broken": "A number is missing or stands twice: something was taken out or put in.",
    "payload_differs": "What was asked or came back is not what the record says.",
    "payload_missing": "What was asked or came back is gone, and no erasure says so.",
    "rolled_back": "Somebody outside has seen more records than there are: the end of the log was cut off.",
    "head_differs": "The head was made over other records than these.",
    "acknowledged_lost": "A record that was confirmed to its caller is gone.",
    "tree_differs": "The tree over all records is another than the one that was signed.",
    "checkpoint_differs": "A signed note was made over other records than these.",
    "view_differs": "The file of a session shows something else than the log holds.",
}
"""Explanations of problem codes; for other codes the reason in the report is shown."""


def audit_result(report: AuditReport, ledger: Ledger) -> None:
    """Show a report."""
    if report.ok:
        by = " and ".join(report.proved_by) or "nothing outside"
        words = f"All {report.size:,} receipts verify; proved up to {report.proved_up_to:,} by {by}."
        ui.label(words).classes("tally-card tally-good").props('role="status"')
        return
    with ui.column().classes("tally-card gap-2").props('role="alert"'):
        ui.label(f"The ledger does not verify: {len(report.problems)} found").classes("tally-bad text-weight-bold")
        section("What changed")
        for problem in report.problems[:MOST]:
            _problem(problem, ledger)


def _problem(problem: Problem, ledger: Ledger) -> None:
    with ui.column().classes("gap-0 tally-problem"):
        where = problem.receipt_id or ("" if problem.seq is None else f"record {problem.seq}")
        ui.label(f"{problem.code} {where}".strip()).classes("tally-mono tally-bad")
        ui.label(MEANS.get(problem.code, problem.reason)).classes("tally-text")
        if problem.code in MEANS:
            ui.label(problem.reason).classes("tally-soft tally-text")
        before = _before(problem, ledger)
        if before is not None:
            ui.label(f"The last record before it that holds: {before}").classes("tally-soft tally-mono")


def _before(problem: Problem, ledger: Ledger) -> str | None:
    """Return the last record before the problem that still verifies: later records cannot be relied on."""
    if problem.seq is None or problem.seq == 0:
        return None
    try:
        return next(iter(ledger.read(problem.seq - 1))).receipt_id
    except Exception:  # noqa: BLE001 - a damaged log may fail in any way, and this line is optional
        return None
