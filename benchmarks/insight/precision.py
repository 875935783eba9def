"""Same-intent precision@10: of the ten tickets found for a text, how many people gave the same intent; reranked and not."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.insight.corpora import there
from benchmarks.insight.models import LEFT_OUT, MINILM, models, vectors_of
from tallystick.rooms.insight.search.reranking import CANDIDATES, reranked

PROMISES = ("insight.search-rerank",)
GOALS = "on banking77, reranked: ≥ 83 builtin, ≥ 88 MiniLM (79.9 and 86.1 without)"
QUERIES = 500
"""Texts asked for in each corpus; all of them with --full."""


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    del folder
    precision = [row for model in models() for row in precisions(model, full=full)]
    lines = [
        "| corpus | model | texts | asked | vectors | reranked | rerank ms |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(
            f"| {row['corpus']} | {row['model']} | {row['texts']:,} | {row['asked']:,} | {row['vectors']:.1f} "
            f"| **{row['reranked']:.1f}** | {row['rerank_ms']} |"
            for row in precision
        ),
    ]
    if not precision:
        lines = ["Left out: the corpora are not there (TALLY_DATA)."]
    elif MINILM not in models():
        lines.append(f"\n{LEFT_OUT}")
    return {"goal": GOALS, "markdown": "\n".join(lines), "precision": precision}


def precisions(model: str, *, full: bool) -> list[dict[str, Any]]:
    rows = []
    for corpus, (texts, intents) in there().items():
        asked = list(range(len(texts)))
        if not full and len(asked) > QUERIES:
            asked = sorted(random.Random(7).sample(asked, QUERIES))
        found = precision(vectors_of(model, texts), texts, intents, asked)
        rows.append({"corpus": corpus, "model": model, "texts": len(texts), "asked": len(asked), **found})
    return rows


def precision(
    vectors: np.ndarray, texts: Sequence[str], intents: Sequence[str], asked: Sequence[int]
) -> dict[str, float]:
    """Of the ten nearest to each text, itself left out, how many have its intent."""
    names = np.array(intents)
    mean = vectors.mean(axis=0)
    plain = again = spent = 0.0
    for one in asked:
        scores = vectors @ vectors[one]
        scores[one] = -2
        near = np.argpartition(-scores, CANDIDATES)[:CANDIDATES]
        near = near[np.lexsort((near, -scores[near]))]
        began = time.process_time()
        judged = reranked(
            vectors[one], vectors[near], [texts[at] for at in near], texts[one], mean=mean, rows=len(texts)
        )
        spent += time.process_time() - began
        plain += (names[near[:10]] == names[one]).mean()
        again += (names[near[np.lexsort((near, -judged))[:10]]] == names[one]).mean()
    many = len(asked)
    return {
        "vectors": round(float(plain) / many * 100, 2), "reranked": round(float(again) / many * 100, 2),
        "rerank_ms": round(spent / many * 1000, 1),
    }  # fmt: skip
