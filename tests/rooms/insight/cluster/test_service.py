"""Grouping a dataset, on both databases."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tallystick.errors import ToolError
from tallystick.rooms.insight.cluster.points import MICRO, WHOLE
from tallystick.rooms.insight.cluster.quality import agreement
from tallystick.rooms.insight.cluster.rows import read_rows
from tallystick.rooms.insight.cluster.service import ClusterService
from tallystick.rooms.insight.model import ClusterRun
from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.rooms.insight.cluster.themes import stored, texts, vectors
from tests.rooms.insight.vectors import MODEL, filled, ticket

ALGORITHMS = ("ward", "kmeans", "hdbscan")


def clustering(store: Store) -> ClusterService:
    return ClusterService(lambda: store, lambda: 99)


def by_text(store: Store, run: ClusterRun) -> dict[str, int]:
    labels = dict(store.assignments(run.run_id))
    return {ticket.said.text: labels[ticket.ticket_id] for ticket in store.tickets(run.dataset_id)}


def refused(act: Callable[[], Any]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        act()
    assert caught.value.hint
    return caught.value


@pytest.mark.promise("insight.cluster-order")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_shuffled_rows_and_a_second_run_give_the_same_groups_and_names(store: Store, algorithm: str) -> None:
    said, about = texts(30)
    # Near enough to each other that not every way of grouping them is as good.
    given = vectors(about, spread=1.2)
    order = list(range(len(said)))
    Random(5).shuffle(order)
    first = stored(store, said, given, "a")
    second = stored(store, [said[at] for at in order], given[order], "b")
    runs = [clustering(store).run(dataset, algorithm) for dataset in (first, first, second)]
    assert by_text(store, runs[0]) == by_text(store, runs[1]) == by_text(store, runs[2])
    told = [_without_ids(run) for run in runs]
    assert told[0] == told[1] == told[2]


def _without_ids(run: ClusterRun) -> dict[str, Any]:
    figures = dict(run.figures)
    figures["clusters"] = [
        {**one, "medoids": [medoid["text"] for medoid in one["medoids"]]} for one in figures["clusters"]
    ]
    figures["map"] = [dot[:3] for dot in figures["map"]["points"]]
    return figures


@pytest.mark.promise("insight.cluster-algorithms")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_tickets_about_the_same_thing_are_in_one_group(store: Store, algorithm: str) -> None:
    said, about = texts(25)
    run = clustering(store).run(stored(store, said, vectors(about)), algorithm)
    labels = by_text(store, run)
    assert agreement(np.array([labels[text] for text in said]), np.array(about)) == 1.0
    assert (run.algorithm, run.model_name, run.created_at) == (algorithm, MODEL, 99)
    figures = run.figures
    assert (figures["cluster_count"], figures["noise"], figures["tickets"]) == (4, 0.0, 100)
    assert figures["silhouette"] > 0.5
    assert figures["stability"] > 0.9
    assert figures["approximation"] is None


@pytest.mark.promise("insight.cluster-labels")
def test_groups_are_numbered_by_size_named_and_quoted_word_for_word(store: Store) -> None:
    said, about = texts(20)
    kept = [at for at, theme in enumerate(about) if theme != 2 or at < 40]
    said, given = [said[at] for at in kept], vectors(about)[kept]
    run = clustering(store).run(stored(store, said, given), "ward", {"n_clusters": 4})
    clusters = run.figures["clusters"]
    assert [one["cluster_id"] for one in clusters] == [0, 1, 2, 3]
    assert all(before["size"] >= after["size"] for before, after in pairwise(clusters))
    assert "invoice" in clusters[-1]["label"]
    assert sum(one["share"] for one in clusters) == pytest.approx(1, abs=1e-5)
    labels = dict(store.assignments(run.run_id))
    for one in clusters:
        assert len(one["medoids"]) == 3
        for medoid in one["medoids"]:
            found = store.ticket(medoid["ticket_id"])
            assert found is not None
            assert found.said.text == medoid["text"]
            assert labels[medoid["ticket_id"]] == one["cluster_id"]


@pytest.mark.promise("insight.cluster-figures")
def test_the_map_has_a_dot_for_each_text_on_a_plane(store: Store) -> None:
    said, about = texts(10)
    run = clustering(store).run(stored(store, [*said, said[0]], vectors([*about, about[0]])), "ward")
    picture = run.figures["map"]
    labels = dict(store.assignments(run.run_id))
    assert picture["of"] == len(picture["points"]) == 40
    assert all(-1 <= x <= 1 and -1 <= y <= 1 and labels[one] == group for x, y, group, one in picture["points"])


@pytest.mark.promise("insight.cluster-order")
def test_the_same_text_many_times_is_in_one_group_and_counts_each_time(store: Store) -> None:
    said, about = texts(12)
    given = vectors(about)
    # The last bit of a vector may depend on what stood beside it in its batch.
    again = np.nextafter(given[:1], np.float32(2))
    dataset = stored(store, [*said, *[said[0]] * 30], np.concatenate([given, *[again] * 30]))
    run = clustering(store).run(dataset, "kmeans", {"n_clusters": 4})
    assert run.figures["clusters"][0]["size"] == 12 + 30
    assert (run.figures["tickets"], run.figures["different_texts"]) == (78, 48)
    assert store.count_assignments(run.run_id) == 78
    rows = read_rows(store, dataset, MODEL)
    assert (len(rows), int(rows.weights.max())) == (48, 31)


@pytest.mark.promise("insight.cluster-algorithms")
def test_what_is_given_is_kept_and_what_does_not_belong_is_said_to_be_ignored(store: Store) -> None:
    said, about = texts(12)
    dataset = stored(store, said, vectors(about))
    params = {"n_clusters": 3, "min_cluster_size": 4, "min_samples": 2}
    for algorithm in ("ward", "kmeans"):
        run = clustering(store).run(dataset, algorithm, params, MODEL)
        assert (run.figures["params"], run.figures["chosen_by"]) == ({"n_clusters": 3}, "given")
        assert run.figures["ignored_params"] == ["min_cluster_size", "min_samples"]
        assert run.figures["cluster_count"] == 3
    run = clustering(store).run(dataset, "hdbscan", params)
    assert run.figures["params"] == {"min_cluster_size": 4, "min_samples": 2}
    assert run.figures["ignored_params"] == ["n_clusters"]


@pytest.mark.promise("insight.cluster-algorithms")
def test_hdbscan_leaves_out_what_is_near_nothing(store: Store) -> None:
    said, about = texts(15, themes=3)
    lonely = [f"something else altogether, number {at}" for at in range(6)]
    away = vectors([5, 7, 9, 11, 13, 15], spread=0.0, seed=11)
    dataset = stored(store, [*said, *lonely], np.concatenate([vectors(about, spread=0.2), away]))
    run = clustering(store).run(dataset, "hdbscan", {"min_cluster_size": 8})
    labels = by_text(store, run)
    assert {labels[text] for text in lonely} == {-1}
    assert run.figures["noise_count"] == sum(label == -1 for label in labels.values())
    assert 0 < run.figures["noise"] < 0.5


@pytest.mark.promise("insight.cluster-bad")
def test_what_cannot_be_grouped_has_a_fixed_status_and_a_hint_and_leaves_nothing(store: Store) -> None:
    said, about = texts(5)
    group = clustering(store).run
    assert refused(lambda: group(1, "ward")).status == 404
    empty = filled(store, [], "empty")
    bare = filled(store, [ticket("never embedded")], "bare")
    assert [refused(lambda one=one: group(one, "ward")).status for one in (empty, bare)] == [409, 409]
    dataset = stored(store, said, vectors(about))
    assert refused(lambda: group(dataset, "ward", None, "nobody's")).status == 400
    assert refused(lambda: group(dataset, "kmeans", {"n_clusters": 21})).status == 400
    assert refused(lambda: group(dataset, "ward", {"n_clusters": 10**9})).status == 400
    assert refused(lambda: group(dataset, "hdbscan", {"min_cluster_size": 21})).status == 400
    assert refused(lambda: group(dataset, "hdbscan", {"min_cluster_size": 15})).status == 400
    alike = stored(store, ["the same"] * 9, vectors([0] * 9), "alike")
    assert refused(lambda: group(alike, "ward")).status == 400
    assert all(not store.runs(one) for one in (empty, bare, dataset, alike))


@pytest.mark.promise("insight.cluster-bad")
@pytest.mark.parametrize("algorithm", ["ward", "kmeans"])
def test_as_many_groups_as_texts_and_the_fewest_texts_are_fine(store: Store, algorithm: str) -> None:
    dataset = stored(store, ["one thing", "another"], vectors([0, 1]))
    run = clustering(store).run(dataset, algorithm, {"n_clusters": 2})
    assert (run.figures["cluster_count"], run.figures["stability"]) == (2, None)
    assert clustering(store).run(dataset, algorithm).figures["cluster_count"] == 2


@pytest.mark.promise("insight.cluster-bad")
def test_vectors_without_length_and_texts_without_words_are_grouped_too(store: Store) -> None:
    given = vectors([0, 1] * 10)
    given[3:6] = 0
    dataset = stored(store, [f"{'?' * (at + 1)}" for at in range(20)], given)
    for algorithm in ("ward", "kmeans"):
        run = clustering(store).run(dataset, algorithm, {"n_clusters": 2})
        assert sum(one["size"] for one in run.figures["clusters"]) == 20
        assert run.figures["clusters"][0]["label"]


def test_tickets_without_a_vector_are_left_out_and_counted(store: Store) -> None:
    said, about = texts(10)
    dataset = filled(store, [ticket(text) for text in [*said, "not yet", "nor this"]])
    ids = store.ticket_ids(dataset)
    rows = zip(ids, vectors(about), strict=False)
    store.put_vectors(dataset, MODEL, [(one, row.tobytes()) for one, row in rows])
    run = clustering(store).run(dataset, "ward")
    assert run.figures["without_vector"] == 2
    assert [one for one, _ in store.assignments(run.run_id)] == ids[:-2]


def test_where_several_models_have_vectors_the_one_with_most_counts(store: Store) -> None:
    said, about = texts(10)
    dataset = stored(store, said, vectors(about))
    ids = store.ticket_ids(dataset)
    store.put_vectors(
        dataset, "another", [(one, row.tobytes()) for one, row in zip(ids[:9], vectors(about), strict=False)]
    )
    assert clustering(store).run(dataset, "ward").model_name == MODEL
    assert clustering(store).run(dataset, "ward", None, "another").model_name == "another"


@pytest.mark.promise("insight.cluster-large")
def test_more_rows_than_can_be_compared_go_through_micro_clusters_and_the_run_says_so(tmp_path: Path) -> None:
    many = WHOLE + 500
    engine = open_engine(
        Settings.model_validate({"storage": {"database_url": f"sqlite:///{tmp_path / 'a.db'}"}}), tmp_path
    )
    migrate_with(engine, "insight")
    store = Store(engine)
    about = [at % 5 for at in range(many)]
    said = [f"case {at}" for at in range(many)]
    given = vectors(about, spread=0.6, dim=8)
    first = clustering(store).run(stored(store, said, given), "ward")
    labels = by_text(store, first)
    assert agreement(np.array([labels[text] for text in said]), np.array(about)) > 0.99
    figures = first.figures
    assert 0 < figures["micro_clusters"] <= MICRO
    assert str(figures["micro_clusters"]) in figures["approximation"]
    assert (figures["silhouette_rows"], figures["cluster_count"]) == (WHOLE, 5)
    second = clustering(store).run(stored(store, said[::-1], given[::-1], "b"), "ward")
    assert by_text(store, second) == labels
    assert refused(lambda: clustering(store).run(1, "kmeans", {"n_clusters": MICRO + 1})).status == 400
    engine.dispose()
