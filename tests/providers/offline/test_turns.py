"""Whole turns on invented workspaces: the right tools, the right passage, evidence that holds, or an honest no."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.providers.offline.model import OfflineModel
from tallystick.turns.loop import TurnResult, TurnToolPolicy
from tallystick.turns.model import Ask, Message, Said
from tests.gates import open_gate
from tests.offline_turns import AGENTS, GUEST, ask, conference, tools_of, write_files

NOVEL = {
    "Story/SCN-outline.md": (
        "# Outline\n\n1. Landfall - Ines brings the salt ship in.\n2. The auction - Bram outbids the harbour master.\n"
        "3. The fire - the warehouse burns.\n"
    ),
    "Story/Scenes/SCN-01-landfall.md": (
        "# Landfall\n\nInes tied the salt ship to the third bollard and counted her men twice.\n"
        '"We sailed with nine," said Bram. "I see eight."\n'
        "Nobody answered him; the gulls did.\n\nThe missing man was called Odo, and he had the key to the strongbox.\n"
    ),
    "Story/Scenes/SCN-02-auction.md": (
        "# The auction\n\nThe harbour master opened the bidding at forty crowns.\n"
        "Bram raised his hand before the hammer fell; the room went quiet.\n"
    ),
    "Compendium/Characters/ines.md": (
        "---\nname: Ines Varga\nage: 41\n---\n# Ines Varga\n\nInes lost two fingers of her left hand in the winter war.\n"
        "She distrusts priests.\n"
    ),
}
DESK = {
    "policies/refunds.md": (
        "# Refunds\n\nA customer may return an unopened parcel within 30 days of delivery.\n"
        "Opened cosmetics are never refunded.\n\n## Damaged goods\n\n"
        "Damaged goods are replaced free of charge when a photo arrives within one week.\n"
    ),
    "policies/shipping.md": "# Shipping\n\nExpress parcels leave the depot before noon.\nIslands take two days longer.\n",
    "macros/greeting.md": "Hello and thank you for writing to us.\n",
}
CODE = {
    "docs/install.md": (
        "# Install\n\nRun the installer with administrator rights.\nThe service listens on port 8443 by default.\n"
    ),
    "docs/backup.md": (
        "# Backup\n\nSnapshots are written every six hours to the archive bucket.\n"
        "Retention is ninety days unless the tenant overrides it.\n"
    ),
    "CHANGELOG.md": "# Changes\n\n- The retry queue no longer drops messages on restart.\n",
}


@pytest.fixture
def gate(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Gate]:
    with open_gate(write_files(tmp_path, getattr(request, "param", NOVEL)), plugins=True) as opened:
        yield opened


def assert_grounded(result: TurnResult, path: str, words: str) -> None:
    assert result.reply is not None, (result.rejected, result.stop_hook, result.abstained)
    assert result.findings is not None
    assert result.findings.ok
    assert words in result.reply
    assert path in (result.evidence or "")
    assert set(result.findings.receipts) <= set(result.receipts)
    assert result.findings.receipts


@pytest.mark.promise("offline.grounded")
@pytest.mark.parametrize(
    ("gate", "message", "path", "words"),
    [
        (NOVEL, "Who had the key to the strongbox?", "Story/Scenes/SCN-01-landfall.md", "Odo"),
        (NOVEL, "How many fingers did Ines lose, and where?", "Compendium/Characters/ines.md", "two fingers"),
        (NOVEL, "At what price did the bidding open?", "Story/Scenes/SCN-02-auction.md", "forty crowns"),
        (NOVEL, 'Where does it say "I see eight"?', "Story/Scenes/SCN-01-landfall.md", "I see eight"),
        (NOVEL, "What is the third entry of the outline?", "Story/SCN-outline.md", "warehouse burns"),
        (DESK, "Can a customer return an unopened parcel?", "policies/refunds.md", "within 30 days"),
        (DESK, "are opened cosmetics refunded", "policies/refunds.md", "never refunded"),
        (DESK, "How long do parcels to islands take?", "policies/shipping.md", "two days longer"),
        (DESK, "What happens with damaged goods and a photo?", "policies/refunds.md", "replaced free of charge"),
        (CODE, "Which port does the service listen on?", "docs/install.md", "8443"),
        (CODE, "How often are snapshots written?", "docs/backup.md", "every six hours"),
        (CODE, "retention period of the tenant", "docs/backup.md", "ninety days"),
        (CODE, "Was something fixed about the retry queue?", "CHANGELOG.md", "no longer drops"),
    ],
    indirect=["gate"],
)
def test_a_question_is_answered_with_the_passage_and_its_proof(gate: Gate, message: str, path: str, words: str) -> None:
    for agent in (GUEST, AGENTS["assistant"]):
        assert_grounded(ask(gate, message, agent), path, words)


@pytest.mark.promise("offline.steps")
def test_a_search_is_followed_by_reading_what_it_found(gate: Gate) -> None:
    result = ask(gate, "Who had the key to the strongbox?")
    assert tools_of(result) == ["file_locator", "file_reader"]


@pytest.mark.promise("offline.steps")
def test_a_file_that_is_named_is_read_and_one_in_another_folder_is_found(gate: Gate) -> None:
    assert tools_of(ask(gate, "Read Story/Scenes/SCN-02-auction.md")) == ["file_reader"]
    result = ask(gate, "Summarize ines.md")
    assert tools_of(result) == ["file_reader", "file_locator", "file_reader"]
    assert_grounded(result, "Compendium/Characters/ines.md", "winter war")


@pytest.mark.promise("offline.steps")
def test_the_lines_that_are_asked_for_are_read(gate: Gate) -> None:
    result = ask(gate, "Read Story/Scenes/SCN-02-auction.md lines 4 to 4")
    assert_grounded(result, "Story/Scenes/SCN-02-auction.md:L4", "before the hammer fell")


@pytest.mark.promise("offline.steps")
def test_a_search_in_vain_is_made_once_more_with_other_words(gate: Gate) -> None:
    result = ask(gate, "Which zebras did Ghislaine feed?")
    searched = [step.outcome.args["search_criteria"] for step in result.steps if step.outcome and step.outcome.args]
    assert len(searched) == len(set(searched)) == 2


@pytest.mark.promise("offline.steps")
def test_a_long_file_is_searched_for_the_place(gate: Gate, tmp_path: Path) -> None:
    lines = [f"The ledger of day {day} holds nothing of note." for day in range(2000)]
    lines[1500] = "On that day the alchemist paid with a ruby."
    (tmp_path / "ledger.md").write_text("\n".join(lines))
    assert_grounded(ask(gate, "In ledger.md, what did the alchemist pay with?"), "ledger.md:L1501", "ruby")


@pytest.mark.promise("offline.honest")
def test_what_stands_nowhere_is_said_to_be_absent_and_proved(gate: Gate) -> None:
    result = ask(gate, "Is there a dragon in the story?")
    assert result.findings is not None
    assert [item.kind for item in result.findings.items if item.ok] == ["absence", "tool_result"]


@pytest.mark.promise("offline.honest")
def test_a_file_that_is_not_there_is_not_made_up(gate: Gate) -> None:
    result = ask(gate, "Read Story/Scenes/SCN-77-nothing.md")
    assert result.reply is not None
    assert "There is no such file" in result.reply


@pytest.mark.promise("offline.honest")
def test_it_does_not_pretend_to_write(gate: Gate) -> None:
    result = ask(gate, "Write a scene in which Bram finds Odo and the strongbox")
    assert result.reply is not None
    assert "no model behind me" in result.reply


@pytest.mark.promise("offline.abstains")
@pytest.mark.parametrize("agent", ["planner", "writer", "editor", "critic", "continuity"])
def test_an_agent_abstains_when_nothing_concerns_its_role(gate: Gate, agent: str) -> None:
    result = ask(gate, "What is the capital of Mongolia?", AGENTS[agent])
    assert (result.abstained, result.rejected) == (True, None)


@pytest.mark.promise("offline.abstains")
def test_agents_cite_what_their_role_has_to_look_at(gate: Gate) -> None:
    question = "Who outbids the harbour master at the auction?"
    assert "SCN-outline.md" in (ask(gate, question, AGENTS["planner"]).evidence or "")
    assert "Story/Scenes/" in (ask(gate, question, AGENTS["critic"]).evidence or "")


@pytest.mark.promise("offline.routes")
def test_the_chief_routes_work_and_says_whose_it_is(gate: Gate) -> None:
    result = ask(gate, "Check the timeline of the fire against canon", AGENTS["assistant"])
    assert tools_of(result)[0] == "task_router"
    assert result.reply is not None
    assert "continuity" in result.reply


@pytest.mark.promise("offline.routes")
@pytest.mark.parametrize("message", ["hello", "hi there!", "???", "thanks"])
def test_small_talk_gets_an_answer_with_a_receipt(gate: Gate, message: str) -> None:
    result = ask(gate, message, AGENTS["assistant"])
    assert result.reply is not None
    assert result.findings is not None
    assert result.findings.ok


@pytest.mark.promise("offline.protocol")
@pytest.mark.parametrize("message", ["hello", "Who is Bram?", "Read ines.md", ""])
def test_a_required_call_is_made(gate: Gate, message: str) -> None:
    result = ask(gate, message or "…", AGENTS["assistant"], policy=TurnToolPolicy(require_tool=True))
    assert tools_of(result)
    assert result.rejected is None


@pytest.mark.promise("offline.protocol")
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_the_answer_holds_however_few_steps_there_are(gate: Gate, steps: int) -> None:
    result = ask(gate, "How many fingers did Ines lose?", max_steps=steps)
    assert result.rejected is None
    assert len(tools_of(result)) <= steps


@pytest.mark.promise("offline.protocol")
def test_only_allowed_tools_are_called(gate: Gate) -> None:
    result = ask(gate, "Who had the key?", policy=TurnToolPolicy(allowed_tools=frozenset({"file_reader"})))
    assert result.rejected is None
    assert set(tools_of(result)) <= {"file_reader"}


@pytest.mark.promise("offline.protocol")
def test_without_tools_it_says_that_it_cannot(gate: Gate) -> None:
    raw = ask(gate, "Who had the key?", skip_tools=True)
    assert raw.reply is not None
    assert "no model behind me" in raw.reply


@pytest.mark.promise("offline.conference")
def test_results_that_others_brought_are_interpreted_or_left_to_others(gate: Gate) -> None:
    question = "Who had the key to the strongbox?"
    critic, planner, chief = conference(gate, question, AGENTS["critic"], AGENTS["planner"], AGENTS["assistant"])
    assert_said(critic, "Odo")
    assert_said(chief, "Odo")
    assert planner.abstained
    # Nobody calls a tool in this phase.
    assert not any(tools_of(result) for result in (critic, planner, chief))


def assert_said(result: TurnResult, words: str) -> None:
    assert result.reply is not None, (result.rejected, result.abstained)
    assert words in result.reply
    assert result.findings is not None
    assert result.findings.ok


def test_a_follow_up_is_about_the_same_thing(gate: Gate) -> None:
    history = (
        Message(role="user", content="Tell me about Ines and the winter war"),
        Message(role="assistant", content="…"),
    )
    result = ask(gate, "And her fingers?", history=history)
    assert_grounded(result, "Compendium/Characters/ines.md", "two fingers")


@pytest.mark.promise("offline.deterministic")
def test_the_same_turn_gives_the_same_answer(gate: Gate) -> None:
    answers = {re.sub("rcpt_[0-9a-z]+", "", ask(gate, "Who is Bram?").reply or "") for _ in range(3)}
    assert len(answers) == 1


def test_it_is_a_model_like_any_other(gate: Gate) -> None:
    heard: list[str] = []
    model = OfflineModel()
    said = asyncio.run(model.ask(Ask(messages=(Message(role="user", content="Who is Bram?"),)), hear=heard.append))
    assert isinstance(said, Said)
    assert heard == [said.text]
    assert said.usage.output_tokens > 0
    assert (model.provider, model.speech, said.model) == ("offline", "envelope", model.name)
