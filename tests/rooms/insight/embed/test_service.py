from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tallystick.errors import ToolError
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.rooms.insight.embed.service import MOST_READ, EmbeddingService, text_of
from tallystick.rooms.insight.model import Ticket
from tallystick.rooms.insight.store import Store
from tests.rooms.insight.vectors import filled, ticket

MODELS = Embeddings()


class Counted:
    """A model that notes what it is given, and may fail on one text."""

    backend, name, dim, at_once = "builtin", "counted", 2, 4

    def __init__(self, fails_on: str | None = None) -> None:
        self.given: list[str] = []
        self.fails_on = fails_on

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fails_on in texts:
            raise OSError
        self.given += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def embedding(store: Store) -> EmbeddingService:
    return EmbeddingService(lambda: store, MODELS)


@pytest.mark.promise("insight.embed-new")
def test_only_tickets_without_a_vector_are_embedded(store: Store) -> None:
    dataset_id = filled(store, [ticket(f"text {at}") for at in range(10)])
    model, told = Counted(), []
    first = embedding(store).run(dataset_id, model, progress=lambda done, total: told.append((done, total)))
    assert (first.embedded_count, first.vector_dim, first.model_name) == (10, 2, "counted")
    assert told == [(0, 10), (4, 10), (8, 10), (10, 10)]
    assert embedding(store).run(dataset_id, model).embedded_count == 0
    assert model.given == [f"text {at}" for at in range(10)]
    other = Counted()
    other.name = "other"  # type: ignore[misc]
    assert embedding(store).run(dataset_id, other).embedded_count == 10


@pytest.mark.promise("insight.embed-resume")
def test_what_was_made_before_a_failure_stays_and_is_not_made_again(store: Store) -> None:
    dataset_id = filled(store, [ticket(f"text {at}") for at in range(10)])
    failing = Counted(fails_on="text 6")
    with pytest.raises(OSError):  # noqa: PT011 - the model's own
        embedding(store).run(dataset_id, failing)
    assert failing.given == [f"text {at}" for at in range(4)]
    after = Counted()
    assert embedding(store).run(dataset_id, after).embedded_count == 6
    assert after.given == [f"text {at}" for at in range(4, 10)]
    assert store.vector_stand(dataset_id)["counted"][0] == 10


@pytest.mark.promise("insight.embed-new")
@pytest.mark.parametrize("batch_size", [1, 3, 10**9])
def test_the_batch_size_changes_nothing_in_the_vectors(store: Store, batch_size: int) -> None:
    texts = ["my card is lost", "where is my refund", "", "card", "the app is down"]
    dataset_id = filled(store, [ticket(text) for text in texts])
    model = embedding(store).model()
    embedding(store).run(dataset_id, model, batch_size=batch_size)
    rows = [np.frombuffer(vector, "<f4") for chunk in store.vectors(dataset_id, model.name) for _, vector in chunk]
    assert np.array_equal(np.stack(rows), model.embed(texts))


@pytest.mark.promise("insight.embed-unknown")
def test_a_dataset_that_does_not_exist_is_not_found(store: Store) -> None:
    for dataset_id in (5, 2**40):
        with pytest.raises(ToolError) as caught:
            embedding(store).dataset(dataset_id)
        assert caught.value.status == 404


def test_the_configured_backend_is_meant_where_none_is_named(store: Store) -> None:
    configured = EmbeddingService(lambda: store, MODELS, backend="word2vec")
    with pytest.raises(ToolError):
        configured.model()
    assert configured.model("builtin").name == configured.model(None, "wordllama-256").name == "wordllama-256"


def test_a_vector_is_made_of_subject_and_text() -> None:
    def stored(text: str, summary: str | None) -> Ticket:
        return Ticket(ticket_id=1, dataset_id=1, said=ticket(text, summary=summary))

    assert text_of(stored("It never came.", "My card")) == "My card\nIt never came."
    assert text_of(stored("my card: it never came.", "My card")) == "my card: it never came."
    assert text_of(stored("It never came.", None)) == "It never came."
    assert len(text_of(stored("x" * 100_000, None))) == MOST_READ
