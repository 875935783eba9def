"""At a conference's table: the router's word decides whom a matter concerns, and only the chief passes it on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tests.gates import open_gate
from tests.offline_turns import AGENTS, ask, conference, write_files

FILES = {
    "Story/Scenes/SCN-01.md": "# The quay\n\nAda waited on the quay with her green eyes fixed on the mail boat.\n",
    "Compendium/Characters/ada.md": "# Ada\n\nAda has grey eyes and keeps the light at the end of the quay.\n",
}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as opened:
        yield opened


@pytest.mark.promise("offline.conference", "offline.abstains")
def test_what_the_router_gives_to_one_agent_the_others_leave_to_it(gate: Gate) -> None:
    who = ("assistant", "continuity", "writer", "editor")
    chief, continuity, *others = conference(
        gate, "Check the continuity of Ada's eyes.", *(AGENTS[each] for each in who)
    )
    assert chief.reply is not None
    assert "This is for continuity" in chief.reply
    assert continuity.reply is not None
    assert "This is for" not in continuity.reply
    assert all(each.abstained for each in others)


@pytest.mark.promise("offline.conference")
def test_where_nobody_is_named_everyone_speaks_to_the_matter_and_nobody_of_routing(gate: Gate) -> None:
    for result in conference(gate, "What does SCN-01 say about the mail boat?", AGENTS["assistant"], AGENTS["critic"]):
        assert result.reply is not None
        assert "mail boat" in result.reply
        assert "routable" not in result.reply


@pytest.mark.promise("offline.conference", "offline.abstains")
def test_that_a_check_found_nothing_is_said_by_whose_work_the_check_is(tmp_path: Path) -> None:
    agreed = {**FILES, "Story/Scenes/SCN-01.md": "# The quay\n\nAda waited on the quay for the mail boat.\n"}
    who = ("assistant", "planner", "writer", "critic", "continuity")
    with open_gate(write_files(tmp_path, agreed), plugins=True) as gate:
        message = "Check Story/Scenes/SCN-01.md against the canon."
        chief, *others, continuity = conference(gate, message, *(AGENTS[each] for each in who))
    for result in (chief, continuity):
        assert result.reply is not None, result.rejected
        assert "no findings" in result.reply
    assert all(each.abstained for each in others)


@pytest.mark.promise("offline.findings", "offline.honest")
def test_asked_alone_the_agent_says_that_its_check_found_nothing(tmp_path: Path) -> None:
    agreed = {**FILES, "Story/Scenes/SCN-01.md": "# The quay\n\nAda waited on the quay for the mail boat.\n"}
    with open_gate(write_files(tmp_path, agreed), plugins=True) as gate:
        result = ask(gate, "Check Story/Scenes/SCN-01.md against the canon.", AGENTS["continuity"])
    assert result.reply is not None, result.rejected
    assert "no findings" in result.reply
    assert result.findings is not None
    assert result.findings.ok
