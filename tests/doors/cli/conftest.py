"""A workspace with four tools, and `tally` on it: in this process, or as a command of its own."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tallystick.doors.cli.app import app
from tallystick.doors.identity import StartupToken

TOOLS = """
import os
import sys

from tallystick import ToolError, tool

print("a tool file that talks while it loads")


@tool(effect="read")
def word_count(text: str, times: int = 1) -> int:
    "Count the words of a text."
    print("printed by the tool")
    os.write(1, b"written to the descriptor\\n")
    os.system("echo said by a child")
    return len(text.split()) * times


@tool(effect="external")
def send_mail(to: str, body: str, password: str = "") -> str:
    "Send a mail."
    return f"sent to {to}"


@tool(effect="write")
def broken(number: int) -> int:
    "Fail."
    raise ValueError("with a secret inside")


@tool(effect="read")
def loud() -> str:
    "Give back text that would move the cursor \\x1b[31m."
    return "red \\x1b[31m, turned \\u202e, tagged \\U000e0041, empty \\u200b\\nsecond line"
"""

CONFIG = (
    'rooms = ["desk", "insight", "memory", "studio"]\n\n[gate]\ntools = ["tools.py"]\n\n[ledger]\ndurability = "os"\n'
)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The code of the error line."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        return lines[0].split(": ")[1]


Tally = Callable[..., Ran]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and the current folder."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "tallystick.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tally() -> Tally:
    """Run `tally` in this process, without a terminal."""

    def run(*words: str, stdin: str | bytes | None = None) -> Ran:
        done = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
        return Ran(code=done.exit_code, out=done.stdout, err=done.stderr)

    return run


@pytest.fixture
def token(workspace: Path) -> str:
    """The start-up token of a server that runs for the workspace."""
    return StartupToken.create(state_dir=Path(os.environ["TALLY_STATE_DIR"]), workspace=workspace).value


@pytest.fixture
def held(tally: Tally, workspace: Path) -> str:
    """A call that waits for a person: its approval id."""
    asked = tally("--json", "call", "send_mail", '{"to":"a@example.org","body":"x\\u202ey","password":"hunter2"}')
    assert asked.code == 3
    approval_id: str = asked.json["held"]["approval_id"]
    return approval_id
