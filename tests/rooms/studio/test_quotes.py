"""Places and their quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.prose.findings import around
from tallystick.rooms.studio.prose.paragraphs import read_prose
from tallystick.rooms.studio.quotes import MAX_QUOTE, line_place, place, shortened
from tests.rooms.studio.projects import source, stands
from tests.sizes import size

TEXT = "It rained.\n\nIt rained again, and the *old* pilot —\nwho never slept—waited.\nIt rained.\n"


@pytest.mark.promise("book.quotes")
def test_a_place_is_the_one_on_its_line() -> None:
    found = place(source(TEXT), 5, "It rained.")
    assert found is not None
    assert found.shown() == {"line": 5, "end_line": 5, "quote": "It rained."}
    over = place(source(TEXT), 3, "the *old* pilot —\nwho never slept")
    assert over is not None
    assert (over.line, over.end_line) == (3, 4)
    assert place(source(TEXT), 2, "It rained.") is None
    later = place(source(TEXT), 2, "It rained.", within=3)
    assert later is not None
    assert later.line == 5
    assert place(source(TEXT), 1, "It snowed.") is None
    assert line_place(source(TEXT), 99) is None
    assert line_place(source(TEXT), 2) is None


def test_a_quote_is_cut_between_words() -> None:
    long = "word " * 100
    assert len(shortened(long)) <= MAX_QUOTE
    assert set(shortened(long).split()) == {"word"}
    assert shortened("x" * 500) == "x" * MAX_QUOTE


@pytest.mark.promise("book.quotes")
@given(
    st.lists(
        st.sampled_from(
            [
                "Mara",
                "said,",
                "“Go!”",
                "she",
                "cried.",
                "\n",
                "\n\n",
                "*never*",
                "—",
                "well-known",
                "'tis",
                "3.5",
                "…",
                "“",
            ]
        ),
        max_size=size(40, 120),
    ),
    st.data(),
)
def test_whatever_is_shown_is_found_again(words: list[str], data: st.DataObject) -> None:
    found = source(" ".join(words))
    for paragraph in read_prose(found).paragraphs:
        for sentence in paragraph.sentences:
            shown = place(found, sentence.line, sentence.text)
            if shown is not None:
                assert stands(found, shown.line, shown.quote)
        start = data.draw(st.integers(0, len(paragraph.text) - 1))
        first, text = around(paragraph.text, start, start + 1)
        assert paragraph.text[first : first + len(text)] == text
        near = place(found, paragraph.line_at(first), text)
        if near is not None:
            assert stands(found, near.line, near.quote)
