"""An open shop."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tests.frameworks.shop import Shop
from tests.gates import quick_settings
from tests.verifying import verify


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with Gate.open(
        tmp_path / "ws",
        settings=quick_settings(),
        plugins=False,
    ) as gate:
        yield Shop(gate)
        assert verify(gate.workspace).ok
