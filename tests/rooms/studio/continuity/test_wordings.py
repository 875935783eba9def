"""The many ways in which English says one thing, and the ways in which it seems to: by lists, each read as one book."""

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.rooms.studio.continuity.checking import Reading
from tallystick.rooms.studio.continuity.deeds import deeds
from tests.rooms.studio.continuity.telling import AFTER, BEFORE, against, book_of

LISTS = Path(__file__).parents[3] / "vectors" / "continuity_told"
WORDINGS = sorted(path for path in LISTS.glob("*.json") if path.stem != "cards")
SCENE = (
    'Helen Marlowe walked down to the harbour with Doctor Penrose.\n\n"It will rain," said Helen. Helen smiled at the sea.\n\n'
    "{}\n\nThe wind went round."
)


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def _lines_that_tell(sentences: list[str], attribute: str) -> set[str]:
    """The sentences, each in a paragraph of its own, that a fact of this kind is read from."""
    text = "\n\n".join([BEFORE, *sentences, AFTER])
    reading = Reading(book_of(text))
    if attribute == "acts":
        found = [deed for telling in reading._tellings for deed in deeds(*telling, {"tobias", "mr marsh"})]
    else:
        found = [fact for fact in reading.told if fact.attribute == attribute]
    lines = text.split("\n")
    return {lines[fact.line - 1] for fact in found}


@pytest.mark.promise("continuity.wordings")
@pytest.mark.parametrize("path", WORDINGS, ids=lambda path: path.stem)
def test_every_wording_of_a_fact_is_read(path: Path) -> None:
    held = _read(path)
    told = _lines_that_tell(held["told"], held["attribute"])
    assert [sentence for sentence in held["told"] if sentence not in told] == []


@pytest.mark.promise("continuity.wordings")
@pytest.mark.parametrize("path", WORDINGS, ids=lambda path: path.stem)
def test_what_only_sounds_like_a_fact_is_not_read_as_one(path: Path) -> None:
    held = _read(path)
    told = _lines_that_tell(held["silent"], held["attribute"])
    assert [sentence for sentence in held["silent"] if sentence in told] == []


@pytest.mark.promise("continuity.card-notes")
@pytest.mark.parametrize("kind", sorted(_read(LISTS / "cards.json")))
def test_a_card_may_settle_a_fact_in_any_of_its_forms(kind: str) -> None:
    held = _read(LISTS / "cards.json")[kind]
    scene = SCENE.format(held["scene"])
    path = "Compendium/Characters/CHAR-mr-wetherby.md"
    assert [card for card in held["told"] if not against(scene, {path: card})] == []
    assert [card for card in held["silent"] if against(scene, {path: card})] == []
