"""Plain requests in a workspace where every room has tools and data: what is asked for is done, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.app.discovery import manifests
from tallystick.doors.cli.demo import demo_parts
from tallystick.settings import parse_settings
from tallystick.turns.loop import TurnResult
from tests.offline_turns import AGENTS, ask, tools_of

CARD, OUTLINE = "Compendium/Characters/CHAR-ruth-lufkin.md", "Story/SCN-outline.md"
LOOKING = {"file_locator", "file_reader"}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """The demo's files, and its tickets taken in."""
    folder: Path = tmp_path_factory.mktemp("rooms")
    for part in demo_parts():
        part.prepare(folder)
    state = tmp_path_factory.mktemp("state")
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(state)}})
    with Gate.open(folder, settings=settings, rooms=list(manifests())) as opened:
        taken = opened.call_sync("tool.ingest.upload", {"file_path": "data/tideline-tickets.csv", "dataset_name": "t"})
        assert taken.ok
        yield opened


def told(gate: Gate, message: str, agent: str = "assistant") -> TurnResult:
    result = ask(gate, message, AGENTS[agent])
    assert result.reply is not None, (result.rejected, result.stop_hook)
    return result


@pytest.mark.promise("offline.cards")
@pytest.mark.parametrize(
    "message",
    [
        "Locate the outline file.",
        "Use tools as needed and answer with evidence. Task: locate the outline file.",
        "Return ONLY the JSON tool call object. Use the nonce exactly as given. Task: locate the outline file.",
    ],
)
def test_the_file_that_is_to_be_located_is_located_and_named(gate: Gate, message: str) -> None:
    result = told(gate, message)
    assert set(tools_of(result)) <= LOOKING
    assert f"- {OUTLINE}" in (result.reply or "")


@pytest.mark.promise("offline.cards", "offline.steps")
@pytest.mark.parametrize("message", ["Use the file_locator tool first. Who is Ruth Lufkin?", "Who is Ruth Lufkin?"])
def test_who_somebody_is_is_read_on_the_card_that_was_located(gate: Gate, message: str) -> None:
    result = told(gate, message)
    assert tools_of(result)[:2] == ["file_locator", "file_reader"]
    assert set(tools_of(result)) == LOOKING
    assert "county office" in (result.reply or "")
    assert CARD in (result.evidence or "")


@pytest.mark.promise("offline.arguments")
@pytest.mark.parametrize(
    "message",
    ["Use file_locator to find scenes, then report **one** issue.", "Look at the scenes and report **one** issue."],
)
def test_no_number_is_made_of_a_word_and_no_search_is_made_for_nothing(gate: Gate, message: str) -> None:
    result = told(gate, message)
    calls = [step.outcome for step in result.steps if step.outcome is not None and step.outcome.tool]
    assert all(call.ok for call in calls)
    assert all("dataset_id" not in (call.args or {}) for call in calls)
    assert "holds: scenes" not in (result.reply or "")


@pytest.mark.promise("offline.cards", "offline.arguments")
@pytest.mark.parametrize(
    ("message", "tool", "args"),
    [
        ("Show the report on dataset 1", "tool.reports.get", {"dataset_id": 1}),
        ("List the analyses", "tool.history.list", {"limit": 50, "offset": 0}),
        ("List the open issues", "search_issues", {"status": "open"}),
        ("Search memory for the Kestrel kettle", "mem.search", {"query": "kestrel kettle"}),
        ("Find support tickets about late parcels", "insight.search", {"query": "late parcels"}),
    ],
)
def test_what_belongs_to_a_room_is_asked_of_its_own_tool(
    gate: Gate, message: str, tool: str, args: dict[str, object]
) -> None:
    calls = [step.outcome for step in told(gate, message).steps if step.outcome is not None and step.outcome.tool]
    assert (calls[0].tool, calls[0].args) == (tool, args)


@pytest.mark.promise("offline.arguments")
def test_a_check_is_not_narrowed_to_what_an_earlier_result_named(gate: Gate) -> None:
    scene = "Story/Scenes/SCN-off-gold.md"
    calls = {
        step.outcome.tool: step.outcome.args
        for step in told(gate, f"Check {scene}", "continuity").steps
        if step.outcome is not None and step.outcome.tool
    }
    assert calls["canon_checker"] == {"scene_path": scene}


@pytest.mark.promise("offline.honest")
@pytest.mark.parametrize("message", ["Critique Story/Scenes/SCN-the-vestry.md", "Critique The Vestry"])
def test_what_an_agent_is_ordered_to_do_is_not_looked_for_in_the_files(gate: Gate, message: str) -> None:
    result = told(gate, message, "critic")
    calls = [step.outcome for step in result.steps if step.outcome is not None and step.outcome.tool]
    assert not any("ritique" in str(call.args) for call in calls)
    assert "Story/Scenes/SCN-the-vestry.md" in (result.evidence or "")


@pytest.mark.promise("offline.cards")
def test_a_request_about_a_name_that_stands_nowhere_is_answered_with_that_alone(gate: Gate) -> None:
    result = told(gate, "What is the capital of France?")
    reply = result.reply or ""
    assert "holds: france" in reply
    assert "> " not in reply
    assert "- Story/" not in reply
