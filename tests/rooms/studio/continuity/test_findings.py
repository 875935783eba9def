"""What contradicts a card or an earlier scene is found with both quotes, and what only looks like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.continuity.book_check import WITHOUT_PARSER, BookReading
from tallystick.rooms.studio.continuity.rules import BY_MODEL, RULES
from tallystick.rooms.studio.continuity.waivers import Waiver, waivers_of
from tests.rooms.studio.continuity.telling import book_of, clean_twins, found, grammar, reading_of, rules, story

NAN = "Compendium/Characters/CHAR-nan.md"
HEAD = "---\nname: Nan Hale\naliases: [Nan, Miss Hale]\n---\n\n"
OPENING = (
    '---\ndate: 3 May 1922\n---\nNan came down to the quay with Osk Tully. "Rain," said Nan, and he laughed at her. '
)

CASES = [
    ("Eyes: grey", "Nan's brown eyes followed the boat.", "Nan's grey eyes did not follow the boat.", "eye-colour"),
    ("Hair: red", "Nan pushed her black hair out of her face.", "Nan pushed her auburn hair back.", "hair-colour"),
    ("Age: 31", "Nan was forty-four years old.", "Nan was thirty-one years old.", "age"),
    (
        "Born: 1888",
        "Nan, who at fifty had seen worse, sat down.",
        "Nan, who at thirty-four had seen worse, sat.",
        "age",
    ),
    ("Handedness: left", "Nan was right-handed, and the pen was bad.", "Nan was left-handed.", "handedness"),
    (
        "Scar: left cheek",
        "The scar on Nan's right cheek itched.",
        "The scar on Nan's left cheek itched.",
        "object-side",
    ),
    ("Sisters: two", "Nan thought of her three sisters.", "Nan thought of her two sisters.", "kin-count"),
    ("Height: tall\nNan is tall.", "Nan was a short woman.", "Nan was a tall woman.", "figure"),
    ("Occupation: miller", "Nan was a dentist.", "Nan was a miller.", "occupation"),
    ("Nan never drinks spirits.", "Nan drank the brandy in one swallow.", "Nan drank the milk.", "canon-constraint"),
    ("Lives in Tanner Row.", "Nan lived in Fish Street with a cat.", "Nan lived in Tanner Row.", "place"),
    (
        "Eleven lanterns hang there.",
        "Nan counted the twelve lanterns.",
        "Nan counted the eleven lanterns.",
        "object-count",
    ),
    ("She carries a brass compass.", "Nan opened the silver compass.", "Nan opened the brass compass.", "object-look"),
    ("Father: Hans Hale", "Nan's father, Karl, kept the ledger.", "Nan's father, Hans, kept the ledger.", "kinship"),
    ("The word is lamp-house.", "They met in the lamphouse.", "They met in the lamp-house.", "term-variant"),
    ("Rank: Captain", "Major Hale went aboard.", "Captain Hale went aboard.", "title"),
]


@pytest.mark.promise("continuity.finds")
@pytest.mark.parametrize(
    ("line", "wrong", "right", "rule"), CASES, ids=[f"{rule}-{at}" for at, (*_, rule) in enumerate(CASES)]
)
def test_a_scene_against_a_card(line: str, wrong: str, right: str, rule: str) -> None:
    cards = {NAN: f"{HEAD}{line}\n"}
    (finding,) = found(f"{OPENING}\n\n{wrong}\n", cards=cards)
    assert (finding.rule, finding.first.path, finding.from_card) == (rule, NAN, True)
    assert finding.second.line == 6
    assert rules(f"{OPENING}\n\n{right}\n", cards=cards) == []


@pytest.mark.promise("continuity.clean-twins")
@pytest.mark.parametrize(
    "sentence",
    [
        '"Your brown eyes, Nan," said Osk.', "Nan dreamed that her eyes were brown.", "Were Nan's eyes brown?",
        "If Nan's eyes were brown, she would be her aunt.", "Nan's eyes were not brown.",
        "They said that Nan had brown eyes.", "In the photograph Nan's eyes were brown.",
        "Nan's eyes were red with crying.", "Perhaps Nan's eyes might be brown.",
    ],
)  # fmt: skip
def test_what_is_not_told_for_sure_is_no_contradiction(sentence: str) -> None:
    assert rules(f"{OPENING}\n\n{sentence}\n", cards={NAN: f"{HEAD}Eyes: grey\n"}) == []


@pytest.mark.promise("continuity.clean-twins")
def test_clean_pairs_of_sentences_stay_silent() -> None:
    said = [(pair, rules(story(*pair))) for pair in clean_twins()]
    assert [one for one in said if one[1]] == []


@pytest.mark.promise("continuity.across-files")
@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ("Nan's eyes were green.", "The lamp shone into Nan's brown eyes.", "eye-colour"),
        ("Nan was thirty-four years old.", "The next morning they met. Nan was thirty-nine years old.", "age"),
        ("The Gull Inn stood on Fish Street. The Gull Inn was full.", "The Gull Inn stood on Rope Lane.", "place"),
    ],
)
def test_scenes_contradict_each_other(first: str, second: str, rule: str) -> None:
    (finding,) = found(f"Nan laughed. Nan sang. {first}", second)
    assert (finding.rule, finding.from_card) == (rule, False)
    assert finding.first.path != finding.second.path


@pytest.mark.promise("continuity.finds")
@pytest.mark.parametrize("card", ["Died: SCN-02", "Nan dies in SCN-02.", "Death: 4 May 1922"])
def test_the_dead_do_not_act(card: str) -> None:
    acts = "---\ndate: 9 May 1922\n---\nNan Hale sat down on the step and lit her pipe."
    cards = {NAN: f"{HEAD}{card}\n"}
    assert rules(OPENING, "---\ndate: 4 May 1922\n---\nNan Hale lay very still.", acts, cards=cards) == [
        "dead-then-acting"
    ]
    assert rules(f"{OPENING} Nan Hale sat down.", cards=cards) == []
    memory = "---\ndate: 9 May 1922\n---\nNan Hale had once sat here. Osk remembered how Nan Hale laughed."
    assert rules(OPENING, "They waited.", memory, cards=cards) == []


@pytest.mark.promise("continuity.names-from-cards")
def test_a_name_of_a_card_is_the_right_spelling_even_once() -> None:
    cards = {"Compendium/Characters/CHAR-r.md": "---\nname: Rosalind Thorne\n---\n"}
    (finding,) = found("Captain Rosalynd Thorne came aboard.", cards=cards)
    assert finding.rule == "name-spelling"
    assert rules("Captain Rosalind Thorne came aboard.", cards=cards) == []


@pytest.mark.promise("continuity.years-since")
@pytest.mark.parametrize(("years", "expected"), [("eleven", []), ("four", ["day-count"])])
def test_years_since_a_death_are_counted_from_the_scene_s_date(years: str, expected: list[str]) -> None:
    cards = {NAN: f"{HEAD}Died: 21 November 1911\n"}
    scene = f"---\ndate: 30 November 1922\n---\nIn the {years} years since Nan Hale's death nobody had gone there."
    assert rules(scene, cards=cards) == expected


def test_weekdays_follow_the_calendar() -> None:
    assert rules("---\ndate: 3 April 1922\n---\nIt was Monday the 3rd of April.") == []
    assert rules(
        "---\ndate: 3 April 1922\n---\nIt was Monday the 3rd of April.\n\nIt was Wednesday the 4th of April."
    ) == ["weekday"]


@pytest.mark.promise("continuity.bans")
def test_a_ban_on_a_class_binds_its_members_and_nobody_else() -> None:
    cards = {NAN: f"{HEAD}constraints\n- Nan never drinks spirits.\n"}
    assert rules(f"{OPENING}\n\nOsk Tully drank the brandy.\n\nNan did not drink the gin.", cards=cards) == []


@pytest.mark.promise("continuity.wrapped")
def test_a_sentence_may_run_over_line_breaks() -> None:
    (finding,) = found(f"{OPENING}\n\nThe lamp shone into Nan's\nbrown eyes.\n", cards={NAN: f"{HEAD}Eyes: grey\n"})
    assert finding.second.line in {6, 7}


@pytest.mark.promise("continuity.modes")
def test_hard_mode_leaves_soft_statements_alone() -> None:
    reading = reading_of(
        f"{OPENING}\n\nNan's brown eyes shone.",
        cards={NAN: f"{HEAD}| What | Canon | S |\n|---|---|---|\n| Eyes | grey | soft |\n"},
    )
    path = reading.book.scenes[0].path
    assert reading.against(path, [NAN], hard_only=True).findings == ()


@pytest.mark.promise("continuity.waivers")
def test_a_waiver_needs_a_rule_and_a_reason_and_marks_the_finding() -> None:
    cards = {NAN: f"{HEAD}Eyes: grey\n"}
    scene = "---\nwaive: [eye-colour: candlelight]\n---\nNan laughed at him. Nan's brown eyes shone."
    (finding,) = found(scene, cards=cards)
    assert finding.waived == "candlelight"
    _, complaints = waivers_of(book_of("---\nwaive: [eye-colour]\n---\nNan."))
    assert [one.code for one in complaints] == ["waiver_invalid"]
    waiver = Waiver(rule="eye-colour", reason="fever", path=None, subject="Osk")
    unwaived = scene.replace("waive", "note")
    assert reading_of(unwaived, cards=cards).findings(waivers=[waiver]).findings[0].waived is None


@pytest.mark.promise("continuity.without-grammar")
def test_without_the_grammar_the_check_says_what_it_does_not_see() -> None:
    scene = f"{OPENING}\n\nNan's brown eyes shone. They met in the lamphouse."
    reading = BookReading(book_of(scene, cards={NAN: f"{HEAD}Eyes: grey\nThe word is lamp-house.\n"}), None)
    checked = reading.findings()
    assert [one.rule for one in checked.findings] == ["term-variant"]
    assert set(checked.not_checked) == set(RULES) - set(WITHOUT_PARSER) - {BY_MODEL}


SENTENCES = [
    "Nan had grey eyes.", "Nan's grey eyes shone.", "Nan was thirty-one.", "Nan was a miller.", "Osk laughed.",
    "Nan's father, Hans, came.", "Nan lived in Tanner Row.", "The rain went on.",
]  # fmt: skip


@pytest.mark.promise("continuity.unchanged")
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12))
def test_a_book_whose_statements_do_not_change_is_silent(sentences: list[str]) -> None:
    assert rules("\n\n".join(sentences), " ".join(sentences)) == []


@pytest.mark.promise("continuity.quotes")
@given(st.lists(st.sampled_from([*SENTENCES, "Nan's brown eyes shone.", "Nan was sixty years old."]), max_size=12))
def test_every_quote_stands_on_its_lines(sentences: list[str]) -> None:
    book = book_of("\n\n".join(sentences), cards={NAN: f"{HEAD}Eyes: grey\nAge: 31\n"})
    sources = {one.path: one.source for one in book.scenes} | {one.path: one.source for one in book.cards}
    for finding in BookReading(book, grammar()).findings().findings:
        for side in (finding.first, finding.second):
            assert side.quote in sources[side.path].lines[side.line - 1]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    found(text, cards={NAN: f"{HEAD}{text}\n"})
