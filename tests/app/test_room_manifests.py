"""Mistakes in a room's manifest are refused with the room and the field, when they are made or when they first matter."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Tool, tool
from tallystick.app import discovery, room_context, room_switch
from tallystick.errors import ConfigError
from tallystick.plugin import CommandReference, Manifest, Room

HERE = __name__


class Shed(Room):
    name = "shed"

    def __init__(self, _context: Any) -> None: ...

    def tools(self) -> Iterable[Tool]:
        @tool(name="shed.count", effect="read")
        def count() -> int:
            return 0

        return (count,)


def manifest(**fields: Any) -> Manifest:
    return Manifest(
        **{"name": "shed", "summary": "A shed.", "room": f"{HERE}:Shed", "tools": ("shed.count",), **fields}
    )


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(one: Manifest) -> None:
        for module in (discovery, room_context, room_switch):
            monkeypatch.setattr(module, "manifests", lambda: {one.name: one})

    return put


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "Tool-Shed"}, "name='Tool-Shed'"),
        ({"name": ""}, "name=''"),
        ({"room": "shed.room"}, "room='shed.room'"),
        ({"http": "shed.http:"}, "http='shed.http:'"),
        ({"commands": (CommandReference(name="shed", help="", reference="x"),)}, "commands='x'"),
    ],
)
def test_a_name_or_a_reference_of_the_wrong_form_is_no_manifest(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        manifest(**fields)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"room": "shed_that_is_nowhere.room:Shed"}, "cannot load room .*No module named 'shed_that_is_nowhere'"),
        ({"room": f"{HERE}:Barn"}, "cannot load room .*Barn"),
        ({"settings": f"{HERE}:Options"}, "cannot load settings .*Options"),
        ({"tools": ("shed.counts",)}, r"registers shed\.count; its manifest must list them under `tools`"),
    ],
)
def test_a_manifest_that_leads_nowhere_stops_the_opening_and_is_named(
    tmp_path: Path, install: Any, fields: dict[str, Any], said: str
) -> None:
    install(manifest(**fields))
    with pytest.raises(ConfigError, match=f"The room 'shed' {said}") as caught:
        Gate.open(tmp_path, rooms=["shed"])
    assert caught.value.code == "room_broken"


def test_a_right_manifest_opens(tmp_path: Path, install: Any) -> None:
    install(manifest())
    with Gate.open(tmp_path, rooms=["shed"]) as gate:
        assert gate.call_sync("shed.count").unwrap() == 0
