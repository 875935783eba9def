"""Cards and front matter: each line says something of whom the file is about; a story says it in other words."""

from pathlib import Path

import pytest

from tests.gates import open_gate
from tests.offline_turns import AGENTS, ask, conference, tools_of, write_files

CARD, SCENE = "Compendium/Characters/CHAR-odo-marsh.md", "Story/Scenes/SCN-ferry.md"
FILES = {
    CARD: (
        "---\nname: Odo Marsh\naliases: [the ferryman]\nborn: 1902-05-03\n---\n\n# Odo Marsh\n\n"
        "Eyes: grey\nAge: 29\nLives in: the toll house\nDied: 4 March 1931, on the slip\n\nHe never learned to swim.\n"
    ),
    SCENE: (
        "---\ntitle: Ferry\npov: Odo Marsh\n---\n\nThe rope was wet. Odo's green eyes followed the far bank.\n\n"
        "Nobody paid on Sundays.\n"
    ),
    "Story/Scenes/SCN-inn.md": "Marsh, said the landlord, was a good name for him.\n",
}


@pytest.mark.promise("offline.cards-of-people")
@pytest.mark.parametrize(
    ("question", "line", "words"),
    [
        ("How old is Odo Marsh?", 9, "Age: 29"),
        ("Where does Odo Marsh live?", 11, "Lives in: the toll house"),
        ("When did Odo Marsh die?", 12, "Died: 4 March 1931"),
    ],
)
def test_the_line_of_a_card_answers_and_not_the_one_that_only_has_the_name(
    tmp_path: Path, question: str, line: int, words: str
) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        result = ask(gate, question)
    assert result.reply is not None, result.rejected
    assert words in result.reply
    assert f"{CARD}:L{line}" in result.reply
    assert "aliases" not in result.reply
    assert "name: Odo" not in result.reply


@pytest.mark.promise("offline.cards-of-people", "offline.steps")
def test_card_and_story_are_both_read_and_the_roles_tell_each_its_side(tmp_path: Path) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        assert tools_of(ask(gate, "What colour are Odo Marsh's eyes?")) == [
            "file_locator",
            "file_reader",
            "file_reader",
        ]
        continuity, critic = conference(
            gate, "What colour are Odo Marsh's eyes?", AGENTS["continuity"], AGENTS["critic"]
        )
    assert continuity.reply is not None, continuity.rejected
    assert "Eyes: grey" in continuity.reply
    assert critic.reply is not None, critic.rejected
    assert "Odo's green eyes followed the far bank" in critic.reply


@pytest.mark.promise("offline.cards-of-people")
def test_a_file_that_is_asked_for_as_a_whole_begins_with_its_prose(tmp_path: Path) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        result = ask(gate, f"Read {SCENE}")
    assert result.reply is not None, result.rejected
    assert "The rope was wet." in result.reply
    assert "title: Ferry" not in result.reply


@pytest.mark.promise("offline.cards")
@pytest.mark.parametrize(
    "question", ["Where did the rope weigh most?", "What is the second line of the outline?", f"Read {SCENE}"]
)
def test_one_shared_word_or_a_path_alone_chooses_no_analysis(tmp_path: Path, question: str) -> None:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as gate:
        result = ask(gate, question)
    assert set(tools_of(result)) <= {"file_locator", "file_reader"}
