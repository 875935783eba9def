"""`outline_analyzer`, `scene_draft_validator` and `prose_analyzer`, called through the gate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.storage.files import FileSources
from tests.gates import open_gate
from tests.rooms.studio.projects import lay_out, stands

OUTLINE = "Story/SCN-outline.md"
HARBOUR = "Story/Scenes/SCN-01-the-harbour.md"
QUARREL = "Story/Scenes/SCN-02-quarrel.md"
MARKET = "Story/Scenes/SCN-05-market.md"
MARA = "Compendium/Characters/CHAR-mara.md"
FILES = {
    OUTLINE: (
        "# Outline\n\n## Act I\n\n### Scene 1: The Harbour (POV: Mara)\nMara steps off the ferry in the rain.\n\n"
        "### Scene 2: The Quarrel (POV: Tomas)\n- Tomas accuses Mara of stealing the letter.\n"
        "- A dragon burns the church.\n\n### Scene 4: The Lighthouse\n\n## Act II\n"
    ),
    HARBOUR: (
        "---\npov: the Grey\n---\n# The Harbour\n\nThe harbour lay under rain when Mara stepped off the ferry.\n\n"
        "“Who is there?” she asked. She slowly turned. The lantern, the old lantern, was a lantern no more.\n"
    ),
    QUARREL: "---\npov: Mara\nnumber: 3\n---\n\n“You stole the letter,” Tomas accused Mara. It was all about stealing.\n",
    MARKET: "The market was loud. " * 30,
    MARA: "---\nname: Mara Voss\naliases: [the Grey]\n---\n\nEyes: green\n",
    "Compendium/Characters/CHAR-tomas.md": "# Tomas\n",
}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(lay_out(tmp_path, FILES), plugins=True) as opened:
        yield opened


def ask(gate: Gate, tool: str, **args: Any) -> dict[str, Any]:
    found: dict[str, Any] = gate.call_sync(tool, args).unwrap()
    return found


def places(value: Any, path: str) -> Iterator[tuple[str, int, str]]:
    """(path, line, quote) of every place in a result; a place stands in the nearest file named around it."""
    if isinstance(value, list):
        for one in value:
            yield from places(one, path)
    elif isinstance(value, dict):
        here = value.get("path") or path
        if "quote" in value:
            yield here, value["line"], value["quote"]
        for name, one in value.items():
            yield from places(one, {"outline": OUTLINE, "match": OUTLINE, "beats": OUTLINE}.get(name, here))


@pytest.mark.promise("book.quotes")
@pytest.mark.parametrize(
    ("tool", "args", "path"),
    [
        ("outline_analyzer", {}, OUTLINE),
        ("outline_analyzer", {"mode": "coverage"}, OUTLINE),
        ("outline_analyzer", {"mode": "balance"}, OUTLINE),
        ("scene_draft_validator", {"scene_path": HARBOUR}, HARBOUR),
        ("scene_draft_validator", {"scene_path": QUARREL}, QUARREL),
        ("prose_analyzer", {"scene_path": HARBOUR}, HARBOUR),
    ],
)
def test_every_quote_stands_where_the_tool_says(gate: Gate, tool: str, args: dict[str, Any], path: str) -> None:
    sources = FileSources(gate.workspace)
    shown = list(places(ask(gate, tool, **args), path))
    assert shown
    for where, line, quote in shown:
        found = sources.read(where)
        assert found is not None
        assert stands(found, line, quote), (where, line, quote)


@pytest.mark.promise("outline.structure")
def test_the_structure_of_the_outline_is_told(gate: Gate) -> None:
    found = ask(gate, "outline_analyzer")
    assert (found["outline_path"], found["acts"], found["beats_total"]) == (OUTLINE, ["Act I", "Act II"], 3)
    assert [(one["title"], one["number"], one["pov"], one["scene_path"]) for one in found["beats"]] == [
        ("The Harbour", 1, "Mara", HARBOUR), ("The Quarrel", 2, "Tomas", QUARREL), ("The Lighthouse", 4, None, None),
    ]  # fmt: skip
    assert {problem["code"] for problem in found["problems"]} == {
        "number_gap", "pov_missing", "beat_empty", "act_empty",
    }  # fmt: skip


@pytest.mark.promise("outline.coverage")
def test_what_has_no_counterpart_is_told(gate: Gate) -> None:
    found = ask(gate, "outline_analyzer", mode="coverage", outline_path=OUTLINE)
    assert [(problem["code"], problem["path"]) for problem in found["problems"]] == [
        ("beat_without_scene", OUTLINE), ("scene_without_beat", MARKET), ("pov_differs", OUTLINE),
    ]  # fmt: skip
    assert found["matched"] == 2


@pytest.mark.promise("outline.balance")
def test_acts_and_points_of_view_are_weighed(gate: Gate) -> None:
    found = ask(gate, "outline_analyzer", mode="balance")
    assert [(act["name"], act["beats"], act["scenes"]) for act in found["act_balance"]] == [
        ("Act I", 3, 2), ("Act II", 0, 0),
    ]  # fmt: skip
    assert {one["name"]: one["scenes"] for one in found["pov_balance"]} == {"": 1, "the Grey": 1, "Mara": 1}
    assert {problem["code"] for problem in found["problems"]} == {"scene_long"}


@pytest.mark.promise("outline.validator", "outline.validator-card")
def test_a_draft_is_held_against_its_entry(gate: Gate) -> None:
    found = ask(gate, "scene_draft_validator", scene_path=HARBOUR)
    assert found["match"]["matched_by"] == "title_slug"
    assert [one["status"] for one in found["statements"]] == ["covered"]
    assert found["problems"] == []
    assert (found["pov"], found["pov_card"]["path"], found["pov_card"]["name"]) == ("the Grey", MARA, "Mara Voss")
    assert {"line": 6, "end_line": 6, "quote": "Eyes: green"} in found["pov_card"]["lines"]
    assert ask(gate, "scene_draft_validator", scene_path=HARBOUR, include_canon=False)["pov_card"] is None


@pytest.mark.promise("outline.validator", "outline.validator-card")
def test_what_does_not_agree_is_a_problem(gate: Gate) -> None:
    found = ask(gate, "scene_draft_validator", scene_path=QUARREL)
    assert {problem["code"] for problem in found["problems"]} == {"pov_differs", "number_differs"}
    assert [one["status"] for one in found["statements"]] == ["covered", "not_found"]
    assert found["statements"][1]["missed"] == ["dragon", "burns", "church"]
    lost = ask(gate, "scene_draft_validator", scene_path=MARKET)
    assert (lost["match"], lost["coverage"]) == (None, None)
    assert {problem["code"] for problem in lost["problems"]} == {"beat_not_found", "pov_missing"}


@pytest.mark.promise("prose.findings", "prose.baseline")
def test_prose_is_measured_by_focus(gate: Gate) -> None:
    whole = ask(gate, "prose_analyzer", scene_path=HARBOUR)
    assert (whole["pov"]["person"], whole["pov"]["declared"]) == ("third", "the Grey")
    assert {"adverbs", "echo"} <= {one["kind"] for one in whole["findings"]}
    assert (whole["baseline_scenes"], whole["truncated"]) == (2, False)
    for focus in ("pacing", "voice", "rhythm"):
        part = ask(gate, "prose_analyzer", scene_path=HARBOUR, focus=focus)
        assert {one["focus"] for one in (*part["measures"], *part["findings"])} == {focus}
        assert part["measures"] == [one for one in whole["measures"] if one["focus"] == focus]


@pytest.mark.promise("studio.dry-run")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("outline_analyzer", {"mode": "coverage"}),
        ("scene_draft_validator", {"scene_path": HARBOUR}),
        ("prose_analyzer", {"scene_path": HARBOUR}),
    ],
)
def test_a_dry_run_gives_nothing_and_notes_nothing(gate: Gate, tool: str, args: dict[str, Any]) -> None:
    outcome = gate.call_sync(tool, {**args, "dry_run": True})
    found = outcome.unwrap()
    assert found["dry_run"] is True
    assert not any(value for value in found.values() if isinstance(value, list))
    receipt = gate.ledger.find(outcome.receipt_id)
    assert receipt is not None
    assert not receipt.header.get("file_refs")


@pytest.mark.promise("book.quotes")
def test_the_files_that_were_read_stand_in_the_receipt(gate: Gate) -> None:
    outcome = gate.call_sync("scene_draft_validator", {"scene_path": HARBOUR})
    receipt = gate.ledger.find(outcome.receipt_id)
    assert receipt is not None
    assert list(dict.fromkeys(ref["path"] for ref in receipt.header["file_refs"])) == [HARBOUR, OUTLINE, MARA]


@pytest.mark.promise("book.complaints")
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("prose_analyzer", {"scene_path": "Story/Scenes/SCN-nothing.md"}),
        ("prose_analyzer", {"scene_path": "../outside.md"}),
        ("prose_analyzer", {"scene_path": ".control-room/audit/secret.key"}),
        ("scene_draft_validator", {"scene_path": HARBOUR, "outline_path": "nothing.md"}),
        ("outline_analyzer", {"outline_path": "/etc/passwd"}),
    ],
)
def test_a_file_that_is_not_there_is_a_clean_refusal(gate: Gate, tool: str, args: dict[str, Any]) -> None:
    outcome = gate.call_sync(tool, args)
    assert (outcome.ok, outcome.http) == (False, 404)


@pytest.mark.promise("book.complaints")
def test_without_an_outline_the_tools_say_what_to_write(tmp_path: Path) -> None:
    with open_gate(lay_out(tmp_path, {HARBOUR: "Rain.\n"}), plugins=True) as opened:
        for tool, args in (("outline_analyzer", {}), ("scene_draft_validator", {"scene_path": HARBOUR})):
            assert opened.call_sync(tool, args).http == 404
        # A name that is nearly right is guessed.
        near = opened.call_sync("prose_analyzer", {"scene_path": "Story/Scenes/the-harbour.md"})
        assert HARBOUR in str(near.as_dict())


@pytest.mark.parametrize("tool", ["outline_analyzer", "scene_draft_validator", "prose_analyzer"])
def test_schemas_are_closed_and_their_examples_fit(gate: Gate, tool: str) -> None:
    card = next(card for card in gate.tools() if card.name == tool)
    assert card.input_schema["additionalProperties"] is False
    assert card.output_schema is not None
    assert card.output_schema["additionalProperties"] is False
    for example in card.input_schema["examples"]:
        assert set(example) <= set(card.input_schema["properties"])
