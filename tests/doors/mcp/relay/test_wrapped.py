from pathlib import Path

import pytest

from tallystick.doors.mcp.relay.pins import FILE, PinBook
from tallystick.doors.mcp.relay.workspace import as_taken, is_wrapped, relayed
from tallystick.errors import ConfigError
from tallystick.settings import CONTROL_ROOM, Settings


@pytest.mark.promise("relay.unsaid")
def test_a_configuration_has_the_relays_defaults_only_where_a_server_was_met(tmp_path: Path) -> None:
    assert not is_wrapped(tmp_path)
    assert as_taken(Settings(), tmp_path) == Settings()
    PinBook(tmp_path).compare([{"name": "write_note"}])
    assert is_wrapped(tmp_path)
    assert as_taken(Settings(), tmp_path).policy.write == "ask"


def test_rules_for_a_wrapped_servers_tools_are_known_by_its_pins(tmp_path: Path) -> None:
    assert not relayed(["s.write_note"], tmp_path)
    PinBook(tmp_path).compare([{"name": "write_note"}, {"name": "get file"}])
    names = ["s.write_note", "s.get-x20-file", "s.wirte_note", "write_note"]
    assert relayed(names, tmp_path) == {"s.write_note", "s.get-x20-file"}


def test_pins_that_are_damaged_are_said(tmp_path: Path) -> None:
    (tmp_path / CONTROL_ROOM).mkdir()
    (tmp_path / CONTROL_ROOM / FILE).write_text("[")
    for asked in (lambda: is_wrapped(tmp_path), lambda: relayed((), tmp_path)):
        with pytest.raises(ConfigError):
            asked()
