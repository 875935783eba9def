"""Paragraphs, sentences and speech."""

import pytest

from tallystick.rooms.studio.prose.paragraphs import narration_of, raw_paragraphs, read_prose, speech_spans
from tests.rooms.studio.projects import source


def spoken(text: str) -> list[str]:
    return [text[start:end] for start, end in speech_spans(text)]


def sentences(text: str) -> list[tuple[int, str]]:
    return [(sentence.line, sentence.text) for sentence in read_prose(source(text)).sentences]


@pytest.mark.promise("prose.sentences")
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("“Go,” he said, “now.” She went.", ["“Go,”", "“now.”"]),
        ('"Go," he said, "now." She went.', ['"Go,"', '"now."']),
        ("‘It’s late,’ she said, and didn’t move.", ["‘It’s late,’"]),
        ("'It's late,' she said, and didn't move.", ["'It's late,'"]),
        ("«Va,» dit-il.", ["«Va,»"]),
        ("„Geh“, sagte er.", ["„Geh“"]),
        ("—No, said Stephen.", ["—No, said Stephen."]),
        ("“He said ‘no’ to me,” she told them.", ["“He said ‘no’ to me,”"]),
        ("“I will go on in the next paragraph.", ["“I will go on in the next paragraph."]),
        ("The dogs' barking didn't stop; 'twas late.", []),
        ("", []),
    ],
)
def test_speech_is_told_whatever_marks_it_is_set_in(text: str, parts: list[str]) -> None:
    assert spoken(text) == parts
    assert len(narration_of(text, speech_spans(text))) == len(text)


@pytest.mark.promise("prose.sentences")
def test_a_sentence_with_speech_in_it_is_one() -> None:
    assert [text for _, text in sentences("“Stop!” she cried. “You can't go. It's late.” He laughed.")] == [
        "“Stop!” she cried.", "“You can't go.", "It's late.”", "He laughed.",
    ]  # fmt: skip
    assert len(sentences("Mr. Hale came at 5 p.m. to St. Mary's. He sat.")) == 2
    assert [text for _, text in sentences('"Why not?" asked Tom.')] == ['"Why not?" asked Tom.']


@pytest.mark.promise("prose.sentences")
def test_sentences_know_the_line_they_begin_on_in_wrapped_prose() -> None:
    text = "# Title\n\nThe first goes on\nover two lines. The second\nbegins there.\n\n***\n\nThe third.\n"
    assert sentences(text) == [
        (3, "The first goes on over two lines."), (4, "The second begins there."), (9, "The third."),
    ]  # fmt: skip


@pytest.mark.promise("prose.sentences")
def test_paragraphs_without_empty_lines_are_told_by_long_lines() -> None:
    long = "word " * 30
    found = list(raw_paragraphs(source(f"---\npov: Mara\n---\n{long}\n{long}\n"), 4))
    assert [line for line, _ in found] == [4, 5]
    assert [line for line, _ in raw_paragraphs(source("POV: Mara\nshort\nlines\n\nmore\n"))] == [2, 5]


@pytest.mark.promise("prose.figures")
def test_only_so_much_of_a_file_is_measured_and_that_is_told() -> None:
    prose = read_prose(source("One two three.\n\n" * 50), max_words=30)
    assert prose.truncated
    assert prose.word_count == 30
    assert read_prose(source("")).word_count == 0
