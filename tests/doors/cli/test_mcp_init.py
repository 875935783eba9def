import json
import tomllib
from pathlib import Path

import pytest

SERVERS = {"git": {"command": "uvx", "args": ["mcp-server-git"]}, "web": {"url": "https://x.example/mcp"}}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder, project = tmp_path / "home", tmp_path / "project"
    folder.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(project)
    return folder


def cursor(home: Path) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"other": 1, "mcpServers": SERVERS}))
    return path


@pytest.mark.promise("relay.init")
def test_init_wraps_every_server_after_showing_the_difference_and_can_be_undone(tally, home):
    path = cursor(home)
    before = path.read_text()
    assert tally("mcp", "init", "-c", "cursor").error == "not_answered"
    assert path.read_text() == before
    done = tally("--json", "mcp", "init", "-c", "cursor", "--yes")
    assert done.code == 0
    assert done.json["wrapped"] == ["git", "web"]
    assert '+        "wrap",' in done.err
    now = json.loads(path.read_text())
    assert now["other"] == 1
    assert now["mcpServers"]["git"]["args"] == ["mcp", "wrap", "--name", "git", "--", "uvx", "mcp-server-git"]
    assert tally("--json", "mcp", "init", "-c", "cursor", "--yes").json["wrapped"] == []
    assert tally("mcp", "init", "-c", "cursor", "--undo", "--yes").code == 0
    assert path.read_text() == before


@pytest.mark.promise("relay.init")
def test_one_server_can_be_chosen_or_added(tally, home):
    path = cursor(home)
    assert tally("--json", "mcp", "init", "-c", "cursor", "-s", "git", "--yes").json["wrapped"] == ["git"]
    assert json.loads(path.read_text())["mcpServers"]["web"] == SERVERS["web"]
    assert tally("mcp", "init", "-c", "cursor", "-s", "none", "--yes").error == "server_not_found"
    added = tally("--json", "mcp", "init", "-c", "cursor", "-s", "time", "--yes", "--", "uvx", "mcp-server-time")
    assert added.json["wrapped"] == ["time"]
    assert tally("mcp", "init", "-c", "cursor", "--yes", "--", "uvx", "x").code == 2


@pytest.mark.promise("relay.init")
def test_codex_keeps_its_comments(tally, home):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('# mine\n[mcp_servers.git]\ncommand = "uvx"\nargs = ["mcp-server-git"]\n')
    assert tally("mcp", "init", "-c", "codex", "--yes").code == 0
    assert path.read_text().startswith("# mine\n[mcp_servers.git]\n")
    assert tomllib.loads(path.read_text())["mcp_servers"]["git"]["args"][-2:] == ["uvx", "mcp-server-git"]
    assert tally("mcp", "init", "-c", "codex", "-s", "new", "--yes", "--", "x").code == 0
    assert tomllib.loads(path.read_text())["mcp_servers"]["new"]["args"] == ["mcp", "wrap", "--name", "new", "--", "x"]
    path.write_text('mcp_servers = { a = { command = "x" } }')
    assert tally("mcp", "init", "-c", "codex", "--yes").error == "config_unreadable"


@pytest.mark.promise("relay.init")
def test_without_a_client_it_says_what_there_is(tally, home):
    cursor(home)
    Path(".mcp.json").write_text('{"mcpServers": {}}')
    found = tally("--json", "mcp", "init").json["items"]
    assert [(one["client"], one["servers"], one["wrapped"]) for one in found] == [
        ("claude-code", 0, 0),
        ("cursor", 2, 0),
    ]


@pytest.mark.promise("relay.bad-input")
def test_a_client_that_is_not_here_or_a_config_that_cannot_be_read_is_said(tally, home):
    assert tally("mcp", "init", "-c", "windsurf", "--yes").error == "client_not_found"
    assert tally("mcp", "init", "-c", "cursor", "--config", "none.json", "--yes").error == "client_not_found"
    assert tally("mcp", "init", "-c", "telnet").code == 2
    assert tally("mcp", "init", "-c", "cursor", "--config", "none.json", "--undo").error == "client_not_found"
    path = cursor(home)
    assert tally("mcp", "init", "-c", "cursor", "--undo", "--yes").error == "backup_not_found"
    for text in ("// a comment\n{}", "[]", '{"mcpServers": []}'):
        path.write_text(text)
        assert tally("mcp", "init", "-c", "cursor", "--yes").error == "config_unreadable"
        assert path.read_text() == text
    path.write_text("{}")
    assert tally("mcp", "init", "-c", "cursor", "--yes").error == "server_not_found"
