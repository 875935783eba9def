"""What the memory tests share."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.postgres import start_postgres
from tests.rooms.memory.remembering import Remembering

Open = Callable[..., Remembering]
_numbers = count()


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Open]:
    """Open a workspace's memory; all are closed at the end."""
    opened: list[Remembering] = []

    def make(name: str = "work", **sections: Any) -> Remembering:
        made = Remembering(tmp_path / name, **sections)
        opened.append(made)
        return made

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def memory(open_memory: Open) -> Remembering:
    return open_memory()


@pytest.fixture(scope="session")
def memory_postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a PostgreSQL that is started once."""
    return start_postgres(tmp_path_factory.mktemp("postgres"))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'some.db'}"
    server = sa.make_url(request.getfixturevalue("memory_postgres")).set(drivername="postgresql+psycopg")
    name = f"memory_{next(_numbers)}"
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    return server.set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def engine(database: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """That database, with memory's tables."""
    made = open_engine(Settings.model_validate({"storage": {"database_url": database}}), tmp_path)
    migrate_with(made, "memory")
    yield made
    made.dispose()
