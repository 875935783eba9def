"""Spans and line numbers."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.spans import LineIndex, Span, trim


@given(st.text(alphabet="ab\n", max_size=50), st.integers(min_value=1, max_value=9))
def test_line_numbers_count_the_line_feeds_before_an_offset(text, first):
    index = LineIndex(text, first=first)
    assert [index.line_at(at) for at in range(len(text) + 1)] == [
        first + text.count("\n", 0, at) for at in range(len(text) + 1)
    ]


@given(st.text(alphabet="ab \n", max_size=20), st.data())
def test_a_trimmed_span_holds_the_stripped_text(text, data):
    start = data.draw(st.integers(min_value=0, max_value=len(text)))
    end = data.draw(st.integers(min_value=start, max_value=len(text)))
    assert trim(text, start, end).of(text) == text[start:end].strip()
    assert Span(start, end).of(text) == text[start:end]
