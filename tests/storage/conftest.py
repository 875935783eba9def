"""What the storage tests share."""

import pytest

from tests.postgres import start_postgres


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a PostgreSQL that is started once."""
    return start_postgres(tmp_path_factory.mktemp("postgres"))
