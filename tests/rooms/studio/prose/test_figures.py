"""Measures, against figures worked out by hand and the author's own other scenes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.prose.figures import FEWEST_SCENES, SAMPLE_SCENES, Measures, compared, figures_of
from tallystick.rooms.studio.prose.paragraphs import read_prose
from tallystick.rooms.studio.prose.rhythm import pacing_figures, rhythm_figures
from tallystick.rooms.studio.prose.voice import narrator_of, readability, syllable_count
from tests.rooms.studio.projects import source

PLAIN = "The cat sat on the mat. The dog ran to the cat."


@pytest.mark.promise("prose.figures")
def test_readability_is_that_of_the_formulas() -> None:
    # 12 words, 2 sentences, 12 syllables, 34 letters, no word of three syllables.
    words = ["The", "cat", "sat", "on", "the", "mat", "The", "dog", "ran", "to", "the", "cat"]
    found = readability(words, 2)
    letters = 34 / 12
    assert found == pytest.approx({
        "flesch_reading_ease": 206.835 - 1.015 * 6 - 84.6,
        "flesch_kincaid_grade": 0.39 * 6 + 11.8 - 15.59,
        "gunning_fog": 0.4 * 6,
        "smog": 3.1291,
        "coleman_liau": 5.88 * letters - 0.296 * 100 * 2 / 12 - 15.8,
        "automated_readability": 4.71 * letters + 0.5 * 6 - 21.43,
    })  # fmt: skip
    assert readability([], 0) == {}


@pytest.mark.promise("prose.figures")
def test_syllables_are_counted_by_hyphenation() -> None:
    assert [syllable_count(word) for word in ("cat", "harbour", "umbrella", "well-known")] == [1, 2, 3, 2]


@pytest.mark.promise("prose.figures")
def test_rhythm_and_pace_of_a_small_text() -> None:
    prose = read_prose(source("She ran. She hid. He came slowly up the stairs.\n\n“Who is there?” she asked.\n"))
    rhythm = rhythm_figures(prose)
    assert rhythm["words_per_sentence"] == pytest.approx(15 / 4)
    assert rhythm["same_openings"] == pytest.approx(1 / 4)
    assert rhythm["questions"] == pytest.approx(1 / 4)
    assert rhythm["longest_sentence"] == 6
    pace = pacing_figures(prose)
    assert (pace["words"], pace["paragraphs"], pace["longest_without_dialogue"]) == (15, 2, 10)
    assert pace["dialogue_ratio"] == pytest.approx(3 / 15)


@pytest.mark.promise("prose.findings")
@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I went to the harbour. My coat was wet, and I was cold.", "first"),
        ("She went to the harbour. Her coat was wet. “I am cold,” she said.", "third"),
        ("You walk to the harbour. Your coat is wet. You are cold.", "second"),
        ("Rain on stone. A gull.", "unclear"),
    ],
)
def test_the_person_is_told_from_narration_alone(text: str, person: str) -> None:
    assert narrator_of(read_prose(source(text)), None).person == person


def scene(number: int, text: str):
    return parse_scene(source(text, f"Story/Scenes/SCN-{number:02}.md"), number)


@pytest.mark.promise("prose.baseline")
def test_a_scene_is_compared_with_the_others_of_the_book() -> None:
    others = [scene(number, f"{PLAIN} It rained{' hard' * number}.\n\n“Yes,” he said.\n") for number in range(6)]
    odd = scene(9, "The extraordinarily complicated administrative organisation deteriorated considerably. " * 3)
    measures = Measures()
    baseline = measures.baseline(odd, [*others, odd])
    assert len(baseline.figures) == 6
    verdicts = {one.name: one.verdict for one in compared(read_prose(odd.source), baseline)}
    assert verdicts["flesch_kincaid_grade"] == "higher"
    assert verdicts["dialogue_ratio"] == "lower"
    assert verdicts["words"] == "no_baseline"
    assert baseline.vocabulary["rained"] == 6
    assert measures.baseline(odd, others) == baseline


@pytest.mark.promise("prose.baseline")
def test_too_few_scenes_are_no_baseline_and_many_are_sampled() -> None:
    few = [scene(number, PLAIN) for number in range(FEWEST_SCENES)]
    alone = compared(read_prose(few[0].source), Measures().baseline(few[0], few))
    assert {one.verdict for one in alone} == {"no_baseline"}
    assert {one.usual for one in alone} == {None}
    many = [scene(number, f"{PLAIN} {number}") for number in range(50)]
    assert len(Measures().baseline(many[0], many).figures) == SAMPLE_SCENES


@pytest.mark.promise("prose.figures")
@given(st.text(alphabet=st.sampled_from("ab I.!?“”\"'\n-é…"), max_size=200))
def test_any_text_can_be_measured(text: str) -> None:
    found = figures_of(read_prose(source(text)))
    shares = ("dialogue_ratio", "short_sentences", "same_openings", "vocabulary", "first_person")
    assert all(0 <= found[name][1] <= 1 for name in shares if name in found)
