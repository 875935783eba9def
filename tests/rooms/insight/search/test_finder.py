from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tallystick.rooms.insight.model import EVERYWHERE, Where
from tallystick.rooms.insight.search.finder import Finder
from tallystick.rooms.insight.search.local import LocalRows
from tallystick.rooms.insight.search.model import Limits, Near, Rows
from tallystick.rooms.insight.search.postgres import PostgresRows
from tallystick.rooms.insight.store import Store
from tallystick.settings import Settings
from tallystick.storage.database import open_engine
from tests.databases import migrate_with
from tests.rooms.insight.vectors import MODEL, clustered, with_vectors
from tests.sizes import size

KINDS: list[tuple[str | None, str | None]] = [
    ("Billing", "App"),
    ("Billing", "Shop"),
    ("Claims", "App"),
    (None, "App"),
    ("Claims", None),
    ("Billing", "App"),
]
WHERES = [
    EVERYWHERE,
    Where(department=("Billing",)),
    Where(product=("App",)),
    Where(department=("Claims", "Billing")),
    Where(department=("Claims",), product=("App",)),
    Where(department=("Nobody",)),
    Where(department=("Nobody", "Claims"), product=("Shop", "App")),
]
SMALL = Limits(exact_rows=10, scan_rows=10)
"""Limits at which a small set takes the ways of a large one."""


def opened(finder: Finder, store: Store, dataset_id: int) -> Rows:
    return finder.rows(dataset_id, MODEL, store.vector_stamps(dataset_id)[MODEL])


def plain(vectors: NDArray[np.float32], ids: list[int], query: NDArray[np.float32], k: int, where: Where) -> list[Near]:
    """The same, worked out in the plainest way."""

    def meant(at: int) -> bool:
        department, product = KINDS[at % len(KINDS)]
        return (not where.department or department in where.department) and (
            not where.product or product in where.product
        )

    scored = [
        (-round(float(vectors[at].astype(float) @ query.astype(float)), 6), ids[at])
        for at in range(len(ids))
        if meant(at)
    ]
    return [(one, -score) for score, one in sorted(scored)[:k]]


@pytest.mark.promise("insight.search-exact", "insight.search-filters")
def test_every_way_of_asking_gives_what_the_plainest_gives(store: Store, tmp_path: Path) -> None:
    vectors = clustered(300)
    vectors[7] = vectors[100] = vectors[200]
    dataset_id = with_vectors(store, vectors, KINDS)
    ids = store.ticket_ids(dataset_id)
    rows = opened(Finder(store, tmp_path / "index"), store, dataset_id)
    for where in WHERES:
        for at, k in ((100, 5), (3, 1), (250, 1_000)):
            assert rows.nearest(vectors[at], k, where) == plain(vectors, ids, vectors[at], k, where)
    assert np.array_equal(rows.vectors([ids[7], ids[3]]), vectors[[7, 3]])
    assert np.allclose(rows.mean, vectors.mean(axis=0), atol=1e-6)


@pytest.mark.promise("insight.search-filters", "insight.search-large", "insight.search-pgvector")
def test_a_large_set_is_searched_by_an_index_that_finds_nearly_all_and_leaks_nothing(
    store: Store, tmp_path: Path
) -> None:
    many = size(1_500, 20_000)
    vectors = clustered(many)
    dataset_id = with_vectors(store, vectors, KINDS)
    ids = store.ticket_ids(dataset_id)
    finder = Finder(store, tmp_path / "index", SMALL)
    told: list[tuple[int, int]] = []
    assert finder.prepare(dataset_id, MODEL, lambda done, total: told.append((done, total)))
    rows = opened(finder, store, dataset_id)
    if store.postgres:
        assert isinstance(rows, PostgresRows)
    else:
        assert isinstance(rows, LocalRows)
        assert told[-1] == (many, many)
        assert list((tmp_path / "index").glob("*/graph.usearch"))
    for where in WHERES:
        hits = wanted = 0
        for at in range(0, 1_500, 50):
            expected = plain(vectors, ids, vectors[at], 10, where)
            found = rows.nearest(vectors[at], 10, where)
            assert len(found) == len(expected)
            allowed = {one for one, _ in plain(vectors, ids, vectors[at], many, where)}
            assert {one for one, _ in found} <= allowed
            hits += len({one for one, _ in found} & {one for one, _ in expected})
            wanted += len(expected)
        assert hits >= 0.99 * wanted


