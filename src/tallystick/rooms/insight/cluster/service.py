"""The cluster service: cluster a dataset's tickets and store the result."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from tallystick.errors import ToolError
from tallystick.rooms.insight.cluster.description import ClusterDescriptions, describe_clusters
from tallystick.rooms.insight.cluster.methods import ClusterOptions, Grouping, group
from tallystick.rooms.insight.cluster.points import MICRO, WHOLE, Points, centres_as_points, rows_as_points
from tallystick.rooms.insight.cluster.quality import NOISE, silhouette
from tallystick.rooms.insight.cluster.rows import Rows, read_rows
from tallystick.rooms.insight.cluster.space import blended
from tallystick.rooms.insight.model import TAKES

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import ClusterRun
    from tallystick.rooms.insight.store import Store

LEAST = 2
"""Different texts that can be grouped."""
_ALONE = Lock()


class ClusterService:
    """Clusters the tickets of one workspace."""

    def __init__(self, store: "Callable[[], Store]", now: Callable[[], int]) -> None:
        """Begin.

        Args:
            store: Opens the tables.
            now: Epoch seconds.
        """
        self._store = store
        self._now = now

    def run(
        self, dataset_id: int, algorithm: str, params: Mapping[str, int] | None = None, model_name: str | None = None
    ) -> "ClusterRun":
        """Group a dataset's tickets.

        Raises:
            ToolError: 404, there is no such dataset; 409, it has no vectors yet; 400, it cannot be grouped like that.
        """
        with _alone():
            return self._run(dataset_id, algorithm, params or {}, self._model(dataset_id, model_name))

    def _run(self, dataset_id: int, algorithm: str, params: Mapping[str, int], model: str) -> "ClusterRun":
        store = self._store()
        rows = read_rows(store, dataset_id, model)
        given = {name: value for name, value in params.items() if name in TAKES[algorithm]}
        _check(rows, given)
        points = points_of(store, rows)
        grouped = group(points, algorithm, ClusterOptions(**given))
        told = describe_clusters(store, rows, points, grouped.labels)
        figures = {
            **_figures(rows, points, grouped, told),
            "ignored_params": sorted(set(params) - set(given)),
        }
        of_tickets = told.labels[rows.row_of]
        pairs = zip(rows.tickets.tolist(), of_tickets.tolist(), strict=True)
        return store.add_run(dataset_id, algorithm, model, figures, pairs, self._now())

    def _model(self, dataset_id: int, model_name: str | None) -> str:
        """The model whose vectors are grouped: the one that is named, or the one with the most."""
        store = self._store()
        if store.dataset(dataset_id) is None:
            message = f"There is no dataset {dataset_id}."
            raise ToolError(message, status=404, hint="tool.ingest.upload gives a dataset's id.")
        there = store.vector_stand(dataset_id)
        if not there:
            message = f"Dataset {dataset_id} has no vectors yet."
            raise ToolError(message, status=409, hint=f"Call tool.embed.run with dataset_id {dataset_id} first.")
        if model_name is None:
            return min(there, key=lambda name: (-there[name][0], name))
        if model_name not in there:
            message = f"Dataset {dataset_id} has no vectors of this model."
            raise ToolError(message, status=400, hint=f"It has vectors of: {', '.join(sorted(there))}.")
        return model_name


@contextmanager
def _alone() -> Iterator[None]:
    """One grouping at a time, each on one thread.

    Memory stays that of one. Sums of numbers do not depend on how many cores there are, so neither do groups; and many
    small products are faster on one thread than on several that wait for each other on a busy machine.
    """
    with _ALONE, threadpool_limits(limits=1):
        yield


def points_of(store: "Store", rows: Rows) -> Points:
    """What is grouped: every different text, or centres where there are too many."""
    if len(rows) > WHOLE:
        return centres_as_points(rows)
    texts = rows.texts(store, range(len(rows)))
    return rows_as_points(blended(rows.vectors, texts), rows.weights)


def _check(rows: Rows, given: Mapping[str, int]) -> None:
    many = len(rows)
    if many < LEAST:
        raise ToolError(
            f"The dataset has {many} different text; groups need at least {LEAST}.",
            status=400,
            hint="Add tickets to the file and take it again.",
        )
    asked = given.get("n_clusters", 0)
    most = many if many <= WHOLE else MICRO
    if asked > most:
        raise ToolError(
            f"There cannot be {asked} groups of {many} different texts.",
            status=400,
            hint=f"Give n_clusters of at most {most}, or none and it is found out.",
        )


def _figures(rows: Rows, points: Points, grouped: Grouping, told: ClusterDescriptions) -> dict[str, Any]:
    """What is known of a grouping: JSON."""
    noise = int(rows.weights[told.labels == NOISE].sum())
    measured = slice(0, WHOLE)
    apart = silhouette(np.asarray(rows.vectors[measured]), told.labels[measured], rows.weights[measured])
    total = int(rows.weights.sum())
    return {
        "tickets": total,
        "different_texts": len(rows),
        "without_vector": rows.without_vector,
        "params": grouped.params,
        "chosen_by": grouped.chosen_by,
        "cluster_count": len(told.clusters),
        "silhouette": _rounded(apart),
        "silhouette_rows": min(len(rows), WHOLE),
        "stability": _rounded(grouped.stability),
        "stability_profile": [list(one) for one in grouped.profile],
        "noise": round(noise / total, 6),
        "noise_count": noise,
        "micro_clusters": points.micro,
        "approximation": _approximation(points, len(rows)),
        "clusters": told.clusters,
        "map": told.picture,
    }


def _approximation(points: Points, many: int) -> str | None:
    if points.micro is None:
        return None
    return (
        f"{many} different texts were first put into {points.micro} micro-clusters by k-means, and those were grouped; "
        f"the silhouette is that of a fixed sample of {WHOLE} texts."
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
