from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tallystick.errors import ToolError
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.rooms.insight.embed.service import EmbeddingService
from tallystick.rooms.insight.model import Where
from tallystick.rooms.insight.pii import Placeholders
from tallystick.rooms.insight.search.finder import Finder
from tallystick.rooms.insight.search.model import SearchRequest
from tallystick.rooms.insight.search.service import SearchDependencies, SearchService
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.company import tickets
from tests.rooms.insight.vectors import filled, ticket

MODELS = Embeddings()
PLACEHOLDERS = Placeholders(b"k" * 32)


class Desk:
    """A search over a store, and what it measured."""

    def __init__(self, store: Store, root: Path) -> None:
        self.store = store
        self.embedding = EmbeddingService(lambda: store, MODELS)
        self.took: list[float] = []
        ticks = count()
        means = SearchDependencies(
            store=store,
            embedding=self.embedding,
            models=MODELS,
            finder=Finder(store, root),
            clean=PLACEHOLDERS.clean,
            clock=lambda: float(next(ticks)),
            measured=self.took.append,
        )
        self.searching = SearchService(means)

    def embedded(self, dataset_id: int) -> int:
        self.embedding.run(dataset_id, self.embedding.model())
        return dataset_id


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> Iterator[Desk]:
    return Desk(store, tmp_path / "index")


def refused(desk: Desk, asked: SearchRequest) -> ToolError:
    with pytest.raises(ToolError) as caught:
        desk.searching.search(asked)
    assert caught.value.hint
    return caught.value


@pytest.mark.promise("insight.search-nearest")
def test_the_tickets_about_something_come_first(desk: Desk) -> None:
    dataset_id = desk.embedded(filled(desk.store, tickets(many=200)))
    for rerank in (False, True):
        found = desk.searching.search(
            SearchRequest(dataset_id=dataset_id, query_text="money back please", k=20, rerank=rerank)
        )
        assert {hit.ticket.said.category for hit in found.hits} == {"Refund"}
        assert (found.backend, found.model_name, found.k) == ("builtin", "wordllama-256", 20)
        assert (found.rerank, found.rerank_backend) == (rerank, "builtin" if rerank else None)
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
    assert desk.took == [1.0, 1.0]


@pytest.mark.promise("insight.search-filters")
def test_filters_hold_with_and_without_reranking(desk: Desk) -> None:
    dataset_id = desk.embedded(filled(desk.store, tickets(many=120)))
    where = Where(department=("Technical",), product=("App",))
    for rerank in (False, True):
        asked = SearchRequest(dataset_id=dataset_id, query_text="where is my refund", k=500, where=where, rerank=rerank)
        hits = desk.searching.search(asked).hits
        assert {(hit.ticket.said.department, hit.ticket.said.product) for hit in hits} == {("Technical", "App")}
        assert len(hits) == desk.store.count(dataset_id, where)


@pytest.mark.promise("insight.search-ties")
def test_the_same_question_has_the_same_answer(desk: Desk, tmp_path: Path) -> None:
    texts = [f"{text}." for text in ("my card is late", "refund please") for _ in range(30)]
    dataset_id = desk.embedded(filled(desk.store, [ticket(text) for text in texts]))
    asked = SearchRequest(dataset_id=dataset_id, query_text="my card is late", k=40, rerank=True)
    first = desk.searching.search(asked)
    assert [hit.ticket.ticket_id for hit in first.hits[:30]] == desk.store.ticket_ids(dataset_id)[:30]
    assert desk.searching.search(asked) == first
    assert Desk(desk.store, tmp_path / "elsewhere").searching.search(asked) == first


@pytest.mark.promise("insight.search-before")
def test_searching_before_embedding_says_what_to_call(desk: Desk) -> None:
    dataset_id = filled(desk.store, [ticket("x")])
    error = refused(desk, SearchRequest(dataset_id=dataset_id, query_text="x"))
    assert (error.status, error.hint) == (409, "Call tool.embed.run with dataset_id 1 first.")
    assert refused(desk, SearchRequest(dataset_id=99, query_text="x")).status == 404


@pytest.mark.promise("insight.search-before")
@pytest.mark.parametrize("k", [1, 3, 4, 10**12])
def test_more_may_be_asked_for_than_there_is(desk: Desk, k: int) -> None:
    dataset_id = desk.embedded(filled(desk.store, [ticket("a b"), ticket("c d"), ticket("")]))
    for rerank in (False, True):
        found = desk.searching.search(SearchRequest(dataset_id=dataset_id, query_text="a", k=k, rerank=rerank))
        assert (len(found.hits), found.k) == (min(k, 3), k)


