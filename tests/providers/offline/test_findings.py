"""What a tool has found, told with the lines it rests on: by any tool, in any order, never against the check."""

from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, tool
from tallystick.providers.offline.summarising import facts_of
from tests.gates import open_gate
from tests.offline_turns import AGENTS, ask, conference, tools_of, write_files

CARD, SCENE = "Compendium/Characters/CHAR-odo.md", "Story/Scenes/SCN-ferry.md"
FILES = {
    CARD: "# Odo Marsh\n\nEyes: grey\nBorn: 3 May 1902\n",
    SCENE: "# Ferry\n\nOdo Marsh looked up. Odo's green eyes were wet from the wind on the ferry.\n",
}


def place(path: str, line: int, quote: str) -> dict[str, Any]:
    return {"path": path, "line": line, "quote": quote}


EYES = {
    "rule": "eyes", "severity": "error", "message": "Odo Marsh has green eyes here; the card says grey.",
    "canon": place(CARD, 3, "Eyes: grey"), "scene": place(SCENE, 3, "Odo's green eyes were wet from the wind"),
    "waived": False,
}  # fmt: skip


def gate_with(tmp_path: Path, *findings: dict[str, Any]) -> Gate:
    @tool(effect="read")
    def fact_audit(scene_path: str) -> dict[str, Any]:
        """Audit the facts of a scene against its cards and give contradictions with both lines."""
        return {"scene_path": scene_path, "findings": list(findings)}

    return open_gate(write_files(tmp_path, FILES), fact_audit, plugins=True)


@pytest.mark.promise("offline.findings")
def test_a_finding_is_told_with_both_lines_and_they_hold(tmp_path: Path) -> None:
    with gate_with(tmp_path, EYES) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    assert tools_of(result) == ["fact_audit"]
    assert result.reply is not None, result.rejected
    assert result.findings is not None
    assert result.findings.ok
    assert "the card says grey" in result.reply
    assert f"{CARD}:L3" in result.reply
    assert f'"Odo\'s green eyes were wet from the wind" {SCENE}:L3' in result.reply


@pytest.mark.promise("offline.findings")
def test_in_a_conference_it_is_told_by_those_whose_files_it_rests_on(tmp_path: Path) -> None:
    with gate_with(tmp_path, EYES) as gate:
        agents = [AGENTS[name] for name in ("assistant", "planner", "continuity", "critic")]
        chief, planner, continuity, critic = conference(gate, f"Use fact_audit on {SCENE}", *agents)
    assert planner.abstained
    for result in (chief, continuity, critic):
        assert result.reply is not None, result.rejected
        assert "green eyes were wet" in result.reply


@pytest.mark.promise("offline.findings")
def test_what_a_person_has_set_aside_is_not_told(tmp_path: Path) -> None:
    with gate_with(tmp_path, {**EYES, "waived": True}) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    assert result.reply is not None, result.rejected
    assert f"{CARD}:L3" not in result.reply


@pytest.mark.promise("offline.findings", "offline.injection")
def test_a_finding_that_quotes_what_is_not_there_gives_no_false_answer(tmp_path: Path) -> None:
    false = {**EYES, "scene": place(SCENE, 3, "Odo's violet eyes were wet from the wind")}
    with gate_with(tmp_path, false) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    # The tool lied: the check refuses what rests on it, and nothing of it is shown as an answer.
    assert result.reply is None
    assert result.rejected is not None
    assert result.rejected.code == "quote_not_found"


@pytest.mark.promise("offline.findings")
@pytest.mark.parametrize("message", ["<think>hm</think>", "fact_audit(scene_path=1)", "rcpt_000000000001"])
def test_words_of_a_tool_that_may_not_stand_in_a_reply_are_left_out(tmp_path: Path, message: str) -> None:
    with gate_with(tmp_path, {**EYES, "message": message}) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    assert result.reply is not None, result.rejected
    assert message not in result.reply
    assert "green eyes were wet" in result.reply


@pytest.mark.promise("offline.findings")
def test_what_concerns_the_request_comes_first(tmp_path: Path) -> None:
    others = [
        {**EYES, "message": f"Another thing, number {number}.", "scene": place(SCENE, 3, "Odo Marsh looked up")}
        for number in range(14)
    ]
    with gate_with(tmp_path, *others, EYES) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}: are the green eyes right?")
    assert result.reply is not None, result.rejected
    assert result.reply.index("the card says grey") < result.reply.index("Another thing")
    assert all(f"Another thing, number {number}." in result.reply for number in range(14))


@pytest.mark.promise("offline.findings")
def test_what_two_tools_have_found_is_told_once(tmp_path: Path) -> None:
    with gate_with(tmp_path, EYES, {**EYES}) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    assert result.reply is not None, result.rejected
    assert result.reply.count("the card says grey") == 1
    assert result.reply.count(f"{CARD}:L3") == 1


@pytest.mark.promise("offline.findings", "offline.honest")
def test_that_nothing_was_found_is_said_in_a_sentence(tmp_path: Path) -> None:
    with gate_with(tmp_path) as gate:
        result = ask(gate, f"Use fact_audit on {SCENE}")
    assert result.reply is not None, result.rejected
    assert "fact_audit reports no findings." in result.reply
    assert "sha256" not in result.reply


def test_of_a_table_the_rows_that_stand_out_are_told_first_and_bookkeeping_not_at_all() -> None:
    rows = [{"name": f"m{at}", "value": at, "verdict": "higher" if at == 9 else "usual"} for at in range(12)]
    lines = facts_of({"sha256": "ab" * 32, "dry_run": False, "truncated": True, "measures": rows}, frozenset())
    assert lines[0] == "truncated: yes"
    assert lines[1] == "measures: name: m9; value: 9; verdict: higher"
    assert not any("sha256" in line or "dry run" in line for line in lines)
