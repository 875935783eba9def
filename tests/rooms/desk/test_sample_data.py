"""The sample knowledge base: its documents say what its three tickets turn on."""

from pathlib import Path

import pytest

from tallystick.gate.quotes import find_quote
from tallystick.rooms.desk.kb.knowledge import KnowledgeBase
from tallystick.rooms.desk.sample_data import copy_sample, sample_documents, sample_tickets


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    copy_sample(tmp_path / "kb")
    return KnowledgeBase(tmp_path / "kb", tmp_path / "kept")


@pytest.mark.promise("desk.sample")
def test_there_are_enough_documents_and_some_that_no_longer_hold(base: KnowledgeBase) -> None:
    documents = base.documents()
    assert len(documents) >= 20
    assert sorted(document.standing for document in documents if document.standing != "current") == [
        "superseded",
        "withdrawn",
    ]
    assert base.unused() == []


@pytest.mark.promise("desk.sample")
def test_the_three_tickets_end_in_the_three_ways() -> None:
    assert [ticket.ends for ticket in sample_tickets()] == ["PROCEED", "DEFER", "BLOCK"]


@pytest.mark.promise("desk.sample")
@pytest.mark.parametrize("ticket", sample_tickets(), ids=lambda ticket: ticket.ticket_id)
def test_what_decides_a_ticket_stands_in_the_documents_and_is_found(base: KnowledgeBase, ticket) -> None:
    question = ticket.event["content"]
    found = {hit.doc for hit in base.search(question, 10).hits}
    for doc, quote in ticket.because:
        document = base.document(doc)
        assert document is not None
        assert find_quote(quote, document.folded) is not None
        assert doc in found


@pytest.mark.promise("desk.sample")
def test_a_copy_leaves_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "billing").mkdir()
    (tmp_path / "billing" / "invoices.md").write_text("mine")
    assert len(copy_sample(tmp_path)) == len(list(sample_documents())) - 1
    assert (tmp_path / "billing" / "invoices.md").read_text() == "mine"
    assert copy_sample(tmp_path) == []
