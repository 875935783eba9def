"""Front matter as authors write it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.front_matter import MAX_LINES, read_front_matter, text_of, texts_of
from tests.rooms.studio.projects import source
from tests.sizes import size


def read(block: str) -> Any:
    return read_front_matter(source(f"---\n{block}\n---\nProse.\n"))


@pytest.mark.promise("book.front-matter")
@pytest.mark.parametrize(
    ("block", "fields"),
    [
        ("Title: The Harbour\nPOV: Mara", {"title": "The Harbour", "pov": "Mara"}),
        ("date: 1912-04-14\ntime: 12:30\ncode: 007", {"date": "1912-04-14", "time": "12:30", "code": "007"}),
        ("eyes: no\nalive: true\nage: 41\nheight: 1.8", {"eyes": "no", "alive": True, "age": 41, "height": 1.8}),
        ("aliases: [Mara, the Grey]", {"aliases": ["Mara", "the Grey"]}),
        ("aliases:\n  - Mara\n  - the Grey", {"aliases": ["Mara", "the Grey"]}),
        ('home: [[Senn]]\nship: "[[The Gull|the boat]]"', {"home": "Senn", "ship": "The Gull"}),
        ("name:\nnote: ~", {"name": None, "note": None}),
        ("a:\n  b: {c: 1}", {"a": {"b": {"c": 1}}}),
        ("", {}),
    ],
)
def test_values_are_what_the_author_wrote(block: str, fields: dict[str, Any]) -> None:
    found = read(block)
    assert found.complaint is None
    assert found.fields == fields
    assert found.body_line == 3 + len(block.split("\n"))


@pytest.mark.promise("book.front-matter")
@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("title: Chapter 3: The Storm\npov: Mara", 2),
        ("pov: Mara\ntitle: [open", 3),
        ("pov: Mara\npov: Tom\ntitle: x", 3),
        ("pov: Mara\nlist: &a [x]\nagain: *a", 4),
        ("pov: Mara\ndeep: " + "[" * 40 + "]" * 40, 3),
        ("pov: Mara\nwhat: !!python/object:os.system x", 3),
        ("\tpov: Mara\npov: Mara", 2),
    ],
)
def test_what_is_no_yaml_is_complained_about_and_still_read(block: str, line: int) -> None:
    found = read(block)
    assert found.complaint is not None
    assert (found.complaint.code, found.complaint.line) == ("front_matter_invalid", line)
    assert found.fields["pov"] == "Mara"


@pytest.mark.promise("book.front-matter")
def test_fields_that_nothing_ends_are_read_as_far_as_they_go() -> None:
    found = read_front_matter(source("---\ntitle: X\npov: Mara\n\nIt rained.\n"))
    assert found.complaint is not None
    assert found.complaint.code == "front_matter_invalid"
    assert (found.fields["pov"], found.body_line) == ("Mara", 4)


@pytest.mark.promise("book.front-matter")
@pytest.mark.parametrize(
    "text",
    ["", "Prose.", "---", "---\nHe left.\n\n---\n\nShe came.\n", "----\na: b\n----\n", "\n---\na: b\n---\n"],
)
def test_prose_between_two_rules_is_prose(text: str) -> None:
    found = read_front_matter(source(text))
    assert (found.fields, found.body_line, found.complaint) == ({}, 1, None)


@pytest.mark.promise("book.front-matter-bounded")
def test_a_block_without_end_is_not_searched_for_one() -> None:
    found = read_front_matter(source("---\n" + "word\n" * (MAX_LINES + 10) + "---\n"))
    assert found.body_line == 1


@pytest.mark.promise("book.front-matter-bounded")
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#?,\n \t\\%@`~1"), max_size=size(120, 400)))
def test_nothing_in_a_block_raises(block: str) -> None:
    found = read(block)
    assert isinstance(found.fields, dict)
    assert all(isinstance(name, str) for name in found.fields)
    assert 1 <= found.body_line <= block.count("\n") + 4


@pytest.mark.promise("book.front-matter")
def test_fields_are_texts_where_texts_are_asked_for() -> None:
    assert texts_of("a, b; c") == ("a", "b", "c")
    assert texts_of(["a, b", 3, None, ["c"]]) == ("a", "b", "3", "c")
    assert texts_of(None) == texts_of({"a": 1}) == texts_of({}) == ()
    assert text_of(["only"]) == "only"
    assert text_of(7) == "7"
    assert text_of(["a", "b"]) is text_of("  ") is text_of({}) is None
