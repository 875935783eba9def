"""Links from an issue to its sessions and receipts: `.control-room/audit/issues/<issueId>/`."""

from datetime import UTC, datetime
from pathlib import Path

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.session import valid_session_id
from tallystick.storage.journal.disk import make_folder, write_whole
from tallystick.storage.ledger import audit_folder


def link_issue(
    workspace: Path, ledger: Ledger, session_id: str, issue_id: str, *, round_id: str | None = None
) -> list[str]:
    """Store which receipts of a session belong to an issue and return their ids; linking again updates the list.

    Args:
        workspace: The project's folder.
        ledger: Its receipts.
        session_id: The session of the receipts.
        issue_id: The issue.
        round_id: Only receipts of this conference round; None: all of the session.

    Raises:
        ConfigError: An id is not valid as a folder name.
    """
    for name in (session_id, issue_id):
        if not valid_session_id(name):
            raise ConfigError(
                f"{name!r:.60} cannot be an id: letters, digits, dot, dash, underscore", code="id_invalid"
            )
    receipts = [
        receipt.receipt_id
        for receipt in ledger.session(session_id)
        if round_id is None or receipt.header.get("round_id") == round_id
    ]
    link = {
        "issue_id": issue_id,
        "session_id": session_id,
        "receipts": receipts,
        "linked_at": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    folder = audit_folder(workspace) / "issues" / issue_id
    make_folder(folder)
    write_whole(folder / f"{session_id}.json", orjson.dumps(link, option=orjson.OPT_INDENT_2))
    return receipts
