"""Reading a question, finding stems, cutting excerpts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.rooms.memory.recall.passages import excerpt, tokens_of
from tallystick.rooms.memory.recall.question import MAX_WORDS, content_words, read_question, says_when
from tallystick.text.stems import stem, stems

PAIRS = [
    ("went", "go"), ("running", "run"), ("children", "child"), ("painted", "painting"), ("adoption", "adopted"),
    ("ponies", "pony"), ("Caroline's", "caroline"), ("hopping", "hop"), ("agreed", "agree"), ("parties", "party"),
    ("relational", "relate"), ("bought", "buying"), ("lives", "live"),
]  # fmt: skip


@pytest.mark.promise("reading.words")
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_forms_of_a_word_meet(one: str, other: str) -> None:
    assert list(stems(one)) == list(stems(other))


@pytest.mark.promise("reading.words")
def test_other_words_do_not_meet_and_other_scripts_are_read() -> None:
    assert stem("university") != stem("unit")
    assert stems("Straße été") == [*stems("STRASSE"), "été"]
    assert list(stems("北京大学")) == ["北京", "京大", "大学"]
    assert list(stems("no_words: _ - !")) == ["no", "word"]


@pytest.mark.promise("reading.words")
@given(st.text(max_size=200))
def test_any_text_can_be_asked(text: str) -> None:
    question = read_question(text)
    assert len(question.words) <= MAX_WORDS
    assert len(set(question.words)) == len(question.words)


@pytest.mark.promise("reading.words")
def test_times_are_seen_in_questions_and_texts() -> None:
    question = read_question("When did Ann go to Rome in May 2023, on the 7th?")
    assert question.asks_when
    assert (question.months, question.years, question.days) == ({5}, {2023}, {7})
    assert read_question("may I go?").months == frozenset()
    assert says_when(content_words("We met last Friday."))
    assert says_when(content_words("It was 2019."))
    assert not says_when(content_words("We met, and it may rain."))


@pytest.mark.promise("reading.budget")
@given(st.text(alphabet="ab. \n!?", max_size=900), st.integers(min_value=1, max_value=60))
def test_an_excerpt_stands_in_its_text_word_for_word_and_keeps_to_the_budget(text: str, tokens: int) -> None:
    part = excerpt(text, {"ab": 1.0}, tokens)
    assert part in text
    assert tokens_of(part) <= tokens or part == text


@pytest.mark.promise("reading.budget")
def test_an_excerpt_is_around_what_was_asked() -> None:
    text = "Nothing here at all. " * 200 + "The harbour opens at nine. " + "Something else again. " * 200
    part = excerpt(text, {stem("harbour"): 3.0}, 40)
    assert "The harbour opens at nine." in part
    assert find_quote(part, fold_text(text)) is not None
