"""A token without roles is refused by every route of the API document, and nothing is done for it."""

import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.doorway import Doorway, bearer
from tests.doors.http.test_roles import OPEN, ask, routes

COUNTED = (Path(".control-room/audit"), Path(".control-room/telemetry"))
"""Hold the receipts of the refusals, which are looked at one by one, and their count."""


def contents(workspace: Path) -> dict[str, str]:
    """A digest of every file of a workspace but where refusals are recorded; of a database, of its rows."""
    found: dict[str, str] = {}
    for path in sorted(workspace.rglob("*")):
        inside = path.relative_to(workspace)
        recorded = any(inside.is_relative_to(folder) for folder in COUNTED)
        if path.is_file() and not recorded and path.suffix not in {".db-wal", ".db-shm"}:
            found[str(inside)] = sha256(rows_of(path) if path.suffix == ".db" else path.read_bytes()).hexdigest()
    return found


def rows_of(path: Path) -> bytes:
    database = sqlite3.connect(path)
    try:
        return "\n".join(database.iterdump()).encode()
    finally:
        database.close()


def seed(door: Doorway) -> None:
    """A ticket that can be leased, an observation and a file: what a denied request must not touch."""
    (door.workspace / "secret.md").write_text("4111 1111 1111 1111\n")
    event = {"ticket_id": "ticket_0", "type": "message", "content": "My card is 4111 1111 1111 1111."}
    assert door.post("/events", event, headers=bearer("admin")).status_code < 300
    told = {"text": "Ada lives in Lisbon.", "source": "diary", "class": "document"}
    assert door.post("/api/memory/texts", told, headers=bearer("admin")).status_code == 200


@pytest.mark.promise("doors.deny-by-default")
def test_a_token_without_roles_is_denied_by_every_route_and_nothing_is_done(locked: Doorway) -> None:
    seed(locked)
    walked = sorted(routes(locked) - OPEN)
    assert len(walked) > 150
    before, since = contents(locked.workspace), len(locked.receipts())
    for route in walked:
        for roles in ((), ("nobody",), ("owner",), ("Admin",)):
            denied(route, ask(locked, route, bearer(*roles)))
    assert contents(locked.workspace) == before
    assert locked.ran.calls == []
    for receipt in locked.receipts(since):
        assert receipt.header["outcome"]["fault"] == "no_role", receipt.header


def denied(route: tuple[str, str], answer: Any) -> None:
    assert answer.status_code == 403, (route, answer.text)
    body = answer.json()
    said = body["rejection"] if "rejection" in body else body["error"]
    # `/v1/models` and `/v1/chat/completions` use the words of the format they speak.
    assert said.get("category") == "rbac_denied" or said.get("code") == "role_missing", route
