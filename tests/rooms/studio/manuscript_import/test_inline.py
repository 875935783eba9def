"""Emphasis: what is written is read back, and no sign of the text becomes a style."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.rooms.studio.manuscript_import.inline import Span, plain, read, render
from tests.sizes import size

WORDS = st.text(alphabet=st.sampled_from("ab é*_`[]()<>#&;\\~!-+.1|'\"“"), max_size=14)
SPANS = st.lists(st.builds(Span, text=WORDS, italic=st.booleans(), bold=st.booleans()), max_size=5)


def words(spans: tuple[Span, ...] | list[Span]) -> list[str]:
    return "".join(span.text for span in spans).split()


@pytest.mark.promise("studio.import-emphasis")
@settings(max_examples=size(400, 10_000))
@given(spans=SPANS)
def test_no_text_is_changed_by_being_written_as_markdown(spans: list[Span]) -> None:
    assert words(read(render(spans))) == words(spans)


@pytest.mark.promise("studio.import-emphasis")
@settings(max_examples=size(200, 5000))
@given(
    st.lists(
        st.builds(Span, text=st.from_regex(r"[a-z]{1,6}( [a-z]{1,6}){0,2}", fullmatch=True), italic=st.booleans(), bold=st.booleans()),
        min_size=1, max_size=6,
    )
)  # fmt: skip
def test_styles_of_words_survive(spans: list[Span]) -> None:
    spaced = [one for span in spans for one in (span, Span(text=" "))]
    styles = [(span.italic, span.bold) for span in spans for _ in span.text.split()]
    found = [(span.italic, span.bold) for span in read(render(spaced)) for _ in span.text.split()]
    assert found == styles


@pytest.mark.promise("studio.import-emphasis")
@pytest.mark.parametrize(
    ("markdown", "spans"),
    [
        ("*a* b", [("a", "i"), (" b", "")]), ("**a**", [("a", "b")]), ("***a***", [("a", "bi")]), ("_a_", [("a", "i")]),
        ("snake_case_name", [("snake_case_name", "")]), ("a * b * c", [("a * b * c", "")]), ("2*3*4", [("2", ""), ("3", "i"), ("4", "")]),
        ("**a *b* c**", [("a ", "b"), ("b", "bi"), (" c", "b")]), (r"\*a\*", [("*a*", "")]), ("`*a*`", [("*a*", "")]),
        ("**_a_**", [("a", "bi")]), ("*a", [("*a", "")]), ("a\nb", [("a b", "")]), ("a\\\nb", [("a\nb", "")]),
        ("a  \nb", [("a\nb", "")]), ("[a](http://x)", [("a", "")]), ("[[SCN-x|the quay]]", [("the quay", "")]), ("![x](y.png)", []),
        ("a <!-- note --> b", [("a  b", "")]), ("&eacute;", [("é", "")]), ("a_", [("a_", "")]), ("*a **b*", [("*a *", ""), ("b", "i")]),
    ],
)  # fmt: skip
def test_markdown_is_read_by_its_rules(markdown: str, spans: list[tuple[str, str]]) -> None:
    found = [(span.text, ("b" if span.bold else "") + ("i" if span.italic else "")) for span in read(markdown)]
    assert found == spans


@pytest.mark.promise("studio.import-emphasis")
@pytest.mark.parametrize(
    "line", ["# one", "> one", "- one", "+ one", "12. one", "3) one", "---", "===", "```", "~~~", "| a |", "a ~~ b"]
)
def test_a_line_that_looks_like_markup_stays_text(line: str) -> None:
    made = render([Span(text=line)])
    assert made != line
    assert plain(made) == line


@pytest.mark.promise("studio.import-emphasis")
@pytest.mark.parametrize(
    "text", ["*a " * 40_000, "**" * 50_000, "[" * 50_000, "`" * 50_000 + "a", "<!--" * 20_000, "_a*" * 30_000]
)
def test_no_paragraph_is_slow(text: str) -> None:
    start = time.process_time()
    plain(text)
    assert time.process_time() - start < 5
