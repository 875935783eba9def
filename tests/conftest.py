"""What every test may use."""

import os
from pathlib import Path

import pytest

from tests.sizes import FULL

DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of outside suites; tests that use it say what they leave out when it is not there."""
    return DATA


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may write into the user's own state folder."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path_factory.mktemp("state")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what runs only at full size."""
    if not FULL:
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="only in make test-full"))
