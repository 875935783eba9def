"""`tally mcp serve`: what it refuses before it serves anything."""

import socket
from pathlib import Path

import pytest

from tallystick import extras
from tallystick.doors.cli.mcp import commands as mcp_serve
from tallystick.doors.cli.screen import Screen
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.approval_wait import WAIT_S
from tallystick.errors import ConfigError


def here(folder: Path) -> Here:
    return Here(named=folder, screen=Screen(as_json=False, quiet=True))


@pytest.mark.promise("mcp.stdio")
def test_without_the_sdk_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match="tallystick\\[mcp\\]") as refused:
        mcp_serve.serve(here(tmp_path))
    assert refused.value.code == "part_missing"


@pytest.mark.promise("mcp.http")
def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError) as refused:
            mcp_serve.serve(here(tmp_path), http=taken.getsockname()[1])
    assert refused.value.code == "cannot_listen"


def test_the_wait_in_the_help_is_the_one_that_is_waited() -> None:
    assert mcp_serve.WAIT_S == WAIT_S
