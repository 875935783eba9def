"""BERTopic's chain (UMAP, HDBSCAN, c-TF-IDF) on vectors that are given; run by an interpreter that has it.

    python -m benchmarks.insight.bertopic_chain TEXTS.json VECTORS.npy GROUPS OUT.json

Four ways: as it comes; with its outliers given to the nearest topic; with the number of topics given, once by its own
`nr_topics` and once with k-means in the place of HDBSCAN, as its documentation says.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from bertopic import BERTopic  # type: ignore[import-not-found]
from sklearn.cluster import KMeans  # type: ignore[import-untyped]
from umap import UMAP  # type: ignore[import-not-found]

SEED = 42


def ways(texts: list[str], vectors: np.ndarray, groups: int) -> list[dict[str, Any]]:
    """Labels of each way, and what they took."""

    def umap() -> Any:
        # Its own defaults, and a seed: without one no two runs agree.
        return UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=SEED)

    found = []
    began = time.perf_counter()
    plain = BERTopic(umap_model=umap(), calculate_probabilities=False)
    labels, _ = plain.fit_transform(texts, embeddings=vectors)
    found.append(_row("BERTopic", labels, began, given=False))
    again = plain.reduce_outliers(texts, labels, strategy="embeddings", embeddings=vectors)
    found.append(_row("BERTopic, outliers reduced", again, began, given=False))
    began = time.perf_counter()
    reduced = BERTopic(umap_model=umap(), nr_topics=groups + 1)
    labels, _ = reduced.fit_transform(texts, embeddings=vectors)
    again = reduced.reduce_outliers(texts, labels, strategy="embeddings", embeddings=vectors)
    found.append(_row("BERTopic, nr_topics, outliers reduced", again, began, given=True))
    began = time.perf_counter()
    fixed = BERTopic(umap_model=umap(), hdbscan_model=KMeans(n_clusters=groups, random_state=SEED, n_init=10))
    labels, _ = fixed.fit_transform(texts, embeddings=vectors)
    found.append(_row("BERTopic, k-means", labels, began, given=True))
    return found


def _row(name: str, labels: Any, began: float, *, given: bool) -> dict[str, Any]:
    return {
        "algorithm": name, "given": given, "labels": [int(label) for label in labels],
        "seconds": round(time.perf_counter() - began, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }  # fmt: skip


if __name__ == "__main__":
    said = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    made = ways(said, np.load(sys.argv[2]), int(sys.argv[3]))
    Path(sys.argv[4]).write_text(json.dumps(made), encoding="utf-8")
