"""What the memory tests share."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with, new_database
from tests.rooms.memory.remembering import Remembering

Open = Callable[..., Remembering]


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


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    return new_database(request.param, tmp_path)


@pytest.fixture
def engine(database: str, tmp_path: Path) -> Iterator[sa.Engine]:
    """That database, with memory's tables."""
    made = open_engine(Settings.model_validate({"storage": {"database_url": database}}), tmp_path)
    migrate_with(made, "memory")
    yield made
    made.dispose()
