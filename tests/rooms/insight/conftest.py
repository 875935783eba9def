"""What the insight tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with, new_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    return new_database(request.param, tmp_path)


@pytest.fixture
def store(database: str, tmp_path: Path) -> Iterator[Store]:
    """Insight's tables in an empty database."""
    engine = open_engine(Settings.model_validate({"storage": {"database_url": database}}), tmp_path)
    migrate_with(engine, "insight")
    yield Store(engine)
    engine.dispose()
