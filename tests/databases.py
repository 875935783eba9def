"""Databases for tests, with the gate's tables and those of the rooms that a test needs."""

from importlib import import_module
from pathlib import Path

from sqlalchemy import Engine, text

from tallystick.app.discovery import manifests
from tallystick.storage.database import migrate, migrate_room, writing
from tallystick.storage.migrations import GATE, VERSION_TABLE, history_of, upgrade
from tests.postgres import new_postgres


def new_database(kind: str, folder: Path) -> str:
    """Return the URL of an empty database: `sqlite`, in the folder, or `postgresql`."""
    return f"sqlite:///{folder / 'some.db'}" if kind == "sqlite" else new_postgres()


def migrate_with(engine: Engine, *rooms: str) -> None:
    """Bring the gate's tables and those of some rooms to this version."""
    migrate(engine)
    for room in rooms:
        package = manifests()[room].migrations
        assert package is not None, f"{room} has no tables"
        migrate_room(engine, room, import_module(package))


def make_shared_database(engine: Engine, *rooms: str, at: str) -> None:
    """Make tables as 0.1 made them: one history for the gate and all rooms, here with the tables of some rooms."""
    with writing(engine) as connection:
        upgrade(connection, GATE, to="0001")
        for room in rooms:
            package = manifests()[room].migrations
            assert package is not None, f"{room} has no tables"
            history = history_of(room, import_module(package))
            upgrade(connection, history, to=max(revision for revision in history.shared if revision <= at))
            connection.execute(text(f"DROP TABLE {history.version_table}"))
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :at"), {"at": at})
