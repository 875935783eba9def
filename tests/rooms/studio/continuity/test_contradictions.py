"""Each rule on sentences that contradict each other, and on their clean twins."""

import pytest

from tallystick.gate.quotes import find_quote
from tests.rooms.studio.continuity.telling import book_of, found, named_story, rules, story, vectors


def _told(file: str, first: str, second: str) -> str:
    return named_story(first, second) if file == "name_spelling" else story(first, second)


@pytest.mark.promise("continuity.finds")
@pytest.mark.parametrize(("file", "expected", "first", "second"), vectors("contradictions"))
def test_a_contradiction_is_found_once_under_its_rule(file: str, expected: list[str], first: str, second: str) -> None:
    text = _told(file, first, second)
    findings = found(text)
    assert [finding for finding in findings if finding.rule in expected]
    assert len(findings) == 1


@pytest.mark.promise("continuity.clean-twins")
@pytest.mark.parametrize(("file", "expected", "first", "second"), vectors("clean"))
def test_a_clean_twin_is_silent(file: str, expected: list[str], first: str, second: str) -> None:
    assert rules(_told(file, first, second)) == []


@pytest.mark.promise("continuity.across-files")
@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ("Helen had green eyes.", "Helen's brown eyes were tired.", "eye-colour"),
        ("Tobias died in the night.", '"Good morning," said Tobias.', "dead-then-acting"),
        ("Helen was thirty-four years old.", "Helen was nineteen.", "age"),
        ("Helen was born in Bristol.", "Helen was born in Edinburgh.", "place"),
    ],
)
def test_scenes_in_different_files_contradict_each_other(first: str, second: str, rule: str) -> None:
    opening = 'Helen walked home with Tobias. "Rain," said Helen.'
    findings = found(f"{opening}\n\n{first}", second)
    assert [finding.rule for finding in findings] == [rule]
    assert (findings[0].first.path, findings[0].second.path) == ("Story/Scenes/SCN-01.md", "Story/Scenes/SCN-02.md")


@pytest.mark.promise("continuity.wrapped")
def test_a_sentence_may_run_over_line_breaks() -> None:
    text = story("Helen\nhad\ngreen\neyes, and knew it.", "It was late, and the lamp shone into Helen's\nbrown\neyes.")
    (finding,) = found(text)
    assert finding.rule == "eye-colour"
    assert (finding.first.line, finding.first.end_line) == (9, 12)


@pytest.mark.promise("continuity.quotes")
@pytest.mark.parametrize(("file", "expected", "first", "second"), vectors("contradictions")[::5])
def test_both_quotes_stand_on_the_lines_that_are_given(file: str, expected: list[str], first: str, second: str) -> None:
    text = _told(file, first, second)
    source = book_of(text).scenes[0].source
    for finding in found(text):
        for cited in (finding.first, finding.second):
            match = find_quote(cited.quote, source.folded)
            assert match is not None
            assert cited.quote.split()[0].strip('"') in source.lines[cited.line - 1]


@pytest.mark.parametrize("wrong", ["Elisabeth", "Elizabath", "Elizabteh"])
def test_a_name_that_stands_often_enough_is_meant(wrong: str) -> None:
    text = named_story("Elizabeth", wrong)
    assert rules(text) == ["name-spelling"]
    assert rules(f"{text}\n\n{wrong} came in. {wrong} sat down, and {wrong} slept.") == []


def test_two_like_names_side_by_side_are_two_people() -> None:
    assert rules(named_story("Ravensworth", "Ravenswerth and Ravensworth")) == []


def test_a_term_of_the_book_is_written_one_way() -> None:
    often = "The crew boarded the Skyship. They loved the Skyship. A Skyship is slow. Each Skyship has a name."
    assert rules(f"{often}\n\nThey left the Sky-ship at dawn.") == ["term-variant"]
    assert rules(often) == []


def test_a_hyphen_that_is_missing_once_is_found() -> None:
    often = " ".join(["They walked to the weigh-house."] * 8)
    assert rules(f"{often}\n\nThe weighhouse was dark.") == ["term-variant"]


def test_dates_in_different_scenes_have_weekdays_of_one_year_and_the_odd_one_is_told_once() -> None:
    scenes = [
        f"It was {day} the {date} of September. Helen smiled."
        for day, date in (("Monday", "7th"), ("Thursday", "15th"), ("Saturday", "19th"))
    ]
    findings = found(*scenes)
    assert [finding.rule for finding in findings] == ["weekday-of-date"]
    assert findings[0].second.path == "Story/Scenes/SCN-02.md"
    assert rules(scenes[0], scenes[2]) == []


def test_hair_that_somebody_else_dyes_is_no_excuse() -> None:
    told = "Helen had green eyes. Helen sat with Tobias. Tobias dyed his hair black that day.\n\nThe lamp shone into Helen's brown eyes."
    assert rules(f"Helen walked home with Tobias.\n\n{told}") == ["eye-colour"]
