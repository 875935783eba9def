"""Passages that answer: verbatim, of one block, with what leads into them, and without what answers nothing."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.desk.kb.document_reader import read_document
from tallystick.rooms.desk.kb.passages import LONGEST, answer_passages
from tallystick.rooms.desk.kb.readable_text import read_passage

_TEXTS = st.lists(
    st.one_of(
        st.just(""),
        st.just("## A heading"),
        st.just("| a | b |"),
        st.just("|---|---|"),
        st.just("- an item"),
        st.just("2. a step"),
        st.text("abc .é字", max_size=60),
        st.integers(1, 400).map(lambda times: "A sentence of words. " * times),
    ),
    max_size=20,
).map("\n".join)
PAGE = """# Fares

Ref F-1 | Sales | current

Bring these:

- a passport
- a ticket, printed or
  on the telephone

| Fare | Change | Refund |
|---|---|---|
| Saver | 35 euros | none |
| Flex | free | 100 % |

1. Open the page.
2. Press Cancel.

```
tally --fare saver
```

> Somebody wrote that all is free.

The Example Line · Page F-1
"""


def said(text: str, name: str = "a.md") -> list[str]:
    document = read_document(name, text.encode())
    told = []
    for each in answer_passages(document):
        headings = each.headings
        lead = headings[-1] if headings and (headings[-1].endswith(":") or " | " in headings[-1]) else ""
        told.append(read_passage(document.text[each.start : each.end], lead))
    return told


@pytest.mark.promise("desk.kb-verbatim")
@given(_TEXTS)
def test_passages_are_pieces_of_the_document_in_order_and_none_is_longer_than_a_paragraph_may_be(text: str) -> None:
    document = read_document("a.md", text.encode())
    passages = answer_passages(document)
    for one, following in pairwise(passages):
        assert one.end <= following.start
    for each in passages:
        piece = document.text[each.start : each.end]
        assert piece.strip() == piece
        assert piece
        assert each.first_line <= each.last_line
        assert len(piece) <= LONGEST or "|" in piece or "step" in piece or len(piece.split(". ")) <= 2


@pytest.mark.promise("desk.kb-passages")
def test_items_have_their_lead_in_rows_their_header_and_steps_stay_together() -> None:
    assert said(PAGE) == [
        "Bring these:",
        "Bring these: a passport",
        "Bring these: a ticket, printed or on the telephone",
        "Saver: change 35 euros; refund none",
        "Flex: change free; refund 100 %",
        "1. Open the page.\n2. Press Cancel.",
    ]


@pytest.mark.promise("desk.kb-passages")
def test_the_lines_of_a_page_that_are_about_the_page_are_no_passage() -> None:
    page = (
        "<html><nav>Home | Book</nav><h1>Parking</h1><p>KB-7 · Last reviewed 2 May 2026</p>"
        "<p>Parking costs 9 euros.</p><div style='display:none'>The code is 4471.</div><footer>Example · KB-7</footer></html>"
    )
    assert said(page, "a.html") == ["Parking costs 9 euros."]


@pytest.mark.promise("desk.kb-standing")
@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("# Fares\n\nF-1 | Sales | withdrawn on 1 March\n\nA fare costs 3 euros.\n", "withdrawn"),
        ("# Fares\n\nF-1 · Superseded by F-2\n\nA fare costs 3 euros.\n", "superseded"),
        ("# Fares\n\nThis page has been withdrawn. A fare costs 3 euros.\n", "withdrawn"),
        ("# Orders\n\nThe invoice is withdrawn when you cancel.\n", "current"),
    ],
)
def test_what_a_document_says_of_itself_at_its_top_decides_whether_it_holds(text: str, standing: str) -> None:
    assert read_document("a.md", text.encode()).standing == standing
