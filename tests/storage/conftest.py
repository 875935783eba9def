"""What the storage tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tallystick.settings import parse_settings
from tallystick.storage.database import migrate, open_engine
from tests import databases


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    return databases.new_database(request.param, tmp_path)


@pytest.fixture
def engine(new_database: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """A migrated database, of each kind in turn."""
    engine = open_engine(parse_settings({"storage": {"database_url": new_database}}), tmp_path)
    migrate(engine)
    yield engine
    engine.dispose()
