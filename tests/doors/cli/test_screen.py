"""What is shown on a terminal, and what is not."""

import os
import re
from pathlib import Path

import pytest

from tests.doors.cli.conftest import CONFIG, TOOLS
from tests.doors.cli.terminal import at_terminal


def _state() -> Path:
    return Path(os.environ["TALLY_STATE_DIR"])


@pytest.mark.promise("doors.cli-visible")
def test_a_table_on_a_terminal_takes_no_orders_from_its_cells(workspace: Path) -> None:
    (workspace / "tools.py").write_text(TOOLS.replace("Count the words", "[bold]Count[/bold] the \\x1b[31m words"))
    shown = at_terminal("tools", folder=workspace, state=_state(), stdout=True, COLUMNS="200", LINES="50")
    assert shown.code == 0
    assert r"[bold]Count[/bold] the \x1b[31m words" in shown.screen
    assert "\x1b[31m" not in shown.screen


def test_long_work_on_a_terminal_ends_with_the_result(workspace: Path) -> None:
    (workspace / "tallystick.toml").write_text(CONFIG)
    for words in (["call", "loud"], ["audit", "verify"], ["audit", "export", "-o", "all.jsonl"], ["doctor"]):
        assert at_terminal(*words, folder=workspace, state=_state(), stdout=True).code == 0
    verified = at_terminal("audit", "verify", folder=workspace, state=_state())
    assert "ok: 1 records verify" in verified.out


def test_a_narrow_terminal_still_shows_whole_ids(workspace: Path) -> None:
    assert at_terminal("call", "loud", folder=workspace, state=_state()).code == 0
    listed = at_terminal("audit", "list", folder=workspace, state=_state(), stdout=True, COLUMNS="60", LINES="50")
    assert listed.code == 0
    assert re.search(r"rcpt_[0-9a-f]{24}", listed.screen)
