"""The command itself: help at once, errors in one line, exit codes as documented."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tallystick import __version__
from tallystick.doors.cli import calls
from tallystick.doors.cli.app import app
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake, exit_of
from tallystick.errors import ConfigError, LedgerDamaged, LedgerUnwritable, PathRefused, RegistrationError, ToolError
from tests.doors.cli.conftest import Ran, Tally
from tests.house.sources import ROOT

HEAVY = ("pydantic", "sqlalchemy", "cryptography", "fastapi", "starlette", "uvicorn", "orjson", "jsonschema_rs", "dbos",
         "prometheus_client", "opentelemetry", "numpy", "asyncio", "rich", "tallystick.app", "tallystick.settings",
         "tallystick.gate", "tallystick.storage")  # fmt: skip
FINDS_ROOMS = {"tallystick.app", "tallystick.app.discovery"}
"""What finds the installed rooms, and loads nothing else."""


def command(*words: str, folder: Path, **environ: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environ},
        capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Ran(code=done.returncode, out=done.stdout, err=done.stderr)


def every_command() -> list[list[str]]:
    """The words of every command, groups too."""

    def below(found: Any, words: list[str]) -> list[list[str]]:
        names = found.list_commands(None) if hasattr(found, "list_commands") else []
        return [words, *(more for name in names for more in below(found.get_command(None, name), [*words, name]))]

    return below(get_command(app), [])


@pytest.mark.promise("doors.cli-startup")
@pytest.mark.parametrize(
    "words", [["--help"], ["audit", "--help"], ["audit", "list", "-h"], ["call", "--help"], ["--version"]]
)
def test_help_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tallystick", *words],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    loaded = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "tallystick.doors.cli.app" in loaded
    assert sorted(name for name in loaded if name.startswith(HEAVY) and name not in FINDS_ROOMS) == []
    assert list(tmp_path.iterdir()) == []


def test_the_version_is_told(tally: Tally) -> None:
    assert tally("--version").out == f"tallystick {__version__}\n"


@pytest.mark.promise("doors.cli-json")
@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_command_has_help_and_takes_json(tally: Tally, words: list[str]) -> None:
    told = tally(*words, "--help")
    assert told.code == 0
    assert told.out.startswith("Usage: tally ")
    if not any(len(other) > len(words) and other[: len(words)] == words for other in every_command()):
        assert "--json" in told.out
        assert "--workspace" in told.out
        assert "--quiet" in told.out


def test_all_commands_of_the_contract_are_there() -> None:
    have = {" ".join(words) for words in every_command()}
    wanted = {
        "tools", "tools show", "call", "audit verify", "audit show", "audit list", "audit export", "audit erase",
        "audit watch", "prove", "bundle", "check", "replay", "policy check", "policy show", "policy test",
        "policy replay", "approvals list", "approvals show", "approvals approve", "approvals reject", "approvals edit",
        "evidence check", "evidence transcript", "mcp serve", "mcp wrap", "mcp review", "mcp init", "keys show", "keys rotate", "keys export",
        "serve", "worker", "doctor", "demo",
    }  # fmt: skip
    assert wanted <= have


@pytest.mark.promise("doors.cli-errors")
@pytest.mark.parametrize(
    "words", [["no-such"], ["audit", "shwo"], ["call"], ["--nothing"], ["audit", "list", "--limit", "0"]]
)
def test_wrong_use_is_one_line_and_exit_two(tally: Tally, words: list[str]) -> None:
    wrong = tally(*words)
    assert (wrong.code, wrong.error, wrong.out) == (2, "usage", "")
    as_json = tally("--json", *words)
    assert as_json.code == 2
    assert as_json.out == ""
    assert json.loads(as_json.err)["error"]["code"] == "usage"


def test_no_command_at_all_shows_the_help(tally: Tally) -> None:
    nothing = tally()
    assert nothing.code == 2
    assert "Commands:" in nothing.err


def test_a_wrong_word_is_met_with_a_guess(tally: Tally) -> None:
    assert "Did you mean 'approvals'" in tally("aprovals").err


@pytest.mark.promise("doors.cli-errors")
def test_an_error_is_json_on_stderr_and_nothing_on_stdout(tally: Tally, workspace: Path) -> None:
    (workspace / "tallystick.toml").write_text("[nonsense]\n")
    wrong = tally("--json", "tools")
    assert (wrong.code, wrong.out) == (4, "")
    assert json.loads(wrong.err)["error"]["code"] == "config_unknown_key"
    after_dashes = tally("call", "x", "--", "--json")
    assert after_dashes.error == "config_unknown_key"


@pytest.mark.promise("doors.cli-errors")
def test_a_bug_ends_with_seventy_and_a_hint_and_its_stack_only_on_demand(
    tally: Tally, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(*_: object) -> None:
        raise ZeroDivisionError("by hand\x1b[2J")

    monkeypatch.setattr(calls, "_show", fall)
    bug = tally("call", "loud")
    assert (bug.code, bug.error) == (70, "bug")
    assert "TALLY_DEBUG=1" in bug.err
    assert "Traceback" not in bug.err
    assert "\x1b" not in bug.err
    monkeypatch.setenv("TALLY_DEBUG", "1")
    assert "Traceback" in tally("call", "loud").err


@pytest.mark.promise("doors.cli-exits")
def test_every_error_has_its_exit_code() -> None:
    codes = {
        ConfigError: 4, RegistrationError: 4, LedgerUnwritable: 5, LedgerDamaged: 5, ToolError: 6, PathRefused: 1,
        Refused: 1, UsageMistake: 2,
    }  # fmt: skip
    assert {kind: int(exit_of(kind("x"))) for kind in codes} == codes


@pytest.mark.promise("doors.cli-exits")
def test_the_documentation_lists_exactly_the_exit_codes_and_every_command() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)} == {int(code) for code in Exit}
    leaves = [
        words
        for words in every_command()
        if words and words not in (["audit"], ["policy"], ["approvals"], ["evidence"], ["agents"], ["keys"])
    ]
    assert [" ".join(words) for words in leaves if f"`tally {' '.join(words)}" not in text] == []


def test_a_pipe_that_closes_early_is_no_bug(workspace: Path) -> None:
    command("call", "word_count", '{"text":"a"}', folder=workspace)
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tallystick audit export | true; echo ${{PIPESTATUS[0]}}"],
        cwd=workspace, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() in {"0", "1"}
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_escapes(workspace: Path) -> None:
    called = command("call", "word_count", '{"text":"a"}', "-s", "s1", folder=workspace, PYTHONIOENCODING="ascii")
    assert called.code == 0
    refused = command("call", "naïve", folder=workspace, PYTHONIOENCODING="ascii")
    assert refused.code == 1
    assert command("audit", "list", folder=workspace, PYTHONIOENCODING="ascii").code == 0


def test_completion_is_offered(tmp_path: Path) -> None:
    asked = command(folder=tmp_path, _TALLY_COMPLETE="complete_bash", COMP_WORDS="tally aud", COMP_CWORD="1")
    assert "audit" in asked.out
