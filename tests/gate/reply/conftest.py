from pathlib import Path

import pytest

from tests.gate.reply.small_workspace import Check


@pytest.fixture
def check(tmp_path: Path) -> Check:
    return Check(tmp_path)
