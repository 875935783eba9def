"""Databases of 0.1 had one history of revisions for everything; they go on with one for the gate and one for each room."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.app.discovery import manifests
from tallystick.errors import ConfigError
from tallystick.settings import parse_settings
from tallystick.storage.database import migrate, open_engine, schema_version, writing
from tallystick.storage.migrations import HEAD, SHARED_TABLE, VERSION_TABLE, History, history_of
from tests.databases import make_shared_database, migrate_with
from tests.storage import racing

ROOMS = ("desk", "insight", "memory")
VERSIONS = [f"{number:04}" for number in range(1, 9)]


def _history(room: str) -> History:
    package = manifests()[room].migrations
    assert package is not None
    return history_of(room, import_module(package))


def _open(url: str, folder: Path) -> sa.Engine:
    return open_engine(parse_settings({"storage": {"database_url": url}}), folder)


def _old(engine: sa.Engine, at: str) -> tuple[str, ...]:
    """Make a database of 0.1 at a version; gives the rooms that had tables then."""
    there = tuple(room for room in ROOMS if _history(room).shared[0] <= at)
    make_shared_database(engine, *there, at=at)
    assert schema_version(engine) == at
    return there


def _shape(engine: sa.Engine) -> dict[str, Any]:
    """Every table of the database with its columns, indexes and unique constraints."""
    inspector = sa.inspect(engine)
    return {
        name: (
            sorted((column["name"], str(column["type"]), column["nullable"]) for column in inspector.get_columns(name)),
            sorted((index["name"] or "", tuple(index["column_names"])) for index in inspector.get_indexes(name)),
            sorted(tuple(one["column_names"]) for one in inspector.get_unique_constraints(name)),
        )
        for name in inspector.get_table_names()
    }


@pytest.mark.promise("house.histories-split")
@pytest.mark.parametrize("at", VERSIONS)
def test_a_database_of_any_old_version_ends_as_a_new_one_does(new_database: str, tmp_path: Path, at: str) -> None:
    engine, fresh = _open(new_database, tmp_path), _open(f"sqlite:///{tmp_path / 'fresh.db'}", tmp_path)
    _old(engine, at)
    migrate_with(engine, *ROOMS)
    migrate_with(fresh, *ROOMS)
    assert schema_version(engine) == HEAD
    assert {room: schema_version(engine, _history(room)) for room in ROOMS} == {
        room: _history(room).head for room in ROOMS
    }
    if engine.dialect.name == "sqlite":
        assert _shape(engine) == _shape(fresh)
    else:
        assert _shape(engine).keys() == _shape(fresh).keys()
    engine.dispose()
    fresh.dispose()


@pytest.mark.promise("house.histories-split")
@pytest.mark.parametrize("at", VERSIONS)
def test_the_split_begins_each_room_where_the_single_history_had_come(
    new_database: str, tmp_path: Path, at: str
) -> None:
    engine = _open(new_database, tmp_path)
    there = _old(engine, at)
    migrate(engine)
    with engine.connect() as connection:
        kept = connection.execute(sa.text(f"SELECT version_num FROM {SHARED_TABLE}")).scalar()
    assert kept == (at if at > "0001" else None)
    for room in ROOMS:  # each on its own, whenever it is first opened
        before = _tables_of_rooms(engine)
        migrate_with(engine, room)
        assert schema_version(engine, _history(room)) == _history(room).head
        history = _history(room)
        nothing_newer = history.head == history.shared[-1]
        complete = room in there and at >= history.shared[-1]
        assert (before == _tables_of_rooms(engine)) == (complete and nothing_newer)
    engine.dispose()


def _tables_of_rooms(engine: sa.Engine) -> dict[str, Any]:
    return {name: shape for name, shape in _shape(engine).items() if not name.startswith("tally_schema")}


@pytest.mark.promise("house.histories-split")
def test_processes_that_split_a_database_at_once_wait_for_each_other(new_database: str, tmp_path: Path) -> None:
    engine = _open(new_database, tmp_path)
    _old(engine, "0007")
    engine.dispose()
    assert racing.in_processes(racing.split, 3, new_database, ROOMS) == [HEAD] * 3
    assert schema_version(engine, _history("memory")) == _history("memory").head
    engine.dispose()


@pytest.mark.promise("house.histories-split")
@pytest.mark.parametrize("room", ROOMS)
def test_tables_of_a_newer_room_are_refused(new_database: str, tmp_path: Path, room: str) -> None:
    engine = _open(new_database, tmp_path)
    _old(engine, "0008")
    migrate_with(engine, *ROOMS)
    with writing(engine) as connection:
        connection.execute(sa.text(f"UPDATE {_history(room).version_table} SET version_num = '9999'"))
    with pytest.raises(ConfigError) as caught:
        migrate_with(engine, room)
    assert caught.value.code == "database_newer"
    assert schema_version(engine, _history(room)) == "9999"
    engine.dispose()


@pytest.mark.promise("house.histories-split")
def test_a_single_history_that_nobody_knows_is_refused_and_left_as_it_is(new_database: str, tmp_path: Path) -> None:
    engine = _open(new_database, tmp_path)
    _old(engine, "0008")
    with writing(engine) as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '0123'"))
    with pytest.raises(ConfigError) as caught:
        migrate_with(engine, "memory")
    assert caught.value.code == "database_newer"
    assert not sa.inspect(engine).has_table(SHARED_TABLE)
    engine.dispose()
