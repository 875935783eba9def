"""Passages stay under their headings and between sentences."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.reading.passages import MOST, cut_passages
from tallystick.text.headings import read_outline

_SENTENCE = "The order was late, and nobody at the counter knew why. "


def test_a_passage_has_its_heading_path_and_its_lines():
    text = "Opening line.\n\n# Returns\n\nAll of it.\n\n## Fees\n\nNone.\n\n# **Delivery** #\n\nTwo days.\n"
    found = [(text[each.start : each.end], each.headings, each.first_line) for each in cut_passages(text)]
    assert found == [
        ("Opening line.", (), 1),
        ("All of it.", ("Returns",), 5),
        ("None.", ("Returns", "Fees"), 9),
        ("Two days.", ("Delivery",), 13),
    ]


def test_a_heading_inside_a_listing_is_text():
    text = "# Setup\n\n```\n# a comment\nrun\n```\n\nDone.\n"
    assert [each.headings for each in cut_passages(text)] == [("Setup",)]


def test_long_paragraphs_are_cut_between_sentences():
    text = _SENTENCE * 100
    found = cut_passages(text)
    assert len(found) > 5
    assert all(text[each.start : each.end].endswith("why.") for each in found)
    assert all(each.end - each.start <= MOST for each in found)
    assert [each.number for each in found] == list(range(len(found)))


def test_a_wrapped_paragraph_is_cut_between_sentences_and_lines_are_those_of_the_file():
    text = ("The order was late, and nobody\r\nat the counter knew why.\r\n" * 40) + "\rLast line."
    found = cut_passages(text)
    assert all(text[each.start : each.end].endswith(("why.", "line.")) for each in found)
    assert found[-1].last_line == 82


def test_even_one_sentence_has_an_end():
    assert all(each.end - each.start <= MOST for each in cut_passages("word " * 20_000))


@given(st.text(alphabet=st.sampled_from(list("ab.# \n`~|-\r\t你。")), max_size=400))
def test_passages_are_ordered_and_hold_every_word_but_headings(text):
    found = cut_passages(text)
    at, outside = 0, ""
    for each in found:
        assert at <= each.start < each.end
        assert each.first_line <= each.last_line
        outside += text[at : each.start]
        at = each.end
    outside += text[at:]
    titles = "".join(heading.text for heading in read_outline(text).headings)
    assert sum(map(str.isalnum, outside)) == sum(map(str.isalnum, titles))


@pytest.mark.parametrize("piece", ["```\n", "# a\n", "# ", "\n \n", "a", "```\n~~~~\n"])
def test_a_million_characters_take_seconds(piece):
    begun = time.process_time()
    cut_passages(piece * (1_000_000 // len(piece)))
    assert time.process_time() - begun < 20
