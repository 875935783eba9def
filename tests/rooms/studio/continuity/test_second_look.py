"""What the rules do not know and is told all the same; what they take for told and is not."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.continuity.candidates import candidates
from tallystick.rooms.studio.continuity.checking import Reading
from tallystick.rooms.studio.continuity.comparing import Comparer
from tallystick.rooms.studio.continuity.elapsed import Elapsed
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.likelihood import WEIGHTS, bounds, features, likelihood
from tallystick.rooms.studio.continuity.readers import read_by_rules
from tallystick.rooms.studio.continuity.second_look import key_of, second_look
from tests.rooms.studio.continuity.telling import AFTER, BEFORE, book_of, rules, story

KINDS = ("eyes", "hair", "age", "left", "days", "came", "born", "night", "birthplace", "home", "dead")
BEYOND_RULES = [
    ("eyes", "Since the cradle Helen had looked at the world through blue eyes."),
    (
        "home",
        "The lamps of Saddler Street were the last thing Helen saw each night before she drew the curtains of her room.",
    ),
    ("birthplace", "Lisbon was where Helen first drew breath, in a room over a shop."),
]


def told(text: str) -> list[Fact]:
    return Reading(book_of(f"{BEFORE}\n\n{text}\n\n{AFTER}")).told


@pytest.mark.promise("continuity.second-look")
@pytest.mark.parametrize(("kind", "sentence"), BEYOND_RULES)
def test_a_fact_is_read_in_words_that_no_rule_was_written_for(kind: str, sentence: str) -> None:
    assert [fact.attribute for fact in told(sentence) if fact.subject.startswith("helen")] == [kind]


@pytest.mark.promise("continuity.second-look")
@pytest.mark.parametrize(
    "sentence",
    [
        "Helen's mother had brown eyes.",
        "The cat regarded Helen with brown eyes and then regarded the fish.",
        "In the dream Helen had brown eyes, and it was by this that she knew she was asleep.",
        "A servant from Lisbon brought a note for Helen.",
        "Helen paid thirty-four pounds for the boat.",
        "If Helen's eyes had been brown, the portrait might have passed for her.",
    ],
)
def test_what_only_looks_like_a_fact_is_not_read(sentence: str) -> None:
    assert not [fact for fact in told(sentence) if fact.subject.startswith("helen")]


@pytest.mark.promise("continuity.second-look")
def test_a_contradiction_in_such_words_is_found_with_both_quotes() -> None:
    first = "Since the cradle Helen had looked at the world through blue eyes."
    assert rules(story(first, "Helen raised her brown eyes from the page.")) == ["eye-colour"]
    assert rules(story(first, "Helen raised her blue eyes from the page.")) == []


@pytest.mark.promise("continuity.second-look")
def test_the_weights_are_whole_numbers_and_every_kind_has_its_own() -> None:
    held = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    assert set(held["own"]) == set(KINDS)
    for weights in (held["shared"], *held["own"].values(), held["bias"]):
        assert all(type(weight) is int for weight in weights.values())
    for limits in map(bounds, KINDS):
        assert limits.untold < limits.told <= limits.told_alone
        assert limits.untold <= limits.untold_alone < limits.told_alone


@pytest.mark.promise("continuity.second-look")
@given(st.lists(st.sampled_from([sentence for _, sentence in BEYOND_RULES] + [BEFORE, AFTER]), max_size=6))
def test_what_the_rules_read_is_only_left_out_where_a_candidate_speaks_against_it(texts: list[str]) -> None:
    reading = Reading(book_of("\n\n".join((BEFORE, *texts))))
    for narration, binder in reading._tellings:
        read = list(read_by_rules(narration, binder))
        found = {key_of(narration, one.fact): one for one in candidates(narration, binder)}
        kept = list(second_look(narration, binder))
        for fact in read:
            one = found.get(key_of(narration, fact))
            here = [other for other in kept if key_of(narration, other) == key_of(narration, fact)]
            assert here or (one is not None and likelihood(binder, one) < bounds(one.kind).untold)
        for fact in kept:
            one = found.get(key_of(narration, fact))
            assert replace(fact, sure=True) in read or (one and likelihood(binder, one) >= bounds(one.kind).told)
            assert fact.sure or (one and likelihood(binder, one) < bounds(one.kind).told_alone)
        for one in found.values():
            assert features(binder, one) == features(binder, one)


@pytest.mark.promise("continuity.sure")
@pytest.mark.parametrize("sure", [True, False])
def test_what_is_not_sure_speaks_against_another_sentence_and_not_against_a_card(*, sure: bool) -> None:
    brown = replace(told("Helen raised her brown eyes from the page.")[0], offset=900, sure=sure)
    scene = replace(brown, value=("blue",), words="blue", offset=10, sure=True)
    card = replace(scene, path="Compendium/Characters/CHAR-helen.md", from_card=True, order=0)
    comparer = Comparer(elapsed=Elapsed([]), nested=lambda *_: False, changed=lambda *_: False)
    assert [one.first.from_card for one in comparer.conflicts([card, brown])] == [True] * sure
    assert [one.first.from_card for one in comparer.conflicts([scene, brown])] == [False]
