import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp.relay.clients import CLIENTS, as_before, changed_servers, is_wrapped, unwrapped, wrapped
from tallystick.doors.mcp.relay.toml_edit import with_values

CURSOR = next(client for client in CLIENTS if client.name == "cursor")


@pytest.mark.promise("relay.init")
def test_a_command_gets_the_gate_in_front_and_keeps_everything_else():
    entry = {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "disabled": False}
    made = wrapped("git", entry, tally="/bin/tally", typed=False)
    assert made == entry | {"command": "/bin/tally", "args": ["mcp", "wrap", "--name", "git", "--", "npx", "-y", "x"]}
    assert is_wrapped(made)


@pytest.mark.promise("relay.init")
def test_an_address_becomes_a_command_and_its_secrets_stay_out_of_the_command_line():
    entry = {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer s3cret"}}
    made = wrapped("x", entry, tally="tally", typed=True)
    assert made == {
        "type": "stdio", "command": "tally", "env": {"TALLY_HEADER_1": "Bearer s3cret"},
        "args": ["mcp", "wrap", "--name", "x", "--header", "Authorization: ${TALLY_HEADER_1}", "--url", "https://x/mcp"],
    }  # fmt: skip
    assert wrapped("x", {"type": "sse", "url": "https://x"}, tally="tally", typed=True) is None
    assert wrapped("x", {}, tally="tally", typed=False) is None


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
TABLES = st.dictionaries(WORDS, WORDS, max_size=3)


@pytest.mark.promise("relay.undo")
@given(WORDS, WORDS, st.lists(WORDS), TABLES)
def test_a_wrapped_command_holds_what_it_was(name, command, args, env):
    entry = {"command": command, "env": env} | ({"args": args} if args else {})
    made = wrapped(name, entry, tally="tally", typed=False)
    assert made is not None
    assert unwrapped(made, address="url", typed=False) == entry
    # Whether an empty list of words stood there, only the copy knows.
    assert as_before(name, made, {name: {**entry, "args": args}}, CURSOR) == {**entry, "args": args}


@pytest.mark.promise("relay.undo")
@pytest.mark.parametrize("client", [one for one in CLIENTS if not one.toml], ids=lambda one: one.name)
def test_a_wrapped_address_holds_what_it_was(client):
    entry = {client.address: "https://x/mcp", "headers": {"Authorization": "Bearer s", "X-A": "b"}, "env": {"A": "b"}}
    entry |= {"type": "http"} if client.typed else {}
    made = wrapped("x", entry, tally="tally", typed=client.typed)
    assert made is not None
    assert unwrapped(made, address=client.address, typed=client.typed) == entry
    odd = {"type": "streamable-http", "url": "https://x/mcp"}
    made = wrapped("x", odd, tally="elsewhere/tally", typed=client.typed)
    assert made is not None
    assert as_before("x", made, {"x": odd}, client) == odd


@pytest.mark.promise("relay.undo")
@pytest.mark.parametrize(
    ("args", "found"),
    [
        (["mcp", "wrap", "uvx", "x"], {"command": "uvx", "args": ["x"]}),
        (["mcp", "wrap", "--strict", "--hold=3", "--policy", "p", "--", "uvx"], {"command": "uvx"}),
        (["mcp", "wrap", "--header", "A: b", "--url=http://x"], {"url": "http://x", "headers": {"A": "b"}}),
        (["mcp", "wrap"], None),
        (["mcp", "wrap", "--name"], None),
        (["mcp", "wrap", "--url", "http://x", "--", "y"], None),
        (["mcp", "wrap", 7], None),
        (["mcp", "serve"], None),
    ],
)
def test_what_was_wrapped_by_hand_can_be_unwrapped(args, found):
    assert unwrapped({"command": "tally", "args": args}, address="url", typed=False) == found


@pytest.mark.promise("relay.init")
def test_only_what_is_wanted_and_not_wrapped_yet_changes():
    servers = {
        "a": {"command": "a"},
        "b": {"command": "b"},
        "c": {"command": "t", "args": ["mcp", "wrap"]},
        "d": {},
        "e": 1,
    }
    made, done, left = changed_servers(servers, servers.keys() - {"b"}, tally="tally", client=CURSOR)
    assert (done, left) == (["a"], ["d"])
    assert {name: made[name] for name in "bcde"} == {name: servers[name] for name in "bcde"}


@pytest.mark.promise("relay.init")
def test_configs_are_looked_for_in_the_project_first_and_then_at_home():
    places = {one.name: one.places(project=Path("/p"), home=Path("/h"), mac=False) for one in CLIENTS}
    assert places["cursor"] == [Path("/p/.cursor/mcp.json"), Path("/h/.cursor/mcp.json")]
    assert places["codex"] == [Path("/h/.codex/config.toml")]
    mac = CLIENTS[0].places(project=Path("/p"), home=Path("/h"), mac=True)
    assert mac == [Path("/h/Library/Application Support/Claude/claude_desktop_config.json")]


CODEX = """\
# my settings
model = "x"  # keep

[mcp_servers.git]  # the repository
command = "uvx"
args = [
    "mcp-server-git",  # a comment
    "--repository", "a ] b",
]
env = { A = "1" }

[mcp_servers.other]
command = "y"
"""


@pytest.mark.promise("relay.init")
def test_a_toml_file_changes_in_two_places_and_nowhere_else():
    made = with_values(CODEX, ("mcp_servers", "git"), {"command": "tally", "args": ["mcp", 'é"\\']})
    assert made is not None
    assert '# my settings\nmodel = "x"  # keep\n\n[mcp_servers.git]  # the repository\ncommand = "tally"\n' in made
    assert tomllib.loads(made)["mcp_servers"]["git"] == {"command": "tally", "args": ["mcp", 'é"\\'], "env": {"A": "1"}}
    assert tomllib.loads(made)["mcp_servers"]["other"] == {"command": "y"}


@pytest.mark.promise("relay.init")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'mcp_servers = { git = { command = "x" } } # mine\n',
            'mcp_servers = { git = { command = "tally" } } # mine\n',
        ),
        ('[mcp_servers]\ngit = { command = "x" }\n', '[mcp_servers]\ngit = { command = "tally" }\n'),
        ('mcp_servers.git.command = "x"\n', 'mcp_servers.git.command = "tally"\n'),
        ('[mcp_servers."git"]\r\ncommand = "x"\r\n', '[mcp_servers."git"]\r\ncommand = "tally"\r\n'),
        ("", '[mcp_servers.git]\ncommand = "tally"\n'),
        ("a = 1 # mine\n", 'a = 1 # mine\n\n[mcp_servers.git]\ncommand = "tally"\n'),
    ],
)
def test_every_way_to_write_a_table_keeps_its_form(text, expected):
    assert with_values(text, ("mcp_servers", "git"), {"command": "tally"}) == expected


@pytest.mark.promise("relay.init")
@pytest.mark.parametrize("text", ["not toml [", "[[mcp_servers.git]]\n", "mcp_servers = 1\n", "a = 1\na = 2\n"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(text):
    assert with_values(text, ("mcp_servers", "git"), {"command": "tally"}) is None


@given(st.text(), st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_no_file_is_changed_into_something_that_was_not_meant(text, args):
    made = with_values(text + "\n[a.b]\nargs = []\n", ("a", "b"), {"args": args})
    if made is not None:
        assert tomllib.loads(made)["a"]["b"]["args"] == args
