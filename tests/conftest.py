"""What every test may use."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.sizes import FULL

DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[2] / "shared" / "data"))

LONG = frozenset({"browser", "faults", "house", "doors", "durable", "paths"})
"""Folders whose tests start processes."""

# A run that a shell started in the background ignores Ctrl-C, and every process it starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ten thousand tests leave much behind that lives on, and looking through all of it again and again was a sixth of the time.
gc.set_threshold(20_000, 20, 100)

# No deadline and no complaint about slowness: a busy machine is no reason to fail. The small size is the same on every
# run; only the full size looks for new examples.
settings.register_profile("small", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("full" if FULL else "small")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of outside suites; tests that use it say what they leave out when it is not there."""
    return DATA


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may write into the user's own state folder."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path_factory.mktemp("state")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what runs only at full size; begin with the files that take long, so that none is left for the end."""
    items.sort(key=lambda item: item.path.relative_to(item.config.rootpath / "tests").parts[0] not in LONG)
    if not FULL:
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="only in make test-full"))
