"""`tally agents` and `tally credits`."""

from pathlib import Path

import pytest

from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tests.doors.cli.conftest import Tally
from tests.storage.staffing import credit


@pytest.mark.promise("agents.cli")
def test_agents_are_listed_and_shown_without_anything_being_made(tally: Tally, workspace: Path) -> None:
    listed = tally("--json", "agents", "list").json
    assert [item["agent_id"] for item in listed["items"]] == [
        "assistant", "planner", "writer", "editor", "critic", "continuity",
    ]  # fmt: skip
    assert {item["tier"] for item in listed["items"]} == {1}
    shown = tally("--json", "agents", "show", "critic").json
    assert (shown["caps"]["tool_actions"], shown["endpoint"]["provider"], shown["credits"]) == (3, "offline", 0)
    people = tally("agents", "list").out
    assert "Chief of Staff" in people
    assert "must not" in tally("agents", "show", "critic").out
    assert not (workspace / ".control-room").exists()


@pytest.mark.promise("agents.owner")
@pytest.mark.parametrize(
    "words",
    [
        ["set-endpoint", "writer", "--provider", "ollama", "--model", "m"],
        ["clear-endpoint", "writer"],
        ["disable", "writer"],
        ["enable", "writer"],
    ],
)
def test_a_program_without_terminal_or_token_changes_nothing(tally: Tally, workspace: Path, words: list[str]) -> None:
    refused = tally("agents", *words, "--yes")
    assert (refused.code, refused.error) == (1, "person_required")
    assert tally("agents", *words, "--token", "0" * 64).error == "token_invalid"
    assert not (workspace / ".control-room").exists()


@pytest.mark.promise("agents.cli")
def test_a_person_gives_an_agent_a_model_and_takes_it_back(tally: Tally, workspace: Path, token: str) -> None:
    given = tally(
        "--json", "agents", "set-endpoint", "writer", "--provider", "lmstudio", "--model", "qwen", "--base-url",
        "http://127.0.0.1:1234", "--key-env", "MY_KEY", "--native", "--token", token,
    )  # fmt: skip
    assert given.code == 0, given.err
    endpoint = Registry(workspace).endpoint("writer")
    assert (endpoint.provider, endpoint.model, endpoint.protocol, endpoint.api_key_env) == (
        "lmstudio",
        "qwen",
        "native",
        "MY_KEY",
    )
    assert tally("agents", "disable", "writer", "--token", token).code == 0
    writer = Registry(workspace).get("writer")
    assert writer is not None
    assert not writer.enabled
    assert tally("agents", "enable", "writer", "--token", token).code == 0
    assert tally("agents", "clear-endpoint", "writer", "--token", token).code == 0
    assert Registry(workspace).endpoint("writer").provider == "offline"
    records = tally("--json", "audit", "list", "--kind", "note").json["items"]
    assert [record["audit"]["action"] for record in reversed(records)] == [
        "agent.set_endpoint", "agent.off", "agent.on", "agent.clear_endpoint",
    ]  # fmt: skip


@pytest.mark.promise("agents.cli")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["set-endpoint", "nobody", "--provider", "ollama", "--model", "m"], "agent_unknown"),
        (["set-endpoint", "writer", "--provider", "skynet", "--model", "m"], "endpoint_invalid"),
        (["set-endpoint", "writer", "--provider", "openai", "--model", "m", "--key-file", "k"], "key_file_inside"),
        (["clear-endpoint", "nobody"], "agent_unknown"),
        (["disable", "assistant"], "chief_mandatory"),
        (["enable", "nobody"], "agent_unknown"),
    ],
)
def test_what_cannot_be_is_refused_with_its_code(
    tally: Tally, workspace: Path, token: str, words: list[str], code: str
) -> None:
    refused = tally("agents", *words, "--token", token)
    assert (refused.code, refused.error) == (1, code)


def test_an_agent_that_is_not_there_is_named_as_such(tally: Tally, workspace: Path) -> None:
    assert tally("agents", "show", "nobody").error == "agent_unknown"
    assert tally("credits", "--agent", "nobody").error == "agent_unknown"


@pytest.mark.promise("agents.damage")
def test_a_damaged_file_is_one_line_that_names_it(tally: Tally, workspace: Path) -> None:
    folder = workspace / ".control-room" / "agents"
    folder.mkdir(parents=True)
    (folder / "agents.json").write_text("{", encoding="utf-8")
    refused = tally("agents", "list")
    assert (refused.code, refused.error) == (4, "agents_damaged")
    assert (folder / "agents.json").read_text(encoding="utf-8") == "{"


@pytest.mark.promise("agents.credit-readonly")
def test_credits_are_shown_and_there_is_no_command_to_give_any(tally: Tally, workspace: Path) -> None:
    Credits(workspace).record(credit("1"))
    assert tally("--json", "credits").json["balances"]["writer"] == 2
    shown = tally("credits", "--agent", "writer").out
    assert "rcpt_1" in shown
    assert "+2" in shown
    for word in ("add", "give", "set", "record"):
        assert tally("credits", word, "writer", "5").code == 2
    assert Credits(workspace).balance("writer") == 2
