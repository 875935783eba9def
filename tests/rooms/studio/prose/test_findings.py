"""What an editor would mark, and where."""

from collections.abc import Iterable

import pytest

from tallystick.rooms.studio.prose.findings import Finding
from tallystick.rooms.studio.prose.lint import lint_findings
from tallystick.rooms.studio.prose.paragraphs import Prose, read_prose
from tallystick.rooms.studio.prose.repetition import repetition_findings
from tallystick.rooms.studio.prose.rhythm import (
    EVEN_RUN,
    LONG_PARAGRAPH,
    LONG_SENTENCE,
    QUIET_WORDS,
    TALK_PARAGRAPHS,
    pacing_findings,
    rhythm_findings,
)
from tallystick.rooms.studio.prose.voice import voice_findings
from tests.rooms.studio.projects import source, stands


def prose(text: str) -> Prose:
    return read_prose(source(text))


def shown(found: Iterable[Finding], text: str) -> dict[str, list[int]]:
    """Kind → the lines that are shown; every quote must stand there."""
    kinds: dict[str, list[int]] = {}
    for one in found:
        assert one.count >= len(one.places) >= 1
        assert all(stands(source(text), place.line, place.quote) for place in one.places)
        kinds.setdefault(one.kind, []).extend(place.line for place in one.places)
    return kinds


@pytest.mark.promise("prose.findings", "book.quotes")
def test_words_that_come_too_often_are_marked_against_the_book() -> None:
    text = (
        "The lantern swung. Its lantern light fell.\n\nMara held the lantern. A lantern, a second lantern!\n\n"
        "Mara slept. Mara woke. Mara ate.\n"
    )
    rest = {"lantern": 2, "the": 4000, "swung": 40, "rope": 6000}
    found = list(repetition_findings(prose(text), frozenset({"mara"}), rest))
    assert [one.message for one in found if one.kind == "repeated_word"] == [
        "“lantern” comes 5 times against the rest of the book."
    ]
    assert shown(found, text)["repeated_word"] == [1, 3]
    usual = list(repetition_findings(prose(text), frozenset({"mara"}), {"lantern": 400, "rope": 3600}))
    # An author who always writes so is not told so; that it echoes within two lines he is.
    assert [one.kind for one in usual] == ["echo"]


@pytest.mark.promise("prose.findings")
def test_names_and_small_words_are_never_too_many() -> None:
    text = "Tom saw Mr. Hale. Then Mr. Hale saw Tom. But Mr. Hale left Tom. So Tom left Mr. Hale. And he and he and he went.\n"
    assert list(repetition_findings(prose(text), frozenset(), {})) == []


@pytest.mark.promise("prose.findings", "book.quotes")
def test_phrases_are_marked_once_at_their_longest() -> None:
    text = (
        "He went like a dog in the rain.\n\nShe stood like a dog in the rain, waiting.\n\n"
        "They all died like a dog in the\nrain.\n"
    )
    found = [one for one in repetition_findings(prose(text), frozenset(), {}) if one.kind == "repeated_phrase"]
    assert [one.message for one in found] == ["“like a dog in the rain” comes 3 times."]
    assert shown(found, text) == {"repeated_phrase": [1, 3, 5]}


@pytest.mark.promise("prose.findings", "book.quotes")
def test_rhythm_is_marked() -> None:
    long = "And " + "then the rain " * (LONG_SENTENCE // 3) + "fell."
    drum = " ".join(f"{word} rope was long here." for word in ("A", "Our", "Its", "One", "That", "Some", "Any"))
    text = f"{long}\n\nShe ran. She fell down the old stone stairs. She rose.\n\n{drum}\n"
    assert EVEN_RUN <= 7
    assert shown(rhythm_findings(prose(text)), text) == {"long_sentence": [1], "same_opening": [3], "even_rhythm": [5]}


@pytest.mark.promise("prose.findings", "book.quotes")
def test_pace_is_marked() -> None:
    long = "The rain fell on the stone. " * (QUIET_WORDS // 6 + 1)
    talk = "\n\n".join(f"“No, not {number} times.”" for number in range(TALK_PARAGRAPHS))
    text = f"{long}\n\n{talk}\n"
    assert QUIET_WORDS > LONG_PARAGRAPH
    assert shown(pacing_findings(prose(text)), text) == {
        "long_paragraph": [1],
        "no_dialogue": [1],
        "only_dialogue": [3],
    }
    assert list(pacing_findings(prose("“Well,” she said.\n"))) == []


@pytest.mark.promise("prose.findings", "book.quotes")
def test_voice_is_marked_in_narration_and_not_in_speech() -> None:
    text = (
        "She slowly turned. “I really felt it,” he said.\n\nShe saw the boat. She could hear the gulls.\n\n"
        "Tom thought of home.\n\n*I am lost*, she thought. The family was only early.\n"
        + "\nThe boat went on and on along the coast under her. " * 40
        + "\n\nI slept then.\n"
    )
    found = shown(voice_findings(prose(text), "Mara", ["Tom"]), text)
    assert found["adverbs"] == [1]
    assert found["filter_words"] == [3]
    assert found["head_hop"] == [5]
    assert found["person_slip"] == [len(text.split("\n")) - 1]
    assert "head_hop" not in shown(voice_findings(prose(text), "Tom", ["Mara"]), text)
    assert "head_hop" not in shown(voice_findings(prose(text), None, ["Tom"]), text)


@pytest.mark.promise("prose.lint", "book.quotes")
def test_usage_is_judged_by_the_librarys_lists_and_not_in_speech() -> None:
    text = "It was the calm before the storm.\n\n“It was the calm before the storm,” he said.\n"
    found = list(lint_findings(prose(text)))
    assert [one.kind for one in found] == ["lint.cliches"]
    assert shown(found, text) == {"lint.cliches": [1]}


@pytest.mark.promise("prose.lint")
def test_a_novel_may_use_straight_quotes_and_begin_with_but() -> None:
    text = 'But she left. "No..." he said. "No!!!" In 1850  it rained.\n'
    assert list(lint_findings(prose(text))) == []
