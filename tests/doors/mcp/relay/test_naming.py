import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp.relay.names import LONGEST, host_name, plain_name, safe_name, server_name, shown_url, tool_id
from tallystick.gate.admit.names import TOOL_ID


@pytest.mark.promise("relay.names")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"], "filesystem"),
        (["npx", "-y", "@org/mcp-server-git@1.2.3"], "git"),
        (["uvx", "mcp-server-time"], "time"),
        (["uvx", "--from", "pkg", "mcp-thing"], "thing"),
        (["/usr/bin/python3.12", "-m", "mcp_server_sqlite", "--db", "x"], "sqlite"),
        (["node", "/srv/weather/build/index.js"], "weather"),
        (["node", "dist/index.js"], "server"),
        (["/opt/bin/github-mcp-server", "stdio"], "github"),
        (["env", "A=b", "uvx", "mcp-server-fetch"], "fetch"),
        (["docker", "run", "-i", "--rm", "mcp/slack"], "slack"),
        (["python", "my_tools.py"], "my_tools"),
        (["mcp"], "mcp"),
        (["---"], "server"),
        ([], "server"),
    ],
)
def test_a_server_is_named_after_what_it_is_and_not_after_what_starts_it(command, name):
    assert server_name(command) == name


@pytest.mark.promise("relay.names")
def test_a_server_with_an_address_is_named_after_its_host():
    assert host_name("https://mcp.example.org/sse") == "example-org"
    assert host_name("http://127.0.0.1:9001/mcp") == "127-0-0-1-9001"


@pytest.mark.promise("relay.names")
@given(st.text(), st.lists(st.text()))
def test_any_name_can_be_a_folder_and_the_beginning_of_a_tools_id(given_name, command):
    for name in (plain_name(given_name), safe_name(given_name), server_name(command)):
        assert 0 < len(name) <= LONGEST
        assert TOOL_ID.fullmatch(name)
        assert name not in {".", ".."}


@pytest.mark.promise("relay.names")
def test_a_tools_name_is_kept_and_odd_letters_are_written_as_numbers():
    assert tool_id("git", "git_status") == "git.git_status"
    assert tool_id("s", "read file/é") == "s.read-x20-file-x2f--xe9-"


@pytest.mark.promise("relay.names")
def test_an_address_is_shown_without_what_is_secret_in_it_and_any_port_can_be_named() -> None:
    assert shown_url("https://ann:hunter22@host:8443/mcp?key=abc") == "https://host:8443/mcp"
    assert shown_url("http://host:99999999/x") == "http://host/x"
    assert host_name("http://host:none/x") == "host"
