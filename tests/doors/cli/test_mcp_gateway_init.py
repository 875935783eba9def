import json
import stat
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

SERVERS = {
    "git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "secret-value-1"}},
    "off": {"command": "uvx", "args": ["x"], "disabled": True},
    "asks": {"command": "uvx", "args": ["${input:key}"]},
    "a b": {"command": "uvx", "args": ["y"]},
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder, project = tmp_path / "home", tmp_path / "project"
    folder.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(project)
    return folder


def config(home, name, servers):
    path = home / name / "mcp.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"other": 1, "mcpServers": servers}, indent=3))
    return path


@contextmanager
def asking_server(status, **headers):
    """An HTTP server that answers everything with this status."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


@pytest.mark.promise("gateway.init")
def test_a_whole_config_moves_behind_the_gateway_and_back(tally, home):
    path = config(home, ".cursor", SERVERS)
    before = path.read_text()
    listed = home / ".tallystick" / "gateway" / "servers.json"
    assert tally("mcp", "init", "-c", "cursor", "--gateway").error == "not_answered"
    assert not listed.exists()
    done = tally("--json", "mcp", "init", "-c", "cursor", "--gateway", "--yes")
    assert done.json["moved"] == ["git"]
    assert "secret-value-1" not in done.err
    for name, why in (("off", "switched off"), ("asks", "variables"), ("a b", "rename")):
        assert why in done.json["left"][name]
    now = json.loads(path.read_text())
    assert now["other"] == 1
    assert set(now["mcpServers"]) == {"off", "asks", "a b", "tallystick"}
    assert now["mcpServers"]["tallystick"]["args"] == ["mcp", "gateway", "--view", "cursor"]
    whole = json.loads(listed.read_text())
    assert (whole["mcpServers"], whole["views"]) == ({"git": SERVERS["git"]}, {"cursor": ["git"]})
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    assert tally("--json", "mcp", "init", "-c", "cursor", "--gateway", "--yes").json["moved"] == []
    assert tally("mcp", "init", "-c", "cursor", "--gateway", "--undo", "--yes").code == 0
    assert path.read_text() == before
    whole = json.loads(listed.read_text())
    assert (whole["mcpServers"], whole["views"]) == ({}, {})


@pytest.mark.promise("gateway.init")
def test_two_clients_share_a_server_and_one_can_leave(tally, home):
    git = {"git": SERVERS["git"]}
    config(home, ".cursor", git)
    windsurf = home / ".codeium" / "windsurf" / "mcp_config.json"
    windsurf.parent.mkdir(parents=True)
    windsurf.write_text(json.dumps({"mcpServers": {**git, "time": {"command": "uvx", "args": ["t"]}}}))
    for client in ("cursor", "windsurf"):
        assert tally("mcp", "init", "-c", client, "--gateway", "--yes").code == 0
    assert tally("mcp", "init", "-c", "windsurf", "--gateway", "--undo", "--yes").code == 0
    whole = json.loads((home / ".tallystick" / "gateway" / "servers.json").read_text())
    assert (whole["mcpServers"], whole["views"]) == (git, {"cursor": ["git"]})
    assert set(json.loads(windsurf.read_text())["mcpServers"]) == {"git", "time"}


@pytest.mark.promise("gateway.init")
def test_a_wrapped_server_moves_without_its_own_gate_and_another_of_the_same_name_stays(tally, home):
    config(home, ".cursor", {"git": SERVERS["git"]})
    tally("mcp", "init", "-c", "cursor", "--yes")
    assert tally("--json", "mcp", "init", "-c", "cursor", "--gateway", "--yes").json["moved"] == ["git"]
    whole = json.loads((home / ".tallystick" / "gateway" / "servers.json").read_text())
    assert whole["mcpServers"] == {"git": SERVERS["git"]}
    other = home / ".codeium" / "windsurf" / "mcp_config.json"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps({"mcpServers": {"git": {"command": "other"}}}))
    done = tally("--json", "mcp", "init", "-c", "windsurf", "--gateway", "--yes")
    assert done.json["moved"] == []
    assert done.json["left"] == {"git": "another server behind the gateway has this name"}


@pytest.mark.promise("relay.init-login")
@pytest.mark.parametrize("option", [[], ["--gateway"]], ids=["wrap", "gateway"])
def test_a_server_that_asks_for_a_login_is_left_and_said(tally, home, option):
    with asking_server(401, WWW_Authenticate="Bearer") as linear, asking_server(400) as open_one:
        servers = {"linear": {"url": linear}, "open": {"url": open_one}, "key": {"url": linear, "headers": {"A": "b"}}}
        path = config(home, ".cursor", servers)
        done = tally("mcp", "init", "-c", "cursor", *option, "--yes")
    assert done.out.startswith("open, key: behind the gate")
    assert "linear: unchanged (it requires OAuth" in done.err
    assert json.loads(path.read_text())["mcpServers"]["linear"] == servers["linear"]
