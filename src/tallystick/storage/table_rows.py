"""Tell which tables of a workspace's database hold rows, without creating or migrating anything."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tallystick.settings import CONTROL_ROOM, DATABASE_NAME, Settings


def filled_tables(settings: Settings, workspace: Path, tables: Iterable[str]) -> frozenset[str]:
    """Return those of the given tables that exist and hold at least one row.

    A database that cannot be read counts as filled: whoever opens it then reports the fault, and no data is hidden.
    """
    wanted = tuple(tables)
    if not wanted:
        return frozenset()
    if settings.storage.database_url is None:
        path = workspace / CONTROL_ROOM / DATABASE_NAME
        return _in_sqlite(path, wanted) if path.is_file() else frozenset()
    return _by_engine(settings, workspace, wanted)


def _in_sqlite(path: Path, tables: tuple[str, ...]) -> frozenset[str]:
    # The standard library's driver: the SQL toolkit takes a quarter of a second to load.
    try:
        with closing(sqlite3.connect(path)) as database:
            return frozenset(table for table in tables if _has_row(database, table))
    except sqlite3.Error:
        return frozenset(tables)


def _has_row(database: sqlite3.Connection, table: str) -> bool:
    known = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    # The name is one that a manifest declares; SQL has no parameter for names.
    return known is not None and database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() is not None  # noqa: S608


def _by_engine(settings: Settings, workspace: Path, tables: tuple[str, ...]) -> frozenset[str]:
    import sqlalchemy as sa  # noqa: PLC0415 - only for another database than the default
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from tallystick.storage.database import open_engine  # noqa: PLC0415

    engine = open_engine(settings, workspace)
    try:
        with engine.connect() as connection:
            there = frozenset(sa.inspect(connection).get_table_names()).intersection(tables)
            rows = {name: sa.select(sa.literal(1)).select_from(sa.table(name)).limit(1) for name in there}
            return frozenset(name for name, query in rows.items() if connection.execute(query).first() is not None)
    except SQLAlchemyError:
        return frozenset(tables)
    finally:
        engine.dispose()
