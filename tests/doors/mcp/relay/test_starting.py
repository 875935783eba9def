import pytest

from tallystick.doors.mcp.relay.default_policy import relay_settings, starting_policy, write_policy
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.errors import ConfigError
from tallystick.gate.decide.policy import Policy
from tallystick.settings import load_settings

TOOLS = [
    {"name": "read_x", "inputSchema": {}},
    {"name": 'odd "name" \\ ]', "inputSchema": {}},
    {"name": "write_x"},
    {"name": 7},
    {"name": "read_x", "annotations": {"readOnlyHint": False}},
]


@pytest.mark.promise("relay.first-policy")
def test_the_first_policy_can_be_read_back_and_names_each_tool_once(tmp_path):
    assert write_policy(
        tmp_path / "ws", starting_policy(Wrapping(name="s"), TOOLS, workspace=tmp_path / "a\n[policy]\nwrite = 1")
    )
    settings = load_settings(tmp_path / "ws", environ={})
    assert {name: tool.decision for name, tool in settings.tools.items()} == {
        "s.read_x": "allow", "s.odd-x20--x22-name-x22--x20--x5c--x20--x5d-": "ask", "s.write_x": "ask",
    }  # fmt: skip
    assert (settings.policy.write, settings.policy.external) == ("ask", "ask")
    assert Policy.from_settings(settings)


@pytest.mark.promise("relay.first-policy")
def test_a_policy_that_is_there_is_never_written_over(tmp_path):
    (tmp_path / "tallystick.toml").write_text("# mine\n")
    assert not write_policy(tmp_path, starting_policy(Wrapping(name="s"), TOOLS, workspace=tmp_path))
    assert (tmp_path / "tallystick.toml").read_text() == "# mine\n"


@pytest.mark.promise("relay.bad-input")
def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError) as caught:
        write_policy(tmp_path / "file" / "ws", "")
    assert caught.value.code == "workspace_unwritable"


@pytest.mark.promise("relay.unsaid")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", ("allow", "ask", "ask")),
        ('[tools."s.x"]\nrate = 5\n', ("allow", "ask", "ask")),
        ("[policy]\nshadow = true\n", ("allow", "ask", "ask")),
        ('[policy]\nwrite = "allow"\n', ("allow", "allow", "ask")),
        ('[policy]\nread = "deny"\nexternal = "deny"\n', ("deny", "ask", "deny")),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_what_a_file_does_not_say_is_as_in_the_first_policy_and_what_it_says_stands(tmp_path, text, meant, own):
    path = tmp_path / ("mine.toml" if own else "tallystick.toml")
    path.write_text(text)
    policy = relay_settings(tmp_path, path if own else None).policy
    assert (policy.read, policy.write, policy.external) == meant
    assert policy.shadow == ("shadow" in text)


@pytest.mark.promise("relay.unsaid")
def test_the_first_policy_says_what_holds_without_it(tmp_path):
    unsaid = Policy.from_settings(relay_settings(tmp_path))
    write_policy(tmp_path, starting_policy(Wrapping(name="s"), [], workspace=tmp_path))
    assert Policy.from_settings(relay_settings(tmp_path)).digest == unsaid.digest


@pytest.mark.promise("relay.unsaid")
def test_the_environment_still_has_the_last_word(tmp_path, monkeypatch):
    monkeypatch.setenv("TALLY_POLICY__WRITE", "deny")
    assert relay_settings(tmp_path).policy.write == "deny"
