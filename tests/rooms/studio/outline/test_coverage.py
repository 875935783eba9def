"""Statements of the outline, looked for in the scene."""

import pytest

from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.outline.coverage import StatementCoverage, check_coverage, statements_of
from tallystick.rooms.studio.prose.paragraphs import read_prose
from tests.rooms.studio.projects import source, stands

SCENE = """The harbour lay under rain when Mara stepped off the ferry.

She sat for a while and looked at the boats.

Her grandmother's compass was in pieces. “Who broke this?” she asked, and nobody answered.
"""


def covered(entry: str, cards: tuple[CanonCard, ...] = ()) -> list[StatementCoverage]:
    outline = parse_outline(source(entry, "Story/SCN-outline.md"))
    found = check_coverage(outline.beats[0], outline.source, read_prose(source(SCENE)), cards)
    for one in found:
        assert one.place is not None
        assert stands(outline.source, one.place.line, one.place.quote)
        assert (one.evidence is None) == (one.status == "not_found")
        if one.evidence is not None:
            assert stands(source(SCENE), one.evidence.line, one.evidence.quote)
    return found


@pytest.mark.promise("outline.validator", "book.quotes")
def test_each_statement_is_found_where_the_scene_tells_it() -> None:
    found = covered(
        "## Scene 1: Arrival (POV: Mara)\nMara steps off the ferry in the rain. Her compass is broken.\n- A dragon burns the church.\n"
    )
    assert [(one.status, one.evidence.line if one.evidence else None) for one in found] == [
        ("covered", 1), ("covered", 5), ("not_found", None),
    ]  # fmt: skip
    assert found[2].missed == ("dragon", "burns", "church")
    assert found[2].place is not None
    assert found[2].place.line == 3


@pytest.mark.promise("outline.validator")
def test_a_person_counts_by_any_name() -> None:
    card = parse_card(source("---\nname: Mara Voss\naliases: [the Pilot]\n---\n", "Compendium/Characters/m.md"))
    assert isinstance(card, CanonCard)
    entry = "- Arrival: The Pilot leaves the ferry.\n"
    assert covered(entry, (card,))[0].score > covered(entry)[0].score


@pytest.mark.promise("outline.validator")
def test_an_entry_without_words_is_looked_for_by_its_title() -> None:
    outline = parse_outline(source("- Rain in the harbour\n"))
    assert [one.text for one in statements_of(outline.beats[0], outline.source)] == ["Rain in the harbour"]
    assert covered("- Rain in the harbour\n")[0].status == "covered"
    fields = parse_outline(source("## Scene 1: X\nPOV: Mara\nscene: SCN-x\nMara waits there.\n"))
    assert [one.line for one in statements_of(fields.beats[0], fields.source)] == [4]
