"""Passages: verbatim, within a section, neither too long nor lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.desk.kb.passages import MOST, passages_of
from tallystick.rooms.desk.kb.reading import read_document

_TEXTS = st.lists(
    st.one_of(
        st.just(""), st.just("## A heading"), st.just("|---|---|"), st.just("```"), st.text("abc .é字", max_size=60),
        st.integers(1, 400).map(lambda times: "A sentence of words. " * times),
    ),
    max_size=20,
).map("\n".join)  # fmt: skip


@pytest.mark.promise("desk.kb-verbatim")
@given(_TEXTS)
def test_every_line_that_says_something_is_in_exactly_one_passage(text: str) -> None:
    document = read_document("a.md", text.encode())
    passages = list(passages_of(document))
    assert [each.start for each in passages] == sorted(each.start for each in passages)
    for one, following in pairwise(passages):
        assert one.end <= following.start
    headings = {section.first_line for section in document.sections if section.name}
    for number, line in enumerate(document.lines, start=1):
        if any(map(str.isalnum, line)) and number not in headings:
            assert any(each.first_line <= number <= each.last_line for each in passages)


@pytest.mark.promise("desk.kb-verbatim")
@given(_TEXTS)
def test_a_passage_stands_in_its_document_on_its_lines(text: str) -> None:
    document = read_document("a.md", text.encode())
    for each in passages_of(document):
        words = document.text[each.start : each.end]
        assert words == words.strip()
        assert 0 < len(words) <= MOST
        assert words in "\n".join(document.lines[each.first_line - 1 : each.last_line])
        section = document.sections[each.section]
        assert section.first_line <= each.first_line <= each.last_line <= section.last_line


@pytest.mark.promise("desk.kb-verbatim")
def test_a_long_line_is_cut_between_sentences() -> None:
    document = read_document("a.md", ("This sentence is forty characters long. " * 60).encode())
    passages = list(passages_of(document))
    assert len(passages) > 1
    assert all(document.text[each.start : each.end].endswith(".") for each in passages)


@pytest.mark.promise("desk.kb-verbatim")
def test_a_passage_does_not_cross_a_heading() -> None:
    document = read_document("a.md", b"# A\nOne.\n## B\nTwo.\n")
    assert [document.text[each.start : each.end] for each in passages_of(document)] == ["One.", "Two."]


@pytest.mark.promise("desk.kb-verbatim")
def test_a_listing_that_fits_is_not_cut() -> None:
    listing = "```sh\n" + "run it again\n\n" * 30 + "```"
    document = read_document("a.md", f"{'Words. ' * 80}\n\n{listing}\n\nMore.\n".encode())
    texts = [document.text[each.start : each.end] for each in passages_of(document)]
    assert any(listing in text for text in texts)
    assert all(text.count("```") in {0, 2} for text in texts)
