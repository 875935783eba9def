"""One inbox for all workspaces of a user, and a yes that counts from now on."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.doors.cli.conftest import CONFIG, TOOLS, Tally
from tests.doors.cli.terminal import at_terminal

NOTE = """

@tool(effect="external")
def send_note(to: str, body: str) -> str:
    "Send a note."
    return f"sent to {to}"
"""
MINE = """
[tools.send_note]
decision = "allow"
[[tools.send_note.rules]]
name = "mine"
otherwise = "ask"
schema = { maxProperties = 0 }
"""
CALL = '{"to": "a@example.org", "body": "x"}'


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Two workspaces, and a folder elsewhere, which is the current one."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    made = tuple(tmp_path / name for name in ("one", "two", "elsewhere"))
    for folder in made:
        folder.mkdir()
    for folder in made[:2]:
        (folder / "tools.py").write_text(TOOLS + NOTE)
        (folder / "tallystick.toml").write_text(CONFIG)
    monkeypatch.chdir(made[2])
    return made


def held_in(tally: Tally, folder: Path, call: str = CALL, tool: str = "send_note") -> str:
    ran = tally("--json", "call", tool, call, "--workspace", str(folder))
    assert ran.code == 3
    return str(ran.json["held"]["approval_id"])


@pytest.mark.promise("doors.cli-inbox")
def test_requests_of_all_workspaces_are_listed_and_answered_from_anywhere(
    tally: Tally, folders: tuple[Path, Path, Path]
) -> None:
    one, two, elsewhere = folders
    ids = {held_in(tally, one): one, held_in(tally, two): two}
    listed = tally("--json", "approvals", "list").json
    assert {item["approval_id"]: Path(item["workspace"]) for item in listed["items"]} == ids
    assert listed["total"] == 2
    assert "workspace" in tally("approvals", "list").out
    only = tally("--json", "approvals", "list", "--workspace", str(two)).json
    assert [item["workspace"] for item in only["items"]] == [str(two)]
    for ident in ids:
        assert tally("--json", "approvals", "show", ident).json["approval_id"] == ident
        typed = at_terminal(
            "approvals", "approve", ident, folder=elsewhere, answer="y", state=Path(os.environ["TALLY_STATE_DIR"])
        )
        assert typed.code == 0, typed.screen
    states = {item["state"] for item in tally("--json", "approvals", "list").json["items"]}
    assert states == {"granted"}
    assert tally("approvals", "show", "appr_none").error == "approval_not_found"


@pytest.mark.promise("doors.cli-inbox")
def test_one_damaged_workspace_does_not_hide_the_others(tally: Tally, folders: tuple[Path, Path, Path]) -> None:
    one, two, _ = folders
    held_in(tally, one)
    kept = held_in(tally, two)
    (one / "tallystick.toml").write_text("[")
    assert [item["approval_id"] for item in tally("--json", "approvals", "list").json["items"]] == [kept]


@pytest.mark.promise("doors.cli-always")
def test_always_writes_a_rule_for_exactly_these_arguments_after_showing_it(
    tally: Tally, folders: tuple[Path, Path, Path]
) -> None:
    one, _, elsewhere = folders
    state = Path(os.environ["TALLY_STATE_DIR"])
    other = CALL.replace("a@", "b@")
    for call in (CALL, other):
        ident = held_in(tally, one, call)
        before = (one / "tallystick.toml").read_text()
        no = at_terminal("approvals", "approve", ident, "--always", folder=elsewhere, answer="n", state=state)
        assert (no.code, (one / "tallystick.toml").read_text()) == (1, before)
        assert "+schema = " in no.screen
        yes = at_terminal("approvals", "approve", ident, "--always", folder=elsewhere, answer="y", state=state)
        assert yes.code == 0, yes.screen
    (rule,) = tomllib.loads((one / "tallystick.toml").read_text())["tools"]["send_note"]["rules"]
    assert [kind["const"]["to"] for kind in rule["schema"]["anyOf"]] == ["a@example.org", "b@example.org"]
    assert (one / "tallystick.toml").read_text().startswith(CONFIG)
    for call in (CALL, other):
        assert tally("call", "send_note", call, "--workspace", str(one)).code == 0
        assert tally("call", "send_note", call, "--workspace", str(one)).code == 0
    assert held_in(tally, one, CALL.replace("a@", "c@"))


@pytest.mark.promise("doors.cli-always")
@pytest.mark.parametrize(
    ("tool", "args", "policy", "why"),
    [
        ("send_mail", {"to": "a", "body": "b", "password": "hunter2"}, "", "secret arguments"),
        ("send_note", {"to": "a", "body": "b"}, MINE, "another rule"),
    ],
)  # fmt: skip
def test_a_rule_that_would_hold_a_secret_or_not_help_is_not_written(
    tally: Tally, folders: tuple[Path, Path, Path], tool: str, args: dict[str, str], policy: str, why: str
) -> None:
    one, _, elsewhere = folders
    (one / "tallystick.toml").write_text(CONFIG + policy)
    ident = held_in(tally, one, json.dumps(args), tool)
    typed = at_terminal(
        "approvals", "approve", ident, "--always", "--yes", folder=elsewhere, state=Path(os.environ["TALLY_STATE_DIR"])
    )
    assert typed.code == 1
    assert "policy_not_changed" in typed.screen
    assert why in typed.screen
    assert (one / "tallystick.toml").read_text() == CONFIG + policy
    assert tally("--json", "approvals", "show", ident).json["state"] == "held"
