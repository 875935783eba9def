"""Diffs and edits of lines."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.gate.quotes import split_lines
from tallystick.rooms.studio.workspace.diffs import counts, lines_of, unified, with_diff, with_edits
from tallystick.rooms.studio.workspace.model import Edit
from tests.sizes import size

PIECES = ["a", "b", " ", "\n", "\n", "\r\n", "\r", "é", "\u2028", "-", "@"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@pytest.mark.promise("studio.patch-diff")
@settings(max_examples=size(300, 5000))
@given(before=TEXTS, after=TEXTS)
def test_a_diff_applied_to_its_base_gives_the_new_text(before: str, after: str) -> None:
    diff = unified(before, after, "Story/x.md")
    if before == after:
        assert diff == ""
    else:
        assert with_diff(before, diff) == after


@pytest.mark.promise("studio.patch-diff")
@settings(max_examples=size(200, 3000))
@given(text=TEXTS)
def test_lines_are_numbered_as_quotes_number_them(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    told = split_lines(text)
    assert len(lines) == (len(told) if told[-1] else len(told) - 1)


@pytest.mark.promise("studio.patch-diff")
def test_edits_replace_insert_and_remove_lines() -> None:
    text = "one\ntwo\nthree"
    assert with_edits(text, (Edit(start_line=2, end_line=2, text="TWO\n"),)) == "one\nTWO\nthree"
    assert with_edits(text, (Edit(start_line=2, end_line=2, text=""),)) == "one\nthree"
    assert with_edits(text, (Edit(start_line=1, end_line=0, text="zero"),)) == "zero\none\ntwo\nthree"
    assert with_edits(text, (Edit(start_line=4, end_line=3, text="four\n"),)) == "one\ntwo\nthree\nfour\n"
    both = (Edit(start_line=3, end_line=3, text="3\n"), Edit(start_line=1, end_line=1, text="1\n"))
    assert with_edits(text, both) == "1\ntwo\n3\n"
    assert with_edits("a\r\nb\r\n", (Edit(start_line=1, end_line=1, text="x\ny\n"),)) == "x\r\ny\r\nb\r\n"
    assert with_edits("", (Edit(start_line=1, end_line=0, text="x"),)) == "x"
    assert isinstance(with_edits(text, (Edit(start_line=0, end_line=0, text="x"),)), Problem)


@pytest.mark.promise("studio.patch-diff")
def test_two_texts_with_nothing_in_common_are_compared_in_bounded_time() -> None:
    before = "".join(f"old {number}\n" for number in range(20_000))
    after = "".join(f"new {number}\n" for number in range(20_000))
    start = time.process_time()
    diff = unified(before, after, "x")
    assert time.process_time() - start < 5
    assert with_diff(before, diff) == after
    assert counts(before, after) == (20_000, 20_000)
