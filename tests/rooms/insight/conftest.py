"""What the insight tests share."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.postgres import start_postgres

_numbers = count()


@pytest.fixture(scope="session")
def insight_postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a PostgreSQL that is started once."""
    return start_postgres(tmp_path_factory.mktemp("postgres"))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'some.db'}"
    server = sa.make_url(request.getfixturevalue("insight_postgres")).set(drivername="postgresql+psycopg")
    name = f"insight_{next(_numbers)}"
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    return server.set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def store(database: str, tmp_path: Path) -> Iterator[Store]:
    """Insight's tables in an empty database."""
    engine = open_engine(Settings.model_validate({"storage": {"database_url": database}}), tmp_path)
    migrate_with(engine, "insight")
    yield Store(engine)
    engine.dispose()
