"""The structure of a Markdown text, by line."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.text.headings import Heading, Outline, plain_words, read_outline


def found(text: str) -> list[tuple[int, int, str]]:
    return [(heading.line, heading.level, heading.text) for heading in read_outline(text).headings]


def test_headings_have_their_lines_whatever_ends_a_line() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["# One #", "", "Two *words*", "---", "text", "", "### C#", "", "Big", "==="])
        assert found(text) == [(1, 1, "One"), (3, 2, "Two *words*"), (7, 3, "C#"), (9, 1, "Big")]


@pytest.mark.parametrize(
    "text",
    [
        "    # code",
        "#hashtag",
        "- item\n---\n",
        "> # quoted",
        "- # listed",
        "1. step\n\n   # still in the step",
        "<!--\n# hidden\n-->",
        "two lines\nabove a rule\n---\n",
        "| a |\n|---|\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert found(text) == []


def test_listings_hide_their_headings_until_they_end() -> None:
    outline = read_outline("```sh\n# not\n\n~~~\n```\n# real\n~~~~\n# never closed\n")
    assert outline == Outline(headings=(Heading(line=6, level=1, text="real"),), listings=((1, 5), (7, 8)))


def test_a_heading_is_told_without_its_marks() -> None:
    assert plain_words("The **bold** `code`, [a link](http://x.y) and _more_") == "The bold code, a link and more"


@given(st.text(alphabet="ab<>!-/ph #\n\r=`~*[]:\t", max_size=200))
def test_headings_and_listings_never_overlap(text: str) -> None:
    outline = read_outline(text)
    taken = [line for each in outline.headings for line in range(each.line, each.line + each.takes)]
    taken += [line for first, last in outline.listings for line in range(first, last + 1)]
    assert len(taken) == len(set(taken))
    assert all(1 <= line <= text.count("\n") + text.count("\r") + 1 for line in taken)


@pytest.mark.parametrize(
    "piece", ["> ", "- ", "# a\n", "```\n", "[a]: b\n", "<!--", "<div>\n", "a\n", "a\n---\n", "1. a\n\n"]
)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    def taken(times: int) -> float:
        began = time.process_time()
        read_outline("# a\n" + piece * times)
        return time.process_time() - began

    small, large = min(taken(1_000) for _ in range(2)), min(taken(8_000) for _ in range(2))
    assert large < max(small, 0.005) * 8 * 4
