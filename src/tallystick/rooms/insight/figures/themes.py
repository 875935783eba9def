"""Themes of a dataset: the clusters of its newest run, or a field.

Of a grouping's figures this reads `clusters` ([{cluster_id, label, medoids}]), or `labels` and `medoids` by cluster. A
label is a text or a list of terms, a medoid a ticket's id or an object that names it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.records import record
from tallystick.rooms.insight.figures.facts import NONE, Facts
from tallystick.rooms.insight.figures.query import Given, chosen, where_field
from tallystick.rooms.insight.model import ClusterRun
from tallystick.rooms.insight.query.columns import Columns, computed_columns, theme_column
from tallystick.text.words import QUERY_STOP_WORDS, words

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

FALLBACKS = ("category", "product", "department")
"""Where there is no grouping, the field that says most about what a ticket is about."""
_FEWEST, _MOST = 2, 60
_SHORTEST = 3
_TERMS = 3


@record
class Theme:
    """One theme."""

    label: str
    where: Given
    """Which tickets, as parameters of a query."""
    medoids: tuple[int, ...] = ()
    """Typical tickets, the most typical first."""
    terms: tuple[str, ...] = ()
    """Words by which it is found in other datasets."""


@record
class Themes:
    """All themes, the largest first."""

    source: str
    """`run`, or the field they come from."""
    run: ClusterRun | None
    themes: tuple[Theme, ...]

    @property
    def by(self) -> str:
        """The name under which comparisons know the field."""
        return "cluster" if self.run is not None else self.source


def themes_of(store: "Store", facts: Facts, run_id: int | None = None) -> Themes | None:
    """The themes of a dataset; None: nothing says them.

    Args:
        store: Where groupings lie.
        facts: The dataset.
        run_id: Another grouping than the newest.
    """
    runs = store.runs(facts.dataset_id)
    run = next((one for one in runs if run_id is None or one.run_id == run_id), None)
    if run is not None:
        return Themes(source="run", run=run, themes=_of_run(run, facts))
    for field in FALLBACKS:
        coded = facts.field(field)
        counts = {} if coded is None else coded.counts(facts.all)
        if _FEWEST <= len(counts) <= _MOST:
            return Themes(source=field, run=None, themes=_of_field(field, counts))
    return None


def columns_of(store: "Store", dataset_id: int, run_id: int | None = None) -> Columns:
    """The columns of a dataset, those that are computed and its themes with them."""
    found = list(store.columns(dataset_id)) if store.dataset(dataset_id) is not None else []
    found += computed_columns(found)
    run = next((one for one in store.runs(dataset_id) if run_id is None or one.run_id == run_id), None)
    if run is not None:
        labels = {
            str(cluster): _label(each.get("label")) for cluster, each in _told(run.figures).items() if cluster >= 0
        }
        found.append(theme_column(run.run_id, labels, 1))
    return Columns(found)


def _of_field(field: str, counts: Mapping[str, int]) -> tuple[Theme, ...]:
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    return tuple(Theme(label=value, where=where_field(field, value), terms=_terms_in(value)) for value in ranked)


def _of_run(run: ClusterRun, facts: Facts) -> tuple[Theme, ...]:
    clusters = facts.clusters(run.run_id)
    if clusters is None:
        return ()
    sizes: dict[int, int] = {}
    for cluster in clusters.tolist():
        if cluster != NONE:
            sizes[cluster] = sizes.get(cluster, 0) + 1
    told = _told(run.figures)
    themes: list[Theme] = []
    for cluster in sorted(sizes, key=lambda each: (-sizes[each], each)):
        about = told.get(cluster, {})
        label = _label(about.get("label")) or f"Theme {cluster}"
        themes.append(
            Theme(
                label=label,
                where=chosen(run=run.run_id, cluster=cluster),
                medoids=_ids(about.get("medoids")),
                terms=_terms_in(label),
            )
        )
    return tuple(themes)


def _told(figures: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Cluster → what the grouping says of it."""
    told: dict[int, dict[str, Any]] = {}
    clusters = figures.get("clusters")
    if isinstance(clusters, Sequence) and not isinstance(clusters, str):
        told |= {int(one["cluster_id"]): dict(one) for one in clusters if isinstance(one, Mapping)}
    for name, key in (("labels", "label"), ("medoids", "medoids")):
        by_cluster = figures.get(name)
        if isinstance(by_cluster, Mapping):
            for cluster, value in by_cluster.items():
                told.setdefault(int(cluster), {}).setdefault(key, value)
    return told


def _label(given: Any) -> str:
    return ", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given or "")


def _ids(given: Any) -> tuple[int, ...]:
    ids = [one.get("ticket_id") if isinstance(one, Mapping) else one for one in given or ()]
    return tuple(one for one in ids if isinstance(one, int))


def _terms_in(label: str) -> tuple[str, ...]:
    """The words of a label that mean something elsewhere too."""
    telling = [word for word in words(label) if word not in QUERY_STOP_WORDS and len(word) >= _SHORTEST]
    return tuple(dict.fromkeys(telling))[:_TERMS]
