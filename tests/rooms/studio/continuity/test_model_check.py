"""Contradictions that a model proposes: what code verifies, what it turns down, and what a broken check costs."""

import json
from collections.abc import Callable

import pytest

from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.continuity.model_check import ModelCheck, ModelFindings, merged, plan
from tallystick.rooms.studio.model_answers import ModelUnavailable
from tests.rooms.studio.continuity.telling import reading_of

CARD = "Compendium/Characters/CHAR-helen.md"
SCENE = (
    "Helen Marlowe keeps the ferry.\n\nHelen Marlowe sold her last loaf and shut the bakery door.\n\n"
    "“Helen Marlowe runs a bakery,” said a boy.\n\nThe tide went out."
)
CARDS = {CARD: "# Helen Marlowe\n\n- Trade: keeps the ferry, never the bakery\n- Home: the mill (from SCN-02)\n"}
QUOTE = "sold her last loaf and shut the bakery door"
AGREED = {"told_as": "fact", "both_can_be_true": False}


class Kept(dict[str, str]):
    """Answers kept in memory."""

    def keep(self, key: str, answer: str) -> None:
        self[key] = answer


def answering(*conflicts: dict[str, object], second: object = None) -> Callable[[str], str | ModelUnavailable]:
    """A model that proposes these wherever their words stand, and answers the second question so."""

    def ask(prompt: str) -> str:
        if "both_can_be_true" in prompt:
            return json.dumps(AGREED if second is None else second)
        return json.dumps({"conflicts": [each for each in conflicts if str(each["quote"])[:10] in prompt]})

    return ask


def check(ask: Callable[[str], str | ModelUnavailable], kept: Kept | None = None, most: int = 50) -> ModelFindings:
    reading: BookReading = reading_of(SCENE, "It rained.", cards=CARDS)
    return ModelCheck(reading, ask, Kept() if kept is None else kept, model="m").run(most=most)


@pytest.mark.promise("continuity.model")
def test_a_proposal_whose_words_stand_in_the_narration_is_a_finding_with_both_quotes() -> None:
    found = check(answering({"quote": QUOTE, "fact": 1}))
    (finding,) = found.findings
    assert (finding.rule, finding.severity, finding.confidence) == ("contradiction", "warning", "low")
    assert (finding.first.path, finding.first.line, finding.second.line) == (CARD, 3, 3)
    assert finding.second.quote == QUOTE
    assert (found.unreadable, found.unverified, found.stopped) == (0, 0, None)


@pytest.mark.promise("continuity.model")
@pytest.mark.parametrize(
    "conflict",
    [
        {"quote": "sold her last loaf in the street", "fact": 1},
        {"quote": QUOTE, "fact": 2},
        {"quote": QUOTE, "fact": 0},
        {"quote": "Helen Marlowe runs a bakery", "fact": 1},
    ],
    ids=["words-of-its-own", "a-line-of-another-scene", "no-such-line", "speech"],
)
def test_what_does_not_hold_is_no_finding(conflict: dict[str, object]) -> None:
    found = check(answering(conflict))
    assert (found.findings, found.unverified > 0) == ((), True)


@pytest.mark.promise("continuity.model")
@pytest.mark.parametrize(
    "second", [{"told_as": "dream", "both_can_be_true": False}, {"told_as": "fact", "both_can_be_true": True}]
)
def test_a_second_question_rules_out_what_is_not_told_as_a_fact(second: object) -> None:
    assert check(answering({"quote": QUOTE, "fact": 1}, second=second)).findings == ()


def test_an_answer_that_is_not_the_json_asked_for_is_counted_and_nothing_else() -> None:
    for answer in ("Helen lies.", "[]", '{"conflicts": [{"quote": 3}]}', "{" * 50_000):
        found = check(lambda _, said=answer: said)  # type: ignore[misc]
        assert (found.findings, found.unreadable) == ((), found.read)


@pytest.mark.promise("continuity.model")
def test_a_check_that_was_broken_off_asks_only_what_is_left() -> None:
    kept, whole = Kept(), answering({"quote": QUOTE, "fact": 1})
    asked: list[str] = []

    def once(prompt: str) -> str | ModelUnavailable:
        asked.append(prompt)
        return whole(prompt) if len(asked) < 2 else ModelUnavailable(code="endpoint_failed")

    broken = check(once, kept)
    assert (broken.stopped, len(kept)) == ("endpoint_failed", 1)
    again = check(whole, kept)
    assert (again.stopped, len(again.findings), again.calls) == (None, 1, check(whole).calls - 1)


def test_no_more_questions_are_sent_than_allowed() -> None:
    found = check(answering({"quote": QUOTE, "fact": 1}), most=1)
    assert (found.calls, found.read < found.planned) == (1, True)


def test_the_paragraph_that_shares_telling_words_with_a_card_comes_first() -> None:
    planned = plan(reading_of(SCENE, "It rained.", cards=CARDS))
    assert "loaf" in planned[0].passage.passage.text or "ferry" in planned[0].passage.passage.text
    assert all("tide" not in one.passage.passage.text for one in planned)
    assert all(line.text != "the mill" for one in planned for line in one.lines)


def test_a_models_finding_gives_way_to_a_rules_on_the_same_line() -> None:
    one, other = ({"scene": {"path": "a", "line": line}} for line in (1, 2))
    assert merged([one], [one, other, other]) == [one, other]
