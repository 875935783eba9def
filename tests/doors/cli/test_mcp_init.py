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
    path.write_text('mcp_servers = { a = { command = "x" } } # mine\n')
    assert tally("mcp", "init", "-c", "codex", "--yes").code == 0
    assert path.read_text().endswith(" # mine\n")
    assert tomllib.loads(path.read_text())["mcp_servers"]["a"]["args"][-1] == "x"


@pytest.mark.promise("relay.init")
def test_without_a_client_it_says_what_there_is(tally, home):
    cursor(home)
    Path(".mcp.json").write_text('{"mcpServers": {}}')
    found = tally("--json", "mcp", "init").json["items"]
    assert [(one["client"], one["servers"], one["wrapped"]) for one in found] == [
        ("claude-code", 0, 0),
        ("cursor", 2, 0),
    ]


@pytest.mark.promise("relay.init")
def test_where_no_client_is_found_it_says_so_and_what_to_do(tally, home):
    none = tally("mcp", "init")
    assert (none.code, none.out) == (0, "")
    assert "No MCP client was found" in none.err
    assert "--config FILE" in none.err
    assert tally("--json", "mcp", "init").json == {"items": []}


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize("words", [["--undo"], ["--config", "x.json"], ["--server", "git"], ["--", "uvx", "x"]])
def test_what_only_counts_for_one_client_needs_its_name(tally, home, words):
    cursor(home)
    refused = tally("mcp", "init", *words)
    assert (refused.code, refused.error) == (2, "usage")
    assert "--client" in refused.err


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {\n', "breaks off at line"),
        ('{\n"mcpServers": {"git": {"comm', "breaks off at line 2"),
        ('{"mcpServers": {}\n', "breaks off at line"),
        ('{\n // mine\n "mcpServers": {}}', "has comments (see line 2)"),
        ('{"mcpServers": {}} /* mine */', "has comments (see line 1)"),
        ('{"a": 1\n"b": 2}', "is not valid JSON"),
        ("[]", "is no table"),
    ],
)
def test_a_config_that_cannot_be_read_is_called_what_it_is(tally, home, text, said):
    cursor(home).write_text(text)
    refused = tally("mcp", "init", "-c", "cursor", "--yes")
    assert refused.error == "config_unreadable"
    assert said in " ".join(refused.err.split())


@pytest.mark.promise("relay.bad-input")
def test_a_client_that_is_not_here_or_a_config_that_cannot_be_read_is_said(tally, home):
    assert tally("mcp", "init", "-c", "windsurf", "--yes").error == "client_not_found"
    assert tally("mcp", "init", "-c", "cursor", "--config", "none.json", "--yes").error == "client_not_found"
    assert tally("mcp", "init", "-c", "telnet").code == 2
    assert tally("mcp", "init", "-c", "cursor", "--config", "none.json", "--undo").error == "client_not_found"
    path = cursor(home)
    assert tally("--json", "mcp", "init", "-c", "cursor", "--undo", "--yes").json["unwrapped"] == []
    for text in ("// a comment\n{}", "[]", '{"mcpServers": []}'):
        path.write_text(text)
        assert tally("mcp", "init", "-c", "cursor", "--yes").error == "config_unreadable"
        assert path.read_text() == text
    path.write_text("{}")
    assert tally("mcp", "init", "-c", "cursor", "--yes").error == "server_not_found"


SECRETS = """\
{
    "mcpServers": {
        "git": {"command": "npx", "args": ["-y", "x", "--api-key", "k-in-words"],
                "env": {"GITHUB_TOKEN": "t0k", "LOG_LEVEL": "debug", "DB": "pg://me:pw-in-url@h/db"}},
        "web": {
            "url": "https://x.example/mcp?api_key=k-in-query",
            "headers": {"Authorization": "Bearer s3cret", "X-Team": "blue-team"}
        }
    }
}
"""


@pytest.mark.promise("relay.init-secrets")
def test_the_difference_shows_no_secret_and_the_file_keeps_them(tally, home):
    path = cursor(home)
    path.write_text(SECRETS)
    for options in ((), ("--undo",)):
        done = tally("mcp", "init", "-c", "cursor", "--yes", *options)
        assert done.code == 0
        for secret in ("t0k", "k-in-words", "pw-in-url", "k-in-query", "s3cret", "blue-team"):
            assert secret not in done.err + done.out, (secret, options)
            assert secret in path.read_text()
        assert "[redacted]" in done.err
        assert "[redacted]]" not in done.err
        assert "Authorization: ${TALLY_HEADER_1}" in done.err
        assert '"LOG_LEVEL": "debug"' in done.err
        assert "x.example" in done.err


@pytest.mark.promise("relay.init-secrets")
def test_names_that_the_configuration_calls_secret_are_hidden_too_in_toml_as_well(tally, home):
    Path("tallystick.toml").write_text('[redact]\nkeys = ["badge"]\n')
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    text = '[mcp_servers.git]\ncommand = "x"\nenv = { MY_TOKEN = "t0k", BADGE = "b4dge" }\n'
    path.write_text(text)
    done = tally("mcp", "init", "-c", "codex", "--yes")
    assert "t0k" not in done.err
    assert "b4dge" not in done.err
    assert "+args = " in done.err
    Path("tallystick.toml").write_text("broken = = ")
    assert "t0k" not in tally("mcp", "init", "-c", "codex", "--undo", "--yes").err
    assert path.read_text() == text


