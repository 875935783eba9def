"""What the desk tests share."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.rooms.desk.store import Store
from tallystick.rooms.desk.store.tables import META
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.postgres import new_postgres
from tests.rooms.desk.desk_service import Desk, open_desk


@pytest.fixture(scope="session")
def desk_postgres() -> str:
    """The URL of a PostgreSQL database with the tables, made once."""
    return _migrated(new_postgres())


@pytest.fixture(scope="session")
def desk_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the tables, made once."""
    file = tmp_path_factory.mktemp("sqlite") / "made.db"
    _migrated(f"sqlite:///{file}")
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with empty tables, of each kind in turn."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("desk_sqlite"), tmp_path / "some.db")
        return f"sqlite:///{tmp_path / 'some.db'}"
    url: str = request.getfixturevalue("desk_postgres")
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.execute(sa.text(f"TRUNCATE {', '.join(META.tables)}"))
    return url


def _migrated(url: str) -> str:
    engine = open_engine(Settings.model_validate({"storage": {"database_url": url}}), Path())
    migrate_with(engine, "desk")
    engine.dispose()
    return url


@pytest.fixture
def store(database: str, tmp_path: Path) -> Iterator[Store]:
    """The desk's tables in an empty database."""
    engine = open_engine(Settings.model_validate({"storage": {"database_url": database}}), tmp_path)
    yield Store(engine)
    engine.dispose()


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Iterator[Desk]:
    """An office with the usual settings."""
    opened = open_desk(store, tmp_path)
    yield opened
    opened.gate.close()


@pytest.fixture
def open_other(store: Store, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Offices with other settings, on the same tables."""
    opened: list[Desk] = []

    def make(**options: Any) -> Desk:
        opened.append(open_desk(store, tmp_path / f"other-{len(opened)}", **options))
        return opened[-1]

    yield make
    for one in opened:
        one.gate.close()
