"""What holds for all texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.gate.quotes import occurrences
from tallystick.rooms.studio.continuity.checking import check_book
from tallystick.rooms.studio.continuity.prose import Prose
from tests.rooms.studio.continuity.telling import AFTER, BEFORE, BETWEEN, book_of, source, vectors
from tests.sizes import size

CALM = [
    "Helen smiled.", "The rain came down.", '"I know," said Tobias.', "Helen had green eyes.", "Helen's green eyes were tired.",
    "Tobias was forty.", "Tobias was forty years old.", "Larkhill lay in Kent.", "Helen was born in Bristol.",
    '"Helen has brown eyes," said Tobias.', "Tobias dreamed that Helen was dead.", "Was Tobias fifty?", "It was Monday.",
    "If Larkhill lay in Essex, they would be home.", "Helen did not have brown eyes.", "Nobody spoke.",
]  # fmt: skip
LOUD = [sentence for _, _, first, second in vectors("contradictions")[::4] for sentence in (first, second)]


@pytest.mark.promise("continuity.unchanged")
@settings(max_examples=size(60, 1_000))
@given(st.lists(st.sampled_from(CALM), max_size=25), st.integers(1, 4))
def test_a_book_whose_facts_do_not_change_is_silent(sentences: list[str], files: int) -> None:
    parts = [sentences[at::files] for at in range(files)]
    scenes = ["\n\n".join([BEFORE, *part, AFTER]) for part in parts]
    assert check_book(book_of(*scenes)).findings == ()


@pytest.mark.promise("continuity.quotes")
@settings(max_examples=size(60, 1_000))
@given(st.lists(st.sampled_from(LOUD), max_size=12), st.sampled_from(["\n\n", "\n", " "]))
def test_every_quote_that_is_given_stands_on_its_lines(sentences: list[str], between: str) -> None:
    book = book_of("\n\n".join([BEFORE, between.join(sentences), BETWEEN]))
    for finding in check_book(book).findings:
        for cited in (finding.first, finding.second):
            places = occurrences(cited.quote, book.scenes[0].source.folded)
            assert any(place.first_line == cited.line and place.last_line == cited.end_line for place in places)


@settings(max_examples=size(100, 2_000))
@given(st.text(alphabet=st.sampled_from("AbMr. \n\"'“”‘’—-_*?!,;:0123é"), max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    prose = Prose(source("a.md", text))
    assert len(prose.told) == len(prose.flat)
    assert all(prose.told[sentence.start : sentence.end] == sentence.text for sentence in prose.sentences)
    check_book(book_of(text))
