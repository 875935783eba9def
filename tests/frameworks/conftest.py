"""An open shop."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.settings import parse_settings
from tests.frameworks.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with Gate.open(tmp_path / "ws", settings=parse_settings({"ledger": {"durability": "os"}}), plugins=False) as gate:
        yield Shop(gate)
        assert Gate.verify(gate.workspace).ok