@pytest.mark.promise("relay.init")
def test_lines_that_do_not_change_stay_as_they_are(tally, home):
    path = cursor(home)
    path.write_text(SECRETS)
    assert tally("mcp", "init", "-c", "cursor", "-s", "git", "--yes").code == 0
    was, now = SECRETS.splitlines(), path.read_text().splitlines()
    assert [line for line in was if line not in now] == [was[2]]
    assert tally("mcp", "init", "-c", "cursor", "--yes").code == 0
    assert tally("mcp", "init", "-c", "cursor", "--undo", "--yes").code == 0
    assert path.read_text() == SECRETS


@pytest.mark.promise("relay.undo")
def test_undo_takes_the_gate_from_all_servers_however_often_init_ran(tally, home):
    path = cursor(home)
    before = path.read_text()
    for name in ("git", "web"):
        assert tally("mcp", "init", "-c", "cursor", "-s", name, "--yes").code == 0
    assert path.with_name("mcp.json.before-tally").read_text() == before
    assert tally("--json", "mcp", "init", "-c", "cursor", "--undo", "--yes").json["unwrapped"] == ["git", "web"]
    assert path.read_text() == before
    again = tally("--json", "mcp", "init", "-c", "cursor", "--undo", "--yes")
    assert (again.code, again.json["unwrapped"]) == (0, [])
    assert path.read_text() == before


@pytest.mark.promise("relay.undo")
def test_undo_leaves_what_came_later_and_needs_no_copy(tally, home):
    path = cursor(home)
    assert tally("mcp", "init", "-c", "cursor", "--yes").code == 0
    now = json.loads(path.read_text())
    now["mcpServers"]["late"] = {"command": "late"}
    now["mcpServers"]["git"]["env"] = {"A": "later"}
    path.write_text(json.dumps(now))
    path.with_name("mcp.json.before-tally").unlink()
    assert tally("mcp", "init", "-c", "cursor", "-s", "web", "--undo", "--yes").code == 0
    assert json.loads(path.read_text())["mcpServers"]["git"] == now["mcpServers"]["git"]
    assert tally("mcp", "init", "-c", "cursor", "--undo", "--yes").code == 0
    assert json.loads(path.read_text()) == {
        "other": 1,
        "mcpServers": {**SERVERS, "git": {**SERVERS["git"], "env": {"A": "later"}}, "late": {"command": "late"}},
    }


@pytest.mark.promise("relay.init")
def test_a_config_with_comments_is_noted_and_the_others_are_shown_as_usual(tally, home):
    cursor(home)
    path = Path(".vscode/mcp.json")
    path.parent.mkdir()
    path.write_text('{\n  // mine\n  "servers": {}\n}\n')
    found = {one["client"]: one for one in tally("--json", "mcp", "init").json["items"]}
    assert (found["cursor"]["servers"], found["cursor"]["note"]) == (2, None)
    assert found["vscode"]["servers"] is None
    assert found["vscode"]["note"]
    assert tally("mcp", "init").code == 0
    said = tally("mcp", "init", "-c", "vscode", "--yes")
    assert said.error == "config_unreadable"
    assert "line 2" in said.err
    assert '["mcp", "wrap"' in said.err


@pytest.mark.promise("relay.init")
def test_an_address_in_toml_is_left_as_it_is(tally, home):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('[mcp_servers.web]\nurl = "https://x.example/mcp"\n')
    assert tally("--json", "mcp", "init", "-c", "codex", "--yes").json["wrapped"] == []
    assert tomllib.loads(path.read_text())["mcp_servers"]["web"] == {"url": "https://x.example/mcp"}


ENTRY = {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "b"}}
JOINED = {"type": "local", "command": ["uvx", "mcp-server-git"], "environment": {"A": "b"}}


@pytest.mark.promise("relay.init", "relay.undo")
@pytest.mark.parametrize(
    ("client", "place", "keys", "entry"),
    [
        ("claude-code-project", ".claude.json", ("projects", "{project}", "mcpServers"), ENTRY),
        ("zed", ".config/zed/settings.json", ("context_servers",), {**ENTRY, "source": "custom"}),
        (
            "cline",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            ("mcpServers",),
            ENTRY,
        ),
        ("roo", ".roo/mcp.json", ("mcpServers",), {**ENTRY, "alwaysAllow": ["x"]}),
        ("lm-studio", ".lmstudio/mcp.json", ("mcpServers",), ENTRY),
        ("jetbrains", ".junie/mcp/mcp.json", ("mcpServers",), ENTRY),
        ("opencode", ".config/opencode/opencode.json", ("mcp",), JOINED),
        ("copilot", ".copilot/mcp-config.json", ("mcpServers",), {**ENTRY, "type": "local", "tools": ["*"]}),
    ],
)
def test_the_configs_of_other_clients_are_wrapped_and_undone(tally, home, client, place, keys, entry):
    path = (Path.cwd() if place.startswith(".roo") else home) / place
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"git": entry}
    for key in reversed(keys):
        whole = {key.replace("{project}", str(Path.cwd())): whole}
    before = json.dumps({"theme": "dark", **whole}, indent=2)
    path.write_text(before)
    assert tally("--json", "mcp", "init", "-c", client, "--yes").json["wrapped"] == ["git"]
    now = json.loads(path.read_text())
    for key in keys:
        now = now[key.replace("{project}", str(Path.cwd()))]
    command, wrapped = now["git"]["command"], ["mcp", "wrap", "--name", "git", "--", "uvx", "mcp-server-git"]
    assert (command[1:] if isinstance(command, list) else now["git"]["args"]) == wrapped
    assert {key: now["git"][key] for key in entry if key not in {"command", "args"}} == {
        key: entry[key] for key in entry if key not in {"command", "args"}
    }
    assert tally("mcp", "init", "-c", client, "--undo", "--yes").code == 0
    assert path.read_text() == before