@pytest.mark.promise("insight.search-ties")
def test_tickets_that_score_alike_are_ordered_by_id_whoever_ranks_them(store: Store, tmp_path: Path) -> None:
    vectors = clustered(400)
    vectors[[20, 90, 180, 270, 390]] = vectors[20]
    dataset_id = with_vectors(store, vectors, KINDS)
    ids = store.ticket_ids(dataset_id)
    alike = [ids[at] for at in (20, 90, 180, 270, 390)]
    answers = []
    for number, limits in enumerate((None, SMALL, SMALL)):
        finder = Finder(store, tmp_path / f"index{number}", limits)
        finder.prepare(dataset_id, MODEL)
        answers.append(opened(finder, store, dataset_id).nearest(vectors[20], 8, EVERYWHERE))
    assert [one for one, _ in answers[0]][:5] == alike
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.promise("insight.search-filters", "insight.search-ties")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from(["x", "y", None])), min_size=1, max_size=8),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
    st.lists(st.sampled_from(["x", "y", "z"]), max_size=2),
    st.integers(1, 60),
    st.sampled_from([SMALL, None]),
)
def test_no_ticket_comes_through_a_filter_that_does_not_let_it(
    tmp_path_factory: pytest.TempPathFactory,
    kinds: list[tuple[str | None, str | None]],
    departments: list[str],
    products: list[str],
    k: int,
    limits: Limits | None,
) -> None:
    store, root = new_store(tmp_path_factory), tmp_path_factory.mktemp("index")
    vectors = clustered(50, dim=8)
    dataset_id = with_vectors(store, vectors, kinds)
    finder = Finder(store, root, limits)
    finder.prepare(dataset_id, MODEL)
    where = Where(department=tuple(departments), product=tuple(products))
    found = opened(finder, store, dataset_id).nearest(vectors[0], k, where)
    meant = set(store.ticket_ids(dataset_id, where))
    assert {one for one, _ in found} <= meant
    assert len(found) == min(k, len(meant))
    assert found == sorted(found, key=lambda near: (-near[1], near[0]))
    store.engine.dispose()


def new_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    engine = open_engine(Settings(), tmp_path_factory.mktemp("workspace"))
    migrate_with(engine, "insight")
    return Store(engine)


@pytest.mark.promise("insight.search-stale")
def test_vectors_that_were_added_or_replaced_are_seen_by_everybody(store: Store, tmp_path: Path) -> None:
    vectors = clustered(30)
    dataset_id = with_vectors(store, vectors, KINDS)
    ids = store.ticket_ids(dataset_id)
    mine, theirs = (Finder(store, tmp_path / "index") for _ in range(2))
    for finder in (mine, theirs):
        assert opened(finder, store, dataset_id).nearest(vectors[4], 1, EVERYWHERE)[0][0] == ids[4]
    store.put_vectors(dataset_id, MODEL, [(ids[4], vectors[5].tobytes()), (ids[5], vectors[4].tobytes())])
    for finder in (mine, theirs):
        assert opened(finder, store, dataset_id).nearest(vectors[4], 1, EVERYWHERE)[0][0] == ids[5]
    assert len(list((tmp_path / "index").iterdir())) == 1


@pytest.mark.promise("insight.search-stale")
def test_a_stale_index_is_not_asked(store: Store, tmp_path: Path) -> None:
    vectors = clustered(60)
    dataset_id = with_vectors(store, vectors, KINDS)
    ids = store.ticket_ids(dataset_id)
    finder = Finder(store, tmp_path / "index", SMALL)
    finder.prepare(dataset_id, MODEL)
    store.put_vectors(dataset_id, MODEL, [(ids[9], (-vectors[9]).tobytes())])
    rows = opened(finder, store, dataset_id)
    assert ids[9] not in {one for one, _ in rows.nearest(vectors[9], 10, EVERYWHERE)}
    assert finder.prepare(dataset_id, MODEL)
    assert ids[9] not in {one for one, _ in opened(finder, store, dataset_id).nearest(vectors[9], 10, EVERYWHERE)}


def test_without_vectors_there_is_nothing_to_prepare(store: Store, tmp_path: Path) -> None:
    assert not Finder(store, tmp_path / "index").prepare(1, MODEL)
