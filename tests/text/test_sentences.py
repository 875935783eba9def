"""Sentences are spans into the text, found in linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.sentences import cut_to_sentences, first_sentences, sentence_spans, sentences
from tests.sizes import size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith paid $3.50. He left.", ["Mr. Smith paid $3.50.", "He left."]),
        ("Rev. Green met Lt. Col. Hall, e.g. at noon. Both ate.",
         ["Rev. Green met Lt. Col. Hall, e.g. at noon.", "Both ate."]),
        ("The U.S. economy grew. See No. 5 and Fig. 3.", ["The U.S. economy grew.", "See No. 5 and Fig. 3."]),
        ("J. R. Smith (see Hall et al. 2020) came. Good.", ["J. R. Smith (see Hall et al. 2020) came.", "Good."]),
        ('"Stop!" she cried. He stopped.', ['"Stop!" she cried.', "He stopped."]),
        ("“Why?” “Because.” ‘No,’ she said.", ["“Why?”", "“Because.”", "‘No,’ she said."]),
        ("Wait… what? Yes! No?!", ["Wait… what?", "Yes!", "No?!"]),
        ("你好。我很好。再见！", ["你好。", "我很好。", "再见！"]),
        ("It costs $3.50. Run setup.py. Then wait. Write e.g. Ph.D. Hall.",
         ["It costs $3.50.", "Run setup.py.", "Then wait.", "Write e.g. Ph.D. Hall."]),
        ("No stop at all", ["No stop at all"]),
        ("", []),
        (" \n\n \t", []),
    ],
)  # fmt: skip
def test_sentences_end_where_a_reader_ends_them(text, expected):
    assert sentences(text) == expected


def test_blocks_of_markdown_end_a_sentence():
    text = "# The title\nOne line\nof prose. More.\n- an item\n- another. With two.\n\n| a | b |\n---\nAfter the rule"
    assert sentences(text) == [
        "# The title", "One line\nof prose.", "More.", "- an item", "- another.", "With two.", "| a | b |",
        "After the rule",
    ]  # fmt: skip


def test_every_line_ends_a_sentence_where_lines_are_not_wrapped():
    assert sentences("Eyes: grey\nHair: red. Short.", wrapped=False) == ["Eyes: grey", "Hair: red.", "Short."]
    assert sentences("Eyes: grey\nHair: red.") == ["Eyes: grey\nHair: red."]


_PROSE = st.text(alphabet=st.sampled_from(list("aB1 .,;!?…\"'“”’()[]\n-#|>*。！你\u00a0\u200b\x1aµİ")), max_size=300)


@given(text=st.one_of(_PROSE, st.text(max_size=200)), wrapped=st.booleans())
def test_spans_are_ordered_trimmed_and_hold_every_letter(text, wrapped):
    spans = sentence_spans(text, wrapped=wrapped)
    at, outside = 0, ""
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        outside += text[at:start]
        at = end
    outside += text[at:]
    assert not any(map(str.isalnum, outside))
    assert [text[start:end] for start, end in spans] == sentences(text, wrapped=wrapped)


@pytest.mark.parametrize(
    "piece",
    [
        'Mr. Smith went to Washington, D.C. on Jan. 5th. "Stop!" she cried. (He paid $3.50.) What? \n\n',
        "word ", "a", ". ", "( ", "\n", " ", "A.", "Mr. ", "\n- ", "-", "# \n", '"', "1.", "你好。", "\u200b.", "; ",
    ],
)  # fmt: skip
def test_a_million_characters_take_seconds(piece):
    length = size(250_000, 1_000_000)
    text = piece * (length // len(piece))
    begun = time.process_time()
    sentence_spans(text)
    assert time.process_time() - begun < length * 20 / 1_000_000, "quadratic time would take many minutes"


def test_the_first_sentences_and_a_cut_keep_sentences_whole():
    text = "Dr. Hall left. She was late. Nobody knew why, and nobody asked."
    assert first_sentences(text, 2) == "Dr. Hall left. She was late."
    assert first_sentences("", 2) == ""
    assert cut_to_sentences(text, 40) == "Dr. Hall left. She was late."
    assert cut_to_sentences(text, len(text)) == text
    assert cut_to_sentences("one two three four five six", 12) == "one two…"
