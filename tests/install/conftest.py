"""One wheel for all, and environments that are made once."""

from pathlib import Path

import pytest

from tests.install.environments import Environment, build, by_links


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this source tree."""
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The base installation, linked."""
    return by_links(tmp_path_factory.mktemp("base"), wheel)
