"""What a workspace keeps is for its owner alone, whatever the umask."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.storage.private import private_file, private_folder
from tests.doors.http.doorway import Doorway


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def used(workspace: Path, ticket: str = "t1") -> Path:
    """A workspace that took a ticket, an issue and an observation through the HTTP door."""
    with closing(Doorway(workspace)) as door:
        event = {"ticket_id": ticket, "type": "message", "content": f"My card, {ticket}, is 4111 1111 1111 1111."}
        assert door.post("/events", event).status_code < 300
        assert door.post("/api/issues", {"title": "x"}).status_code == 201
        told = {"text": "I live in Rome.", "source": "diary", "class": "human"}
        assert door.post("/api/memory/texts", told).status_code == 200
    return workspace / ".control-room"


@pytest.mark.promise("storage.private")
def test_the_control_room_and_its_databases_are_for_their_owner_alone(tmp_path: Path) -> None:
    room = used(tmp_path / "work")
    assert mode(room) == 0o700
    found = {path.name: mode(path) for path in room.rglob("*") if path.is_file()}
    assert {"durable.db", "tallystick.db"} <= found.keys()
    assert {name: oct(value) for name, value in found.items() if value & 0o077} == {}


@pytest.mark.promise("storage.private")
def test_what_an_older_version_left_open_is_tightened(tmp_path: Path) -> None:
    room = used(tmp_path / "work")
    room.chmod(0o755)
    for name in ("durable.db", "tallystick.db"):
        (room / name).chmod(0o644)
    used(tmp_path / "work", "t2")
    assert [mode(path) for path in (room, room / "durable.db", room / "tallystick.db")] == [0o700, 0o600, 0o600]


@pytest.mark.promise("storage.private")
def test_files_beside_a_database_are_tightened_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    private_folder(folder)
    for name in ("one.db", "one.db-wal", "one.db-shm"):
        (folder / name).touch(mode=0o644)
        (folder / name).chmod(0o644)
    private_file(folder / "one.db")
    assert {mode(path) for path in folder.iterdir()} == {0o600}
