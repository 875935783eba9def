"""How well groups are what people say they are: on messages given, and on tickets of our own everywhere."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from tallystick.providers.embeddings.selection import Embeddings
from tallystick.rooms.insight.cluster.methods import ClusterOptions, group
from tallystick.rooms.insight.cluster.points import rows_as_points
from tallystick.rooms.insight.cluster.quality import agreement
from tallystick.rooms.insight.cluster.rows import Ints
from tallystick.rooms.insight.cluster.space import blended
from tallystick.rooms.insight.sample.tickets import sample
from tests.sizes import FULL


def grouped(texts: list[str], wanted: ClusterOptions) -> Ints:
    model = Embeddings().embedder()
    points = rows_as_points(blended(model.embed(texts), texts), np.ones(len(texts), dtype=np.int64))
    return group(points, "ward", wanted).labels


def scores(truth: list[str], labels: Ints) -> tuple[float, float, float]:
    """Mutual information, adjusted Rand index, and the share that is right when groups are matched to themes."""
    named = np.unique(truth, return_inverse=True)[1]
    table = np.zeros((named.max() + 1, labels.max() + 1))
    np.add.at(table, (named, labels), 1)
    right = table[linear_sum_assignment(-table)].sum() / len(truth)
    return float(normalized_mutual_info_score(named, labels)), agreement(named, labels), float(right)


@pytest.mark.promise("insight.cluster-good")
def test_the_sample_tickets_fall_into_their_themes_without_being_told_how_many() -> None:
    rows = list(csv.DictReader(sample().decode().splitlines()))
    labels = grouped([f"{row['subject']}\n{row['description']}" for row in rows], ClusterOptions())
    assert 9 <= labels.max() + 1 <= 24
    # A theme belongs to one department, so groups must not mix departments.
    departments = np.unique([row["department"] for row in rows], return_inverse=True)[1]
    most = sum(int(np.bincount(departments[labels == name]).max()) for name in range(labels.max() + 1))
    assert most / len(rows) > 0.9


@pytest.mark.promise("insight.cluster-good")
def test_banking_messages_fall_into_their_intents(data: Path) -> None:
    path = data / "banking77" / "dev" / "train.csv"
    if not path.exists():
        pytest.skip("left out: banking77, TALLY_DATA not there")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    intents = sorted({row["category"] for row in rows})
    chosen = set(intents if FULL else intents[::4])
    rows = [row for row in rows if row["category"] in chosen]
    truth, texts = [row["category"] for row in rows], [row["text"] for row in rows]
    told, by_chance, right = scores(truth, grouped(texts, ClusterOptions(n_clusters=len(chosen))))
    assert (told >= 0.75, by_chance >= 0.45, right >= 0.57) == (True, True, True), (told, by_chance, right)
    found = grouped(texts, ClusterOptions())
    assert len(chosen) / 2 <= found.max() + 1 <= 2 * len(chosen)
    assert scores(truth, found)[0] >= 0.74
