"""What the tests of the relay over HTTP share."""

from pathlib import Path

import pytest

from tests.wrapped import House

ALLOW = '[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n'


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A workspace for a wrapped server, where every call is allowed."""
    made = House(tmp_path)
    made.policy(ALLOW)
    return made
