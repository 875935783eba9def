"""Passages are found by their words and by their meaning, and nothing is found that is not there any more."""

from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from tallystick.providers.embeddings.builtin import MODEL as WORDLLAMA
from tallystick.providers.embeddings.builtin import StaticWords
from tallystick.providers.embeddings.minilm import MODEL as MINILM
from tallystick.providers.embeddings.selection import Embeddings, reading_grade, reading_models
from tallystick.providers.models.manifest import manifest
from tallystick.providers.models.store import ModelStore
from tallystick.reading.index import IndexedDocument
from tallystick.reading.passages import cut_passages
from tallystick.reading.retriever import Retriever, open_retriever
from tests.reading.models import STORE, minilm, needs_minilm

TEXTS = {
    "ferry": "The ferry to the island leaves at six in the morning and returns before dusk.",
    "bakery": "Bread is sold until it is gone; the oven is lit at three.",
    "clinic": "The physician sees patients on Tuesdays. Bring the insurance card.",
    "stable": "Horses are fed twice a day, with oats and hay.",
}


class Corpus:
    """Documents that can change, and how often each was read."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = dict(texts)

    def versions(self) -> dict[str, str]:
        return {name: sha256(text.encode()).hexdigest() for name, text in self.texts.items()}

    def read(self, name: str) -> IndexedDocument | None:
        text = self.texts.get(name)
        if text is None:
            return None
        version = self.versions()[name]
        return IndexedDocument(name=name, version=version, title=name, text=text, passages=cut_passages(text))


class Counting(StaticWords):
    """Counts the texts that are embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed(self, texts):
        self.embedded += texts
        return super().embed(texts)


def _opened(folder: Path, corpus: Corpus, model: object = None) -> Retriever:
    return open_retriever(folder / "corpus.db", read=corpus.read, choose_embedder=lambda: model)


def _names(retriever: Retriever, query: str, limit: int = 4) -> list[str]:
    return [each.name for each in retriever.search(query, limit)]


@pytest.mark.promise("reading.hybrid")
def test_without_a_model_passages_are_found_by_their_words(tmp_path: Path) -> None:
    corpus = Corpus(TEXTS)
    retriever = _opened(tmp_path, corpus)
    assert retriever.update(corpus.versions()) == 0
    (found,) = retriever.search("When is the oven lit?")
    assert (found.name, found.text) == ("bakery", TEXTS["bakery"])
    assert retriever.search("doctor") == []
    retriever.close()


@needs_minilm
@pytest.mark.promise("reading.hybrid")
def test_with_minilm_other_words_for_the_same_are_found(tmp_path: Path) -> None:
    corpus = Corpus(TEXTS)
    retriever = _opened(tmp_path, corpus, minilm())
    assert retriever.update(corpus.versions()) == 0
    assert _names(retriever, "When can I see the doctor?")[0] == "clinic"
    assert _names(retriever, "What do the ponies eat?")[0] == "stable"
    assert _names(retriever, "oven")[0] == "bakery"
    assert [each.name for each in retriever.search("doctor", within=["ferry", "stable"])] != []
    assert "clinic" not in [each.name for each in retriever.search("doctor", within=["ferry", "stable"])]
    retriever.close()


@needs_minilm
@pytest.mark.promise("reading.hybrid")
def test_a_vector_does_not_depend_on_the_texts_beside_it() -> None:
    model = minilm()
    texts = ["A short one.", "A much longer text, " * 30, "", "The third is of middling length, as it were."]
    together = model.embed(texts)
    for at, text in enumerate(texts):
        # int8 inside: the scale is chosen for the whole batch, so a hundredth is left to chance.
        assert float(model.embed([text])[0] @ together[at]) > 0.98 or not text
    tokens = model.token_vectors(texts)
    assert [each.shape[1] for each in tokens] == [model.dim] * 4
    assert np.allclose(np.linalg.norm(tokens[0], axis=1), 1, atol=1e-4)
    assert len(tokens[2]) == 0


@pytest.mark.promise("reading.vectors")
def test_only_new_words_are_embedded_and_the_gone_are_not_found(tmp_path: Path) -> None:
    corpus, model = Corpus(TEXTS), Counting()
    retriever = _opened(tmp_path, corpus, model)
    retriever.update(corpus.versions())
    assert len(model.embedded) == 4
    corpus.texts["mill"] = "The miller grinds rye."
    corpus.texts.pop("ferry")
    retriever.update(corpus.versions())
    assert len(model.embedded) == 5
    assert "ferry" not in _names(retriever, "ferry island morning")
    # A change that the index has not seen yet: left out rather than quoted wrongly.
    corpus.texts["stable"] = "Empty now."
    assert "stable" not in _names(retriever, "horses oats hay")
    retriever.close()
    again, model.embedded = _opened(tmp_path, corpus, model), []
    again.update(corpus.versions())
    assert len(model.embedded) == 1
    again.close()


@pytest.mark.promise("reading.vectors")
def test_a_deadline_leaves_the_rest_to_the_next_update(tmp_path: Path) -> None:
    corpus, model = Corpus(TEXTS), Counting()
    retriever = _opened(tmp_path, corpus, model)
    assert retriever.update(corpus.versions(), seconds=0) == 4
    assert _names(retriever, "oven") == ["bakery"]
    assert retriever.update(corpus.versions()) == 0
    assert len(_names(retriever, "oven")) == 4
    retriever.close()


@pytest.mark.promise("reading.vectors")
def test_damaged_files_are_made_again(tmp_path: Path) -> None:
    corpus = Corpus(TEXTS)
    for name in ("corpus.db", "corpus-vectors.db"):
        (tmp_path / name).write_bytes(b"no database " * 500)
    retriever = _opened(tmp_path, corpus, StaticWords())
    retriever.update(corpus.versions())
    assert _names(retriever, "oats for horses")[0] == "stable"
    retriever.close()


@needs_minilm
@pytest.mark.promise("reading.hybrid", "reading.grade")
def test_a_damaged_model_file_leaves_the_next_best(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    entry = manifest()[MINILM]
    store = ModelStore(tmp_path / "models")
    assert reading_models(store) == [WORDLLAMA]
    assert "tally models fetch minilm-int8" in reading_grade(store)
    for file in entry.files:
        at = tmp_path / "models" / entry.name / file.path
        at.parent.mkdir(parents=True, exist_ok=True)
        with at.open("wb") as empty:
            empty.truncate(file.size)
    assert reading_models(store) == [MINILM, WORDLLAMA]
    found = Embeddings(store).for_reading()
    assert found is not None
    assert found.name == WORDLLAMA
    assert "minilm-int8 cannot be loaded" in caplog.text
    assert Embeddings(STORE).for_reading().name == MINILM  # type: ignore[union-attr]
    assert reading_grade(STORE) == "by words and by meaning (minilm-int8)"
