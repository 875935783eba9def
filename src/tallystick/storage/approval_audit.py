"""The database part of an audit: checks that stored requests match their signed records."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.gate.decide.approvals import LIVE, Hold
from tallystick.gate.record.approval_records import ApprovalRecords, mismatch
from tallystick.gate.record.report import MAX_PROBLEMS, AuditReport, Problem
from tallystick.settings import CONTROL_ROOM, Settings

CODE = "approval_differs"
_PAGE = 1000
ReadHeader = Callable[[bytes], dict[str, Any] | None]


def live_requests(workspace: Path, settings: Settings) -> tuple[Hold, ...]:
    """Return the live requests; none if no approvals are stored. Creates and migrates nothing."""
    if settings.storage.database_url is None and not (workspace / CONTROL_ROOM / "tallystick.db").exists():
        return ()
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - the import takes a quarter of a second

    from tallystick.storage.approvals import SqlApprovalBook  # noqa: PLC0415
    from tallystick.storage.database import open_engine, schema_version  # noqa: PLC0415
    from tallystick.storage.migrations import HEAD  # noqa: PLC0415

    try:
        engine = open_engine(settings, workspace)
    except ConfigError:
        return ()
    try:
        # Tables of an earlier version have other digests for requests; opening the workspace migrates them.
        if schema_version(engine) != HEAD:
            return ()
        book, now = SqlApprovalBook(engine), time.time_ns() // 1_000_000
        return tuple(hold for state in sorted(LIVE) for hold in book.list(now, state=state, limit=_PAGE))
    except SQLAlchemyError:
        # Without the database no held call can run, and the log can be verified without it.
        return ()
    finally:
        engine.dispose()


def with_requests(
    report: AuditReport, requests: Sequence[Hold], batches: Iterable[list[bytes]], header: ReadHeader
) -> AuditReport:
    """Add the stored requests that differ from their records to a report.

    Args:
        report: The result of the log's audit.
        requests: The stored requests, read before the log.
        batches: The lines of the log.
        header: Parses a stored header; None if its signature is invalid.
    """
    if not requests:
        return report
    found = {hold.approval_id: ApprovalRecords() for hold in requests}
    for line in (line for batch in batches for line in batch if b'"approval":{' in line):
        known = header(line.partition(b"\t")[0]) or {}
        records = found.get(known.get("approval", {}).get("approval_id", ""))
        if records is not None:
            records.add(known)
    problems = [
        Problem(code=CODE, reason=f"{hold.approval_id}: {why}", session_id=hold.session.session_id)
        for hold in requests
        if (why := mismatch(hold, found[hold.approval_id]))
    ]
    return replace(report, problems=(*report.problems, *problems)[:MAX_PROBLEMS])
