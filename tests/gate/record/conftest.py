from pathlib import Path

import pytest

from tests.ledgers import Workspace
from tests.postgres import new_postgres


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose ledger does not wait for the disk."""
    return Workspace(tmp_path)


@pytest.fixture(params=["os", "fsync", "postgres"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace of each durability in turn, and one whose journal is in PostgreSQL."""
    if request.param == "postgres":
        return Workspace(tmp_path, durability="fsync", database=new_postgres())
    return Workspace(tmp_path, durability=request.param)
