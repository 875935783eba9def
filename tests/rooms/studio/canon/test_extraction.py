"""What is taken out of a card, by rules and by model."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.model import CanonCard
from tallystick.rooms.studio.canon.extraction import extract_by_rules, prompt_for, read_answer, readable
from tallystick.rooms.studio.canon.index_file import render
from tallystick.rooms.studio.canon.model import SCHEMA, Extract, Indexed
from tests.rooms.studio.projects import source
from tests.sizes import size

TEXT = """---
name: Mara Voss
aliases: [the Grey]
eyes: green
tags: [sea, "#Family"]
scope: [Act I, Act II]
constraints:
  - She never swims
---
# Mara Voss

Mara is a pilot of the harbour. She must not enter deep water, ever.

## Appearance

**Hair:** black

| Height | tall |
|---|---|
| Scar | left hand |

## Rules

- No one calls her Maria.
"""


def card(text: str = TEXT, path: str = "Compendium/Characters/CHAR-mara.md") -> CanonCard:
    found = parse_card(source(text, path))
    assert isinstance(found, CanonCard)
    return found


def answer(**changes: Any) -> str:
    return json.dumps({
        "type": "person", "scope": ["book"], "hardness": "soft", "topics": ["the sea"], "defines": ["eyes"],
        "constraints": ["She never swims"], "summary": "A pilot.", **changes,
    })  # fmt: skip


@pytest.mark.promise("canon.rules")
def test_rules_take_what_a_card_says() -> None:
    assert extract_by_rules(card()).as_dict() == {
        "type": "character",
        "scope": ["Act I", "Act II"],
        "hardness": "hard",
        "topics": ["sea", "family", "appearance", "rules"],
        "defines": ["Mara Voss", "the Grey", "eyes", "hair", "height", "scar"],
        "constraints": ["She never swims", "She must not enter deep water, ever.", "No one calls her Maria."],
        "summary": "Mara is a pilot of the harbour.",
    }


@pytest.mark.promise("canon.rules")
def test_a_card_that_says_little_has_an_extract_too() -> None:
    found = extract_by_rules(card("---\ncanon: draft\nvalid_from: SCN-storm\n---\nEyes: grey\n"))
    assert (found.hardness, found.scope, found.constraints) == ("soft", ("from SCN-storm",), ())
    assert found.summary == "Mara, character; Eyes: grey"
    assert extract_by_rules(card("")).scope == ("book",)


@pytest.mark.promise("canon.model")
def test_a_models_answer_is_taken_as_json_and_only_what_stands_in_the_card_binds() -> None:
    invented = answer(constraints=["She never swims", "She hates cats"], defines=["eyes", "shoe size"], scope=[])
    for text in (invented, f"```json\n{invented}\n```", f"<think>well…</think>\n{invented}"):
        found = read_answer(text, card())
        assert isinstance(found, Extract)
        assert found.constraints == ("She never swims",)
        assert found.defines == ("Mara Voss", "the Grey", "eyes")
        assert (found.type, found.hardness, found.scope) == ("character", "soft", ("book",))
    assert TEXT in prompt_for(card())


@pytest.mark.promise("canon.model", "canon.one-bad-card")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "extraction_not_json"),
        ("Here it is: " + answer(), "extraction_not_json"),
        (answer() + answer(), "extraction_not_json"),
        ("[]", "extraction_not_json"),
        ('{"type": "x", "type": "y"}', "extraction_not_json"),
        ("{}", "extraction_does_not_fit"),
        (answer(hardness="maybe"), "extraction_does_not_fit"),
        (answer(topics="sea"), "extraction_does_not_fit"),
        (answer(extra=1), "extraction_does_not_fit"),
        (answer(topics=["a\n## b"]), "extraction_does_not_fit"),
        (answer(summary="x" * 5000), "extraction_does_not_fit"),
    ],
)
def test_another_answer_has_a_code(text: str, code: str) -> None:
    assert read_answer(text, card()) == code


def test_what_was_kept_is_read_back_if_it_still_fits() -> None:
    made = extract_by_rules(card())
    assert readable(made.as_dict(), card()) == made
    assert readable({"type": "x"}, card()) is readable(None, card()) is None
    assert set(made.as_dict()) == set(SCHEMA["required"])


def indexed(path: str, text: str) -> Indexed:
    found = card(text, path)
    return Indexed(card=found, extract=extract_by_rules(found), by="rules", problem=None)


@pytest.mark.promise("canon.same-bytes")
@given(
    st.lists(st.sampled_from("abcdef"), unique=True, min_size=1).flatmap(
        lambda names: st.tuples(st.just(names), st.permutations(names))
    )
)
def test_the_index_is_the_same_in_whatever_order_cards_are_met(names: tuple[list[str], list[str]]) -> None:
    made, again = (
        [indexed(f"Compendium/Lore/{name}.md", f"# {name}|x\n\n## Sea\n") for name in order] for order in names
    )
    assert render(made) == render(again)


@pytest.mark.promise("canon.same-bytes")
@given(st.text(max_size=size(200, 600)))
def test_any_card_has_one_line_in_the_table_and_one_entry(text: str) -> None:
    one = indexed("Compendium/Lore/tide.md", f"---\nname: Tide\n---\n{text}")
    lines = render([one]).split("\n")
    assert sum(line.startswith("### ") for line in lines) == 1
    assert sum(line.startswith("| Tide | ") for line in lines) == 1
    assert one.extract.summary.count("\n") == 0
