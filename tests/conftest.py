"""What every test may use."""

import gc
import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tallystick.settings import Settings, StorageSettings
from tests.sizes import FULL

DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[2] / "shared" / "data"))

SLOWEST = (
    "doors/cli/test_demo.py", "browser/test_phone.py", "house/test_docs.py", "external_room/test_installed.py",
    "install/test_base.py", "rooms/studio/continuity/test_novels.py", "browser/test_studio.py", "paths/test_desk_injection.py",
    "attacks/test_patterns.py", "install/test_extras.py", "faults/test_nodes_killed.py", "doors/cli/test_rooms.py",
    "browser/test_frame.py", "browser/test_insight.py", "durable/test_killed.py", "faults/test_wrap.py",
    "doors/mcp/test_relay_revisions.py", "doors/mcp/test_serve_revisions.py", "browser/test_memory.py",
    "browser/test_receipts.py", "browser/test_telemetry_settings.py", "faults/test_runs_killed.py",
    "doors/test_serve.py", "faults/test_fault_loop.py", "browser/test_desk.py", "browser/test_approvals.py",
    "browser/test_rooms.py", "browser/test_safety.py", "paths/test_wrap.py", "typing/test_typing.py",
    "house/test_examples.py", "paths/test_openapi.py", "durable/test_worker.py", "doors/cli/test_bad_input.py",
)  # fmt: skip
"""Files that take longest, as measured, the longest first: one of them left for the end would keep one worker busy alone."""
LONG = frozenset({"browser", "faults", "house", "doors", "durable", "paths", "install", "external_room"})
"""Folders whose tests start processes."""

# A run that a shell started in the background ignores Ctrl-C, and every process it starts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ten thousand tests leave much behind that lives on, and looking through all of it again and again was a sixth of the time.
gc.set_threshold(20_000, 20, 100)

# No deadline and no complaint about slowness: a busy machine is no reason to fail. The small size is the same on every
# run; only the full size looks for new examples, and for more of them.
_PATIENT = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("small", max_examples=25, deadline=None, derandomize=True, suppress_health_check=_PATIENT)
settings.register_profile("full", deadline=None, suppress_health_check=_PATIENT)
settings.load_profile("full" if FULL else "small")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of outside suites; tests that use it say what they leave out when it is not there."""
    return DATA


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folders of all tests, numbered."""
    root = tmp_path_factory.mktemp("tests")
    return (root / str(number) for number in count())


@pytest.fixture
def tmp_path(_folders: Iterator[Path]) -> Path:
    """A new folder, as pytest's own gives; that one looks through the folders of all earlier tests to number it."""
    folder = next(_folders)
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _own_state(_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may write into the user's own state folder."""
    folder = next(_folders)
    (folder / "tallystick").mkdir(parents=True)
    # Settings that do not read the environment have the same folder, so that a ledger is verified where it was written.
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("TALLY_STATE_DIR", str(folder / "tallystick"))


def pytest_collection_finish() -> None:
    """Take what collecting left, which stays to the end, out of every later look for garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Collect at the end of each file: what was left open is told of where it was opened, not in a later test."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what runs only at full size; begin with the files that take long, so that none is left for the end."""
    items.sort(key=_turn)
    if not FULL:
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="only in make test-full"))


def _turn(item: pytest.Item) -> tuple[int, bool]:
    """When a file's tests are run: the slowest files first, then the folders that start processes, then all others."""
    path = item.path.relative_to(item.config.rootpath / "tests")
    slowest = path.as_posix()
    return SLOWEST.index(slowest) if slowest in SLOWEST else len(SLOWEST), path.parts[0] not in LONG


@pytest.fixture(autouse=True)
def _journal_on_postgres(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With TALLY_TEST_JOURNAL=postgres every workspace that a test opens has its journal in a new database."""
    if os.environ.get("TALLY_TEST_JOURNAL") != "postgres" or request.path.parts[-2] == "house":
        yield
        return
    from tests.postgres import new_postgres  # noqa: PLC0415 - few runs need a server

    url = new_postgres()
    monkeypatch.setenv("TALLY_DATABASE_URL", url)
    monkeypatch.setenv("TALLY_STORAGE__JOURNAL", "postgres")
    _set_defaults(url, "postgres")
    yield
    _set_defaults(None, "files")


def _set_defaults(url: str | None, journal: str) -> None:
    """Settings that a test makes itself have these defaults too, or it would write and verify different journals."""
    StorageSettings.model_fields["database_url"].default = url
    StorageSettings.model_fields["journal"].default = journal
    StorageSettings.model_rebuild(force=True)
    Settings.model_rebuild(force=True)
