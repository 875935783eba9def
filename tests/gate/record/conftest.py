from pathlib import Path

import pytest

from tests.ledgers import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose ledger does not wait for the disk."""
    return Workspace(tmp_path)


@pytest.fixture(params=["os", "fsync"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    """A workspace of each durability in turn."""
    return Workspace(tmp_path, durability=request.param)
