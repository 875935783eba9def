"""Schema migrations as Alembic revisions: one history for the gate's own tables and one per room.

Up to 0.1 there was one shared history (`0001` to `0008`). Such a database is split on first use: the gate's history
continues from `0001`, and each room's from the last of its own revisions that was applied. `tally_shared_version`
stores the last applied revision of the shared history, for rooms that are opened later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tallystick.errors import ConfigError
from tallystick.storage.migrations.revisions import mistake_in

HEAD = "0010"
"""The last revision of the gate's own tables."""
VERSION_TABLE = "tally_schema_version"
SHARED_TABLE = "tally_shared_version"
FIRST, LAST_SHARED = "0001", "0008"


@dataclass(frozen=True, kw_only=True)
class History:
    """A sequence of revisions."""

    head: str
    versions: Path
    """Folder of the revisions."""
    version_table: str
    shared: tuple[str, ...] = field(default=())
    """Its revisions that were part of the shared history of older databases."""
    owner: str = "tallystick"
    """Whose tables these are, for messages."""


GATE = History(head=HEAD, versions=Path(__file__).parent / "versions", version_table=VERSION_TABLE)


def history_of(room: str, package: ModuleType) -> History:
    """Build the history of a room's tables from its migrations package.

    Raises:
        ConfigError: The package has no `HEAD`, or its revisions do not form a chain that ends there.
    """
    known: Mapping[str, object] = vars(package)
    shared: tuple[str, ...] = known.get("SHARED", ())  # type: ignore[assignment]
    versions, head = Path(package.__path__[0]) / "versions", known.get("HEAD")
    mistake = mistake_in(versions, head) if isinstance(head, str) else "it has no HEAD, the last revision as text"
    if mistake is not None:
        message = f"The migrations of the room '{room}' ({package.__name__}): {mistake}."
        raise ConfigError(message, code="room_broken")
    return History(
        head=str(head), versions=versions, version_table=f"tally_schema_{room}", shared=shared, owner=f"the room {room}"
    )


def version_of(connection: Connection, history: History = GATE) -> str | None:
    """Return the current revision of the database; None: a new database."""
    return _value(connection, history.version_table)


def upgrade(connection: Connection, history: History = GATE, *, to: str = "head") -> None:
    """Run the missing revisions up to `to` in the caller's transaction, all or nothing.

    Raises:
        ConfigError: The database is at a revision that this code does not know.
    """
    version = version_of(connection, history)
    shared = None
    if history is GATE and version is not None and FIRST < version <= LAST_SHARED:
        shared = version
        _set(connection, VERSION_TABLE, FIRST)
    elif version is None and history.shared:
        _stamp_shared(connection, history)
    _run(connection, history, to)
    if shared is not None:
        connection.execute(sa.text(f"INSERT INTO {SHARED_TABLE} (version_num) VALUES (:version)"), {"version": shared})  # noqa: S608 - a constant


def _stamp_shared(connection: Connection, history: History) -> None:
    """Start a room's history after its revisions that the shared history has already applied."""
    reached = _value(connection, SHARED_TABLE)
    done = [revision for revision in history.shared if reached is not None and revision <= reached]
    if done:
        connection.execute(
            sa.text(f"CREATE TABLE {history.version_table} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
        )
        connection.execute(
            sa.text(f"INSERT INTO {history.version_table} (version_num) VALUES (:version)"),  # noqa: S608 - a constant
            {"version": done[-1]},
        )


def _run(connection: Connection, history: History, to: str) -> None:
    # Imported only here: the import takes longer than a whole call, and most starts do not need it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("version_locations", str(history.versions).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["version_table"] = history.version_table
    try:
        command.upgrade(config, to)
    except CommandError as error:
        message = (
            f"The database was written by a newer version of {history.owner}. Upgrade the package on this machine."
        )
        raise ConfigError(message, code="database_newer") from error


def _value(connection: Connection, table: str) -> str | None:
    if not sa.inspect(connection).has_table(table):
        return None
    version: str | None = connection.execute(sa.text(f"SELECT version_num FROM {table}")).scalar()  # noqa: S608 - a constant
    return version


def _set(connection: Connection, table: str, version: str) -> None:
    connection.execute(sa.text(f"UPDATE {table} SET version_num = :version"), {"version": version})  # noqa: S608 - a constant
