"""`tally init` and `tally rooms`: which rooms are on, what writes it, and what a room that is off answers."""

import json
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.app import room_switch
from tallystick.app.discovery import manifests
from tallystick.settings import load_settings
from tests.doors.cli.conftest import Tally

COMMENTED = """# ours
[ledger]
durability = "os"  # quick

[rooms.desk]
# where the documents are
kb = "docs"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    made = tmp_path / "empty"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def on(folder: Path) -> tuple[str, ...] | None:
    return load_settings(folder).rooms.enabled


@pytest.mark.promise("rooms.switch")
def test_init_makes_a_workspace_with_the_rooms_that_are_asked_for(tally: Tally, folder: Path) -> None:
    assert tally("--json", "init").json == {"workspace": str(folder), "rooms": []}
    assert (folder / "tallystick.toml").read_text() == "rooms = []\n"
    assert tally("--json", "init", "--room", "memory").json["rooms"] == ["memory"]
    assert on(folder) == ("memory",)
    refused = tally("init", "--room", "cellar")
    assert (refused.code, refused.error) == (4, "room_unknown")
    assert on(folder) == ("memory",)


@pytest.mark.promise("rooms.switch")
def test_the_first_use_of_a_command_switches_its_room_on_and_no_other(tally: Tally, folder: Path) -> None:
    added = tally("memory", "add", "The capacity of the Kestrel kettle is 1.7 litres.")
    assert added.code == 0, added.err
    assert "The room memory is now on" in added.err
    assert on(folder) == ("memory",)
    assert "now on" not in tally("memory", "ask", "What is the capacity of the Kestrel kettle?").err
    assert {item["name"] for item in tally("--json", "tools").json["items"]} == set(manifests()["memory"].tools)
    assert tally("issues", "new", "The eyes change colour").code == 0
    assert on(folder) == ("memory", "studio")


@pytest.mark.promise("rooms.switch")
def test_a_command_outside_any_workspace_writes_nothing(tally: Tally, folder: Path) -> None:
    assert tally("desk", "list").error == "no_workspace"
    assert list(folder.iterdir()) == []


@pytest.mark.promise("rooms.switch")
def test_chat_reads_the_folder_where_the_file_does_not_say_which_rooms_are_on(tally: Tally, folder: Path) -> None:
    (folder / "notes.md").write_text("# Weather\n\nThe storm of that autumn took the old pier away.\n")
    said = tally("--json", "chat", "--once", "What took the old pier away?")
    assert said.code == 0, said.err
    assert "storm" in said.out
    assert on(folder) == ("studio",)
    tally("rooms", "off", "studio")
    tally("chat", "--once", "What took the old pier away?")
    assert on(folder) == ()


@pytest.mark.promise("rooms.switch")
def test_a_change_keeps_comments_order_and_the_settings_of_rooms(tally: Tally, folder: Path) -> None:
    file = folder / "tallystick.toml"
    file.write_text(COMMENTED)
    file.chmod(0o640)
    assert tally("rooms", "on", "studio").code == 0
    text = file.read_text()
    for line in COMMENTED.splitlines():
        assert line in text
    assert on(folder) == ("desk", "studio")
    assert load_settings(folder).rooms.section("desk") == {"kb": "docs"}
    assert file.stat().st_mode & 0o777 == 0o640
    assert tally("rooms", "off", "desk", "studio").code == 0
    assert on(folder) == ()


@pytest.mark.promise("rooms.switch")
def test_what_the_environment_decides_is_not_written_over(
    tally: Tally, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLY_ROOMS", "memory, studio")
    tally("init")
    refused = tally("rooms", "off", "memory")
    assert (refused.code, refused.error) == (4, "config_from_environment")


@pytest.mark.promise("rooms.off")
def test_rooms_lists_every_room_with_the_command_that_changes_it(tally: Tally, folder: Path) -> None:
    (folder / "tallystick.toml").write_text('rooms = ["memory", "cellar"]\n')
    listed = {item["name"]: item for item in tally("--json", "rooms").json["items"]}
    assert {name: item["state"] for name, item in listed.items()} == {
        "cellar": "unknown", "desk": "off", "insight": "off", "memory": "on", "studio": "off",
    }  # fmt: skip
    assert "tally rooms on desk" in listed["desk"]["advice"]
    assert listed["memory"]["advice"] == ""
    told = {check["check"]: check for check in tally("--json", "doctor").json["checks"]}
    assert told["room memory"]["message"] == "on"
    assert "tally rooms on desk" in told["room desk"]["message"]
    assert (told["room desk"]["status"], told["room cellar"]["status"]) == ("ok", "warn")


@pytest.mark.promise("rooms.off")
def test_a_tool_of_a_room_that_is_off_names_the_command_and_its_data_stays(tally: Tally, folder: Path) -> None:
    tally("memory", "add", "The capacity of the Kestrel kettle is 1.7 litres.")
    assert tally("rooms", "off", "memory").code == 0
    refused = tally("call", "mem.search", '{"query": "kettle"}')
    assert (refused.code, refused.error) == (1, "INVALID_TOOL_NAME")
    assert "tally rooms on memory" in refused.err
    assert "tally rooms on memory" in tally("tools", "show", "mem.search").err
    assert tally("rooms", "on", "memory").code == 0
    assert "1.7 litres" in tally("memory", "ask", "What is the capacity of the Kestrel kettle?").out


@pytest.mark.promise("rooms.older")
def test_without_the_key_only_rooms_with_data_or_settings_are_on(tally: Tally, folder: Path) -> None:
    (folder / "Story").mkdir()
    (folder / "Story" / "one.md").write_text("# One\n")
    with Gate.open(folder) as gate:
        assert gate.tools() == []
    with Gate.open(folder) as gate:
        assert gate.rooms() == {}
    with Gate.open(folder, rooms=["studio"]):
        pass
    with Gate.open(folder) as gate:
        # The user's own files count where the room was open before.
        assert set(gate.rooms()) == {"studio"}
    tally("memory", "add", "The capacity of the Kestrel kettle is 1.7 litres.")
    assert on(folder) == ("memory", "studio")
    (folder / "tallystick.toml").write_text("[rooms.insight]\n")
    assert room_switch.rooms_on(folder, load_settings(folder)) == ("memory", "studio")
    (folder / "tallystick.toml").write_text('[rooms.insight]\nembed_backend = "builtin"\n')
    assert room_switch.rooms_on(folder, load_settings(folder)) == ("insight", "memory", "studio")


@pytest.mark.promise("rooms.older")
def test_a_database_that_cannot_be_read_hides_no_room(folder: Path) -> None:
    (folder / ".control-room").mkdir()
    (folder / ".control-room" / "tallystick.db").write_bytes(b"not a database" * 100)
    assert room_switch.rooms_on(folder, load_settings(folder)) == ("desk", "insight", "memory")


@pytest.mark.promise("rooms.off")
def test_manifests_name_the_tools_their_rooms_register(tmp_path: Path) -> None:
    (tmp_path / "kb").mkdir()
    with Gate.open(tmp_path, rooms=list(manifests())) as gate:
        for name, room in gate.rooms().items():
            own = {tool.card.name for tool in room.tools()}
            named = set(manifests()[name].tools)
            assert own <= named
            # Two tools of the desk need settings.
            assert named - own <= {"logs.search", "web.search"}


@pytest.mark.promise("rooms.switch")
def test_the_demo_switches_on_what_it_shows(tally: Tally, folder: Path) -> None:
    shown = tally("--json", "-w", str(folder / "demo"), "demo", "--no-serve")
    assert shown.code == 0, shown.err
    assert set(json.loads(shown.out)["parts"]) == set(on(folder / "demo") or ())


@pytest.mark.promise("rooms.switch", "doors.cli-doctor")
def test_a_section_of_no_installed_room_is_noticed(
    tally: Tally, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "tallystick.toml").write_text("[rooms.dsek]\nkb = 'docs'\n")
    used = tally("tools")
    assert used.code == 0
    assert "[rooms.dsek] has no effect. No room named 'dsek' is installed" in used.err
    [found] = [check for check in tally("--json", "doctor").json["checks"] if "dsek" in check["message"]]
    assert (found["check"], found["status"]) == ("rooms", "warn")
    Gate.open(folder).close()
    assert "[rooms.dsek] has no effect" in caplog.text
