"""The part of an audit that looks into the database: do stored requests say what their signed records say?"""

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
    """Requests that can still come to something; none where no approvals are stored. Nothing is made or migrated."""
    if settings.storage.database_url is None and not (workspace / CONTROL_ROOM / "tallystick.db").exists():
        return ()
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415 - costs a quarter of a second

    from tallystick.storage.approvals import SqlApprovalBook  # noqa: PLC0415
    from tallystick.storage.database import open_engine, schema_version  # noqa: PLC0415
    from tallystick.storage.migrations import HEAD  # noqa: PLC0415

    try:
        engine = open_engine(settings, workspace)
    except ConfigError:
        return ()
    try:
        # Tables of an earlier version name requests otherwise; opening the workspace brings them up.
        if schema_version(engine) != HEAD:
            return ()
        book, now = SqlApprovalBook(engine), time.time_ns() // 1_000_000
        return tuple(hold for state in sorted(LIVE) for hold in book.list(now, state=state, limit=_PAGE))
    except SQLAlchemyError:
        # A database that is away runs nothing; the log can be examined without it.
        return ()
    finally:
        engine.dispose()


def with_requests(
    report: AuditReport, requests: Sequence[Hold], batches: Iterable[list[bytes]], header: ReadHeader
) -> AuditReport:
    """A report with the stored requests that differ from their records.

    Args:
        report: What the audit of the log found.
        requests: What is stored, read before the log.
        batches: The lines of the log.
        header: Gives a stored header if it is signed.
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
