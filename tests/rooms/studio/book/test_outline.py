"""Outlines in the forms that authors write them in."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.numbers import natural, read_number
from tallystick.rooms.studio.book.outline import MAX_BEATS, parse_outline
from tests.rooms.studio.projects import source
from tests.sizes import size

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "studio_outlines.json").read_text(encoding="utf-8")
)


@pytest.mark.promise("book.outline")
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_an_outline_is_read_in_its_authors_form(case: dict[str, Any]) -> None:
    outline = parse_outline(source(case["text"], "Story/SCN-outline.md"))
    assert list(outline.acts) == case["acts"]
    assert [beat.title for beat in outline.beats] == [beat["title"] for beat in case["beats"]]
    for beat, wanted in zip(outline.beats, case["beats"], strict=True):
        assert {name: getattr(beat, name) for name in wanted} == wanted


@pytest.mark.promise("book.outline")
@given(
    st.lists(
        st.sampled_from(
            ["# Act I", "## Scene 3: X (POV: Mara)", "- a: b", "  - c", "1. d", "| # | Scene |", "|---|---|", "| 1 | Z |",
             "POV: Tom", "[[SCN-x]]", "", "text", "---", "===", "```", "<!--", "-->", "### Notes", "#", "| | |"]
        ),
        max_size=size(25, 60),
    )
)  # fmt: skip
def test_any_lines_can_be_read_and_entries_stand_in_their_order(lines: list[str]) -> None:
    outline = parse_outline(source("\n".join(lines)))
    places = [beat.line for beat in outline.beats]
    assert all(1 <= beat.line <= beat.end_line <= len(lines) for beat in outline.beats)
    assert len(set(places)) == len(places)
    assert all(beat.title for beat in outline.beats)
    assert {beat.act for beat in outline.beats} - {None} <= set(outline.acts)


@pytest.mark.promise("book.outline")
def test_an_outline_has_only_so_many_entries() -> None:
    outline = parse_outline(source("".join(f"- Scene {number}: x\n" for number in range(MAX_BEATS + 10))))
    assert len(outline.beats) == MAX_BEATS


def test_numbers_are_read_as_they_are_written() -> None:
    assert [read_number(text) for text in ("12", "iv", "XII", "Three", "twenty-one", "LXXX")] == [12, 4, 12, 3, 21, 80]
    assert [read_number(text) for text in ("", "mix", "the", "iiii", "12345", "²")] == [None] * 6
    assert sorted(["scene 10", "scene 9", "scene"], key=natural) == ["scene", "scene 9", "scene 10"]
