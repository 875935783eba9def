"""`canon_checker` and `consistency_checker`, called through the gate."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.codes import BAD_INPUT
from tests.gates import open_gate
from tests.offline_turns import write_files

ONE, TWO = "Story/Scenes/SCN-01-harbour.md", "Story/Scenes/SCN-02-mill.md"
CARD = "Compendium/Characters/CHAR-mara.md"
FILES = {
    ONE: '# Harbour\n\nMara walked home. "Rain," said Jon.\n\nMara had green eyes. Mara was thirty.\n',
    TWO: "# Mill\n\nIt was late when Mara came.\n\nThe lamp shone into Mara's brown eyes.\n",
    CARD: "---\nname: Mara Voss\neyes: green\nheight: tall\n---\n# Mara Voss\n",
    "Compendium/Characters/CHAR-jon.md": "---\nname: Jon Hale\n---\n# Jon Hale\n",
}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as opened:
        yield opened


def ask(gate: Gate, tool: str, **args: Any) -> dict[str, Any]:
    outcome = gate.call_sync(tool, args)
    assert outcome.status == "accepted", outcome.as_dict()
    result: dict[str, Any] = outcome.result
    return result


@pytest.mark.promise("continuity.canon-checker")
@pytest.mark.parametrize("paths", [[], [CARD], ["Story/Compendium/Canon.md"], ["Canon.md"], [CARD, "Canon.md"]])
def test_a_finding_has_its_rule_and_both_lines(gate: Gate, paths: list[str]) -> None:
    found = ask(gate, "canon_checker", scene_path=TWO, canon_paths=paths)
    (finding,) = found["findings"]
    assert (finding["rule_id"], finding["severity"], finding["waived"]) == ("eye-colour", "error", False)
    assert finding["canon"] == {"path": CARD, "line": 3, "end_line": 3, "quote": "eyes: green"}
    assert finding["scene"]["line"] == 5
    assert (found["findings_total"], found["canon_facts"]) == (1, 2)


def test_other_cards_and_other_scenes_do_not_count(gate: Gate) -> None:
    other = "Compendium/Characters/CHAR-jon.md"
    assert ask(gate, "canon_checker", scene_path=TWO, canon_paths=[other])["findings"] == []
    assert ask(gate, "canon_checker", scene_path=ONE)["findings"] == []


@pytest.mark.promise("continuity.no-canon-no-check")
def test_without_canon_files_it_refuses(tmp_path: Path) -> None:
    with open_gate(write_files(tmp_path, {ONE: FILES[ONE]}), plugins=True) as gate:
        outcome = gate.call_sync("canon_checker", {"scene_path": ONE})
        assert outcome.failure is not None
        assert (outcome.failure.status, outcome.result) == (409, None)
        assert outcome.receipt_id


OUTLINE = "Story/SCN-outline.md"
OTHERS = {
    OUTLINE: "# Act I\n\n- Mara has brown eyes.\n",
    "Story/plan.csv": "scene,eyes\n1,Mara had brown eyes.\n",
    "Notes/idea.md": "Mara had brown eyes.\n",
    "Compendium/Characters/CHAR-.md": "---\nname:\n---\nMara had brown eyes.\n",
}


@pytest.mark.promise("continuity.no-canon-no-check")
@pytest.mark.parametrize("path", [ONE, *OTHERS])
def test_what_is_no_card_is_no_canon(gate: Gate, path: str) -> None:
    write_files(gate.workspace, OTHERS)
    for paths in ([path], [path, CARD]):
        outcome = gate.call_sync("canon_checker", {"scene_path": TWO, "canon_paths": paths})
        assert outcome.failure is not None
        assert outcome.failure.status == 409


def test_a_card_may_stand_outside_the_compendium_if_it_calls_itself_one(gate: Gate) -> None:
    write_files(gate.workspace, {"Drafts/ida.md": "---\ntype: character\nname: Ida\neyes: green\n---\n"})
    found = ask(gate, "canon_checker", scene_path=TWO, canon_paths=["Drafts/ida.md"])
    assert (found["canon_paths"], found["canon_facts"]) == (["Drafts/ida.md"], 1)


@pytest.mark.promise("continuity.consistency-checker")
@pytest.mark.parametrize("path", ["Canon.md", "Story/Compendium/Canon.md"])
def test_the_canon_index_stands_for_all_cards(gate: Gate, path: str) -> None:
    write_files(gate.workspace, {"Canon.md": "# Canon\n\nMara had brown eyes.\n"})
    found = ask(gate, "consistency_checker", file_paths=[TWO, path])
    assert [(file["path"], file["kind"]) for file in found["files"]] == [
        (TWO, "scene"), ("Compendium/Characters/CHAR-jon.md", "card"), (CARD, "card"),
    ]  # fmt: skip
    (finding,) = found["findings"]
    assert finding["canon"]["path"] == CARD
    assert ask(gate, "consistency_checker", file_paths=[path])["findings"] == []


@pytest.mark.promise("continuity.consistency-checker")
@pytest.mark.parametrize("path", [OUTLINE, "Story/plan.csv", "Compendium/Characters/CHAR-.md"])
def test_what_is_no_prose_is_not_read_as_a_scene(gate: Gate, path: str) -> None:
    write_files(gate.workspace, OTHERS)
    for tool, args in (("consistency_checker", {"file_paths": [ONE, path]}), ("canon_checker", {"scene_path": path})):
        outcome = gate.call_sync(tool, args)
        assert outcome.failure is not None
        assert outcome.failure.fault is BAD_INPUT


def test_prose_that_is_no_scene_of_the_book_is_marked(gate: Gate) -> None:
    write_files(gate.workspace, OTHERS)
    found = ask(gate, "consistency_checker", file_paths=["Notes/idea.md"])
    assert [file["kind"] for file in found["files"]] == ["text"]


@pytest.mark.promise("book.complaints")
@pytest.mark.parametrize("dry_run", [False, True])
def test_the_checkers_name_what_they_have_not_seen_or_not_as_it_was_meant(gate: Gate, *, dry_run: bool) -> None:
    write_files(gate.workspace, {
        "Story/Scenes/SCN-03-binary.md": "\0",
        "Compendium/Characters/CHAR-.md": "---\nname:\n---\n",
        "Compendium/Characters/CHAR-two.md": "# Mara Voss\n",
        "Notes/binary.md": "\0",
        TWO: FILES[TWO].replace("# Mill", "---\nwaive: [eye-color: lenses]\n---\n# Mill"),
    })  # fmt: skip
    (gate.workspace / "Story/Scenes/SCN-04-latin.md").write_bytes(b"Caf\xe9.\n")
    for tool, args in (("consistency_checker", {"file_paths": [ONE]}), ("canon_checker", {"scene_path": ONE})):
        found = ask(gate, tool, **args, dry_run=dry_run)
        assert [(one["code"], one["path"].rpartition("/")[2], one["left_out"]) for one in found["complaints"]] == [
            ("card_without_name", "CHAR-.md", "card"),
            ("file_not_text", "SCN-03-binary.md", "scene"),
            ("name_taken", "CHAR-two.md", None),
            ("file_not_utf8", "SCN-04-latin.md", None),
            ("waiver_invalid", "SCN-02-mill.md", None),
        ]
        assert found["complaints_total"] == 5


def test_a_scene_that_is_too_large_is_refused_with_what_to_do(gate: Gate) -> None:
    big = "Story/Scenes/SCN-03-big.md"
    (gate.workspace / big).write_bytes(b"word " * 4_000_000)
    for tool, args in (("consistency_checker", {"file_paths": [big]}), ("canon_checker", {"scene_path": big})):
        failure = gate.call_sync(tool, args).failure
        assert failure is not None
        assert (failure.status, failure.hint) == (404, "Split it into scenes.")
        assert "cite" not in failure.message


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("canon_checker", {"scene_path": "Story/Scenes/SCN-nothing.md"}),
        ("canon_checker", {"scene_path": ONE, "canon_paths": ["Compendium/Characters/CHAR-nobody.md"]}),
        ("canon_checker", {"scene_path": ONE, "canon_paths": ["../outside.md"]}),
        ("canon_checker", {"scene_path": ".control-room/audit/secret.key"}),
        ("consistency_checker", {"file_paths": ["Story/Scenes/SCN-nothing.md"]}),
        ("consistency_checker", {"file_paths": ["../outside.md"]}),
    ],
)
def test_what_is_not_there_is_a_clean_failure(gate: Gate, tool: str, args: dict[str, Any]) -> None:
    outcome = gate.call_sync(tool, args)
    assert outcome.failure is not None
    assert outcome.failure.status == 404


@pytest.mark.parametrize(
    "args",
    [
        {"file_paths": [f"Story/Scenes/SCN-{at}.md" for at in range(11)]},
        {"file_paths": []},
        {"file_paths": [ONE], "focus": "plot"},
        {},
    ],
)
def test_more_than_ten_files_or_another_focus_are_refused(gate: Gate, args: dict[str, Any]) -> None:
    assert gate.call_sync("consistency_checker", args).status == "rejected"


@pytest.mark.promise("continuity.consistency-checker")
def test_files_are_compared_with_each_other_and_with_the_scenes_before_them(gate: Gate) -> None:
    for paths in ([ONE, TWO], [TWO]):
        (finding,) = ask(gate, "consistency_checker", file_paths=paths)["findings"]
        assert (finding["canon"]["path"], finding["scene"]["path"]) == (ONE, TWO)
    assert ask(gate, "consistency_checker", file_paths=[ONE])["findings"] == []


def test_a_card_takes_part_only_if_it_is_named(gate: Gate) -> None:
    (finding,) = ask(gate, "consistency_checker", file_paths=[TWO, CARD])["findings"]
    assert finding["canon"]["path"] == CARD


@pytest.mark.parametrize(("focus", "count"), [("characters", 1), ("general", 1), ("events", 0), ("terminology", 0)])
def test_a_focus_narrows_the_check(gate: Gate, focus: str, count: int) -> None:
    assert len(ask(gate, "consistency_checker", file_paths=[ONE, TWO], focus=focus)["findings"]) == count


@pytest.mark.parametrize(
    ("tool", "args"), [("canon_checker", {"scene_path": TWO}), ("consistency_checker", {"file_paths": [ONE, TWO]})]
)
def test_a_dry_run_compares_nothing(gate: Gate, tool: str, args: dict[str, Any]) -> None:
    found = ask(gate, tool, **args, dry_run=True)
    assert (found["dry_run"], found["findings"], found["looked_at"]) == (True, [], None)


def test_the_receipt_names_the_files_that_were_read(gate: Gate) -> None:
    outcome = gate.call_sync("canon_checker", {"scene_path": TWO, "canon_paths": [CARD]})
    assert outcome.receipt_id is not None
    receipt = gate.ledger.find(outcome.receipt_id)
    assert receipt is not None
    assert {ref["path"] for ref in receipt.header["file_refs"]} == {TWO, CARD}


@pytest.mark.promise("continuity.waivers")
def test_the_books_list_of_waivers_counts_and_a_damaged_one_is_said(gate: Gate) -> None:
    path = gate.workspace / ".control-room" / "canon" / "waivers.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"version": 1, "waivers": [{"rule": "eye-colour", "path": TWO, "reason": "candlelight"}]})
    )
    found = ask(gate, "canon_checker", scene_path=TWO)
    assert (found["findings_total"], found["waived_total"]) == (1, 1)
    assert found["findings"][0]["waiver_reason"] == "candlelight"
    path.write_text('{"version": 1, "waivers": [{"rule": "eye-colour"}]}')
    assert gate.call_sync("canon_checker", {"scene_path": TWO}).failure is not None


def test_a_changed_scene_is_read_again(gate: Gate) -> None:
    assert ask(gate, "canon_checker", scene_path=TWO)["findings_total"] == 1
    (gate.workspace / TWO).write_text("# Mill\n\nThe lamp shone into Mara's green eyes.\n")
    assert ask(gate, "canon_checker", scene_path=TWO)["findings_total"] == 0


@pytest.mark.promise("continuity.every-finding")
def test_every_finding_and_complaint_is_given_however_many(tmp_path: Path) -> None:
    syllables = (
        "bar",
        "dem",
        "fil",
        "gor",
        "hul",
        "kas",
        "lin",
        "mov",
        "nev",
        "pol",
        "ras",
        "tig",
        "vos",
        "wen",
        "zor",
    )
    people = [f"{one}{other}".title() for one in syllables for other in syllables]
    cards = {f"Compendium/Characters/{name}.md": f"---\nname: {name}\neyes: green\n---\n" for name in people}
    told = "\n\n".join(f"{name} had green eyes.\n\nThe lamp shone into {name}'s brown eyes." for name in people)
    with open_gate(write_files(tmp_path, {**cards, ONE: f"# One\n\n{told}\n"}), plugins=True) as gate:
        for number in range(2, 123):
            (tmp_path / f"Story/Scenes/SCN-{number}.md").write_bytes(b"Caf\xe9.\n")
        for tool, args in (("consistency_checker", {"file_paths": [ONE]}), ("canon_checker", {"scene_path": ONE})):
            found = ask(gate, tool, **args)
            assert len(found["findings"]) == found["findings_total"] >= 210
            assert len(found["complaints"]) == found["complaints_total"] == 121