@pytest.mark.promise("insight.search-pii")
def test_who_is_named_in_a_question_is_found_by_the_placeholder(desk: Desk) -> None:
    clean = PLACEHOLDERS.clean
    texts = [clean("mail anna.berg@example.org about it"), clean("mail tom@example.org about it"), "about it"]
    dataset_id = desk.embedded(filled(desk.store, [ticket(text) for text in texts]))
    asked = SearchRequest(dataset_id=dataset_id, query_text="mail anna.berg@example.org about it", k=1, rerank=True)
    assert desk.searching.search(asked).hits[0].ticket.said.text == texts[0]
    assert "anna" not in str(desk.searching.why(asked))


@pytest.mark.promise("insight.embed-optional")
def test_a_cross_encoder_that_is_not_installed_is_unavailable(desk: Desk) -> None:
    dataset_id = desk.embedded(filled(desk.store, [ticket("x")]))
    asked = SearchRequest(dataset_id=dataset_id, query_text="x", rerank=True, rerank_backend="cross-encoder")
    assert refused(desk, asked).unavailable


@pytest.mark.promise("insight.embed-optional")
def test_vectors_of_a_model_that_is_gone_are_not_searched_with_another(desk: Desk) -> None:
    dataset_id = filled(desk.store, [ticket("x")])
    desk.store.put_vectors(
        dataset_id, "no-such-owner/no-such-model", [(desk.store.ticket_ids(dataset_id)[0], b"\0" * 8)]
    )
    assert refused(desk, SearchRequest(dataset_id=dataset_id, query_text="x")).unavailable
    desk.embedded(dataset_id)
    found = desk.searching.search(SearchRequest(dataset_id=dataset_id, query_text="x"))
    assert found.model_name == desk.searching.model_name(dataset_id) == "wordllama-256"


@pytest.mark.promise("insight.search-why")
def test_why_marks_words_where_they_stand_and_quotes_the_nearest_sentence(desk: Desk) -> None:
    text = "Hello there. The parcels came damaged! I would like a refund, or another one."
    dataset_id = desk.embedded(filled(desk.store, [ticket(text), ticket("my login fails")]))
    asked = SearchRequest(dataset_id=dataset_id, query_text="damaged parcel", k=1)
    why = desk.searching.why(asked)[0]
    assert why["sentence"] == "The parcels came damaged!"
    assert [(mark["text"], mark["kind"], mark["because"]) for mark in why["marks"]] == [
        ("parcels", "same", "parcel"),
        ("damaged", "same", "damaged"),
    ]
    assert all(text[mark["start"] : mark["end"]] == mark["text"] for mark in why["marks"])
    named = desk.searching.why(asked, desk.store.ticket_ids(dataset_id)[1:])
    assert [one["ticket_id"] for one in named] == desk.store.ticket_ids(dataset_id)[1:]
    for wrong in ([99], list(range(1, 99))):
        with pytest.raises(ToolError):
            desk.searching.why(asked, wrong)


@pytest.mark.promise("insight.search-why")
def test_words_that_mean_nearly_the_same_are_marked_as_close(desk: Desk) -> None:
    dataset_id = desk.embedded(filled(desk.store, [ticket("Your webpage crashed")]))
    marks = desk.searching.why(SearchRequest(dataset_id=dataset_id, query_text="the website crashes"))[0]["marks"]
    assert [(mark["text"], mark["kind"], mark["because"]) for mark in marks] == [
        ("webpage", "close", "website"),
        ("crashed", "same", "crashes"),
    ]


@pytest.mark.promise("insight.search-rooms")
def test_all_datasets_are_searched_together(desk: Desk) -> None:
    first = desk.embedded(filled(desk.store, [ticket("my card is late"), ticket("login fails")], "a.csv"))
    second = desk.embedded(filled(desk.store, [ticket("the card never came")], "b.csv"))
    filled(desk.store, [ticket("my card is late and has no vector")], "c.csv")
    hits = desk.searching.everywhere("card is late", 2)
    assert {hit.ticket.dataset_id for hit in hits} == {first, second}
    find = desk.searching.finder_of(first)
    assert find is not None
    assert list(find("card", 1)) == desk.store.ticket_ids(first)[:1]
    assert desk.searching.finder_of(3) is None
