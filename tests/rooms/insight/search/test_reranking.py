import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.providers.embeddings.selection import Embeddings
from tallystick.rooms.insight.search.reranking import CANDIDATES, agreement, reranked
from tests.rooms.insight.company import TEXTS
from tests.sizes import size

WORDS = Embeddings().embedder()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def precision(texts: list[str], kinds: np.ndarray, asked: list[int]) -> tuple[float, float]:
    """Of the ten nearest to each text asked for, how many are of its kind: by vectors, and reranked."""
    vectors = WORDS.embed(texts)
    mean, plain, again = vectors.mean(axis=0), 0, 0
    for one in asked:
        scores = vectors @ vectors[one]
        scores[one] = -9
        near = np.argsort(-scores, kind="stable")[:CANDIDATES]
        given = [texts[at] for at in near]
        judged = reranked(vectors[one], vectors[near], given, texts[one], mean=mean, rows=len(texts))
        plain += (kinds[near[:10]] == kinds[one]).sum()
        again += (kinds[near[np.argsort(-judged, kind="stable")[:10]]] == kinds[one]).sum()
    return plain / len(asked) / 10, again / len(asked) / 10


@pytest.mark.promise("insight.search-rerank")
def test_reranking_finds_more_of_the_same_intent(data: Path) -> None:
    path = data / "banking77" / "dev" / "train.csv"
    if not path.is_file():
        pytest.skip("left out: banking77, TALLY_DATA not there")
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    texts = [row["text"] for row in rows]
    asked = list(range(0, len(rows), size(151, 1)))
    plain, again = precision(texts, np.array([row["category"] for row in rows]), asked)
    assert again >= plain + 0.015
    assert again >= 0.81


@pytest.mark.promise("insight.search-rerank")
def test_reranking_does_no_harm_where_texts_are_clear() -> None:
    texts = [
        f"{opening} {text}"
        for opening in ("Hi,", "Hello again.", "Urgent:")
        for said in TEXTS.values()
        for text in said
    ]
    texts += [text for said in TEXTS.values() for text in said]
    kinds = np.array([kind for _ in range(4) for kind, said in TEXTS.items() for _ in said])
    plain, again = precision(texts, kinds, list(range(len(texts))))
    assert again >= plain


@pytest.mark.promise("insight.search-rerank")
@settings(max_examples=40, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=30), TEXT, st.randoms())
def test_scores_are_finite_and_do_not_depend_on_the_order_of_few_candidates(
    texts: list[str], question: str, chance
) -> None:
    vectors, query = WORDS.embed(texts), WORDS.embed([question])[0]
    scores = reranked(query, vectors, texts, question, mean=vectors.mean(axis=0), rows=len(texts))
    assert np.isfinite(scores).all()
    if len(texts) < 20:
        order = list(range(len(texts)))
        chance.shuffle(order)
        again = reranked(
            query, vectors[order], [texts[at] for at in order], question, mean=vectors.mean(axis=0), rows=len(texts)
        )
        assert np.allclose(again, scores[order], atol=1e-5)


def test_words_and_their_parts_agree_by_how_rare_they_are() -> None:
    by_words, by_letters = agreement(["refund for parcel", "the refund", "the parcels", "the the the", ""])
    assert np.allclose(np.diag(by_words)[:4], 1)
    assert by_words[0, 1] > 0 == by_words[0, 2] < by_letters[0, 2]
    assert by_words[4].sum() == by_letters[4].sum() == 0
