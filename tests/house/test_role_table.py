"""The roles in `docs/operations.md` are those of the code."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.doors.http.doorway import Doorway
from tests.doors.http.house import house_tools
from tests.house.role_table import role_lines, route_lines, tool_lines
from tests.house.sources import ROOT

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Doorway]:
    with closing(Doorway(tmp_path / "work")) as opened:
        yield opened


@pytest.mark.promise("doors.deny-by-default")
def test_the_tables_of_roles_are_those_of_the_code(door: Doorway) -> None:
    own = {tool.card.name for tool in house_tools(door.ran, door.gate)}
    cards = [card for card in door.gate.tools() if card.name not in own]
    paths = door.get("/api/openapi.json").json()["paths"]
    for lines in (role_lines(), route_lines(paths), tool_lines(cards)):
        assert "\n".join(lines) in PAGE, "\n".join(lines)
