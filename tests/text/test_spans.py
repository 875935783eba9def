"""Spans."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.spans import Span, trim


@given(st.text(alphabet="ab \n", max_size=20), st.data())
def test_a_trimmed_span_holds_the_stripped_text(text, data):
    start = data.draw(st.integers(min_value=0, max_value=len(text)))
    end = data.draw(st.integers(min_value=start, max_value=len(text)))
    assert trim(text, start, end).of(text) == text[start:end].strip()
    assert Span(start, end).of(text) == text[start:end]
