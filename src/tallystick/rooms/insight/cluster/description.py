"""Descriptions of clusters: numbered by size, labelled by their terms, quoted by their central tickets."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.cluster.points import Points, middles
from tallystick.rooms.insight.cluster.quality import NOISE
from tallystick.rooms.insight.cluster.rows import Floats, Ints, Matrix, Rows
from tallystick.rooms.insight.cluster.space import READ
from tallystick.rooms.insight.pii import PLACEHOLDER
from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS, words

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

SHOWN = 1_000
"""Points of the map: more cannot be distinguished."""
_DIGITS = 4
TERMS = 5
NAMED = 3
"""Terms in a label."""
_EVERYDAY = (
    *("kind", "best", "going", "go", "really", "one", "two", "sure", "lot", "bit", "guys", "team", "good", "morning"),
    *("afternoon", "make", "use", "now", "ok", "okay", "yes", "seem", "seems", "looks", "said", "ask", "asked", "see"),
)
"""Words of greeting and small talk beyond those of every request: they name no group of tickets."""
_LEFT_OUT = QUERY_STOP_WORDS | frozenset(_EVERYDAY)
_PARTICLES = frozenset({"up", "out", "off", "back", "in", "on", "down"})
"""`top up` and `sign in` are one word in two."""
_TOGETHER = 0.6
"""A word that precedes the same particle this often is shown with it."""
_PAIR = 1.4
"""What a pair counts beside a word: it says more, and is rarer by itself."""
_SHORTEST = 3
Key = tuple[str, ...]
QUOTES = 3
QUOTED = 500
"""Characters of a quote."""
TEXTS_READ = 400
"""Texts of a group whose words are counted: its first in the order of digests, so a fair sample."""
UNNAMED = "no common words"


@record
class ClusterDescriptions:
    """Clusters with their labels and quotes."""

    labels: Ints
    """The group of each row, the largest is 0."""
    clusters: list[dict[str, Any]]
    """What each is about: JSON."""
    picture: dict[str, Any]


def describe_clusters(store: "Store", rows: Rows, points: Points, labels: Ints) -> ClusterDescriptions:
    """Number, name and quote the groups of some points."""
    of_rows = labels[points.point_of]
    names = np.unique(of_rows[of_rows != NOISE])
    central = {int(name): _central(points, labels, of_rows, int(name)) for name in names}
    quotes = {name: rows.said(store, places) for name, places in central.items()}
    sizes = np.bincount(of_rows[of_rows != NOISE], weights=rows.weights[of_rows != NOISE])
    order = sorted(central, key=lambda name: (-int(sizes[name]), quotes[name][0].said.text))
    numbers = np.full(int(of_rows.max()) + 2, NOISE, dtype=np.int64)
    numbers[order] = np.arange(len(order))
    numbered: Ints = numbers[of_rows]
    terms = terms_of({number: rows.texts(store, _first(numbered, number)) for number in range(len(order))})
    titles = labels_of(terms)
    total = int(rows.weights.sum())
    clusters: list[dict[str, Any]] = [
        {
            "cluster_id": number,
            "label": titles[number] or UNNAMED,
            "terms": list(terms[number]),
            "size": int(sizes[name]),
            "share": round(int(sizes[name]) / total, 6),
            "medoids": [{"ticket_id": one.ticket_id, "text": one.said.text[:QUOTED]} for one in quotes[name]],
        }
        for number, name in enumerate(order)
    ]
    return ClusterDescriptions(labels=numbered, clusters=clusters, picture=_picture(rows, points, numbered))


def _first(labels: Ints, number: int) -> list[int]:
    places: list[int] = np.flatnonzero(labels == number)[:TEXTS_READ].tolist()
    return places


def _central(points: Points, labels: Ints, of_rows: Ints, name: int) -> list[int]:
    """The rows in the middle of a group."""
    mine = np.flatnonzero(labels == name)
    matrix: Matrix = points.matrix[mine]
    middle = middles(matrix, np.zeros(len(mine), dtype=np.int64), points.weights[mine])[0]
    near = np.argsort(-(matrix @ middle), kind="stable")[:QUOTES]
    if points.micro is None:
        return [int(one) for one in mine[near]]
    # Of a centre that stands for many rows, the first of them speaks; then the next, where there are too few centres.
    found = [int(np.flatnonzero(points.point_of == mine[one])[0]) for one in near]
    others = [int(row) for row in np.flatnonzero(of_rows == name)[: 2 * QUOTES] if row not in found]
    return (found + others)[:QUOTES]


def _picture(rows: Rows, points: Points, labels: Ints) -> dict[str, Any]:
    """Some rows on a plane, as [x, y, group, ticket]."""
    flat = plane(points.matrix)[points.point_of[:SHOWN]]
    dots = [
        [x, y, int(label), int(ticket)]
        for (x, y), label, ticket in zip(flat.tolist(), labels[:SHOWN], rows.speaker[:SHOWN], strict=True)
    ]
    return {"points": dots, "of": len(rows)}


def plane(points: Matrix) -> Floats:
    """Two coordinates a point, between -1 and 1."""
    centred = (points - points.mean(axis=0)).astype(np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    # One dimension alone has no second direction.
    axes = np.pad(axes, ((0, 0), (0, max(0, 2 - axes.shape[1]))))
    two = axes[:, ::-1][:, :2] if points.shape[1] > 1 else axes[:, :2]
    # A direction has no front: it points to where its largest part is positive.
    largest = np.abs(two).argmax(axis=0)
    two = two * np.where(two[largest, [0, 1]] < 0, -1.0, 1.0)
    flat = centred @ two
    shown: Floats = np.round(flat / max(float(np.abs(flat).max()), 1e-12), _DIGITS)
    return shown


def terms_of(texts: Mapping[int, Sequence[str]]) -> dict[int, tuple[str, ...]]:
    """Cluster → its distinctive terms, the most distinctive first."""
    shown: dict[Key, Counter[str]] = defaultdict(Counter)
    counts = {cluster: _counted(said, shown) for cluster, said in texts.items()}
    everywhere: Counter[Key] = Counter()
    for many in counts.values():
        everywhere.update(many)
    usual = sum(everywhere.values()) / max(len(counts), 1)
    return {cluster: _telling(many, everywhere, usual, shown) for cluster, many in counts.items()}


def labels_of(terms: Mapping[int, Sequence[str]]) -> dict[int, str]:
    """Cluster → a label of its first terms; no two are the same where their terms differ at all."""
    taken: set[str] = set()
    labels: dict[int, str] = {}
    for cluster in sorted(terms):
        said = list(terms[cluster])
        tries = [said[:NAMED], *([*said[: NAMED - 1], other] for other in said[NAMED:]), said]
        names = [", ".join(one) for one in tries]
        label = next((name for name in names if name not in taken), names[-1])
        taken.add(label)
        labels[cluster] = label
    return labels


def _counted(texts: Sequence[str], shown: dict[Key, Counter[str]]) -> Counter[Key]:
    """The number of texts that contain each term."""
    counts: Counter[Key] = Counter()
    for text in texts:
        found: dict[Key, str] = {}
        before: tuple[str, str] | None = None
        for word in words(PLACEHOLDER.sub(" ", text)[:READ]):
            if word in _PARTICLES and before is not None:
                found[(before[1], word)] = f"{before[0]} {word}"
            usable = word not in _LEFT_OUT and len(word) >= _SHORTEST and not word.isdigit()
            now = (word, stem(word)) if usable else None
            if now is not None:
                found[(now[1],)] = word
                if before is not None and before[1] != now[1]:
                    found[(before[1], now[1])] = f"{before[0]} {word}"
            before = now
        counts.update(found.keys())
        for key, form in found.items():
            shown[key][form] += 1
    return counts


def _telling(
    counts: Counter[Key], everywhere: Counter[Key], usual: float, shown: Mapping[Key, Counter[str]]
) -> tuple[str, ...]:
    least = 2 if counts and max(counts.values()) > 1 else 1
    weights = {
        key: many * math.log1p(usual / everywhere[key]) * (_PAIR if len(key) > 1 else 1.0)
        for key, many in counts.items()
        if many >= least
    }
    chosen: list[Key] = []
    for key in sorted(weights, key=lambda one: (-weights[one], one)):
        if key[-1] in _PARTICLES or any(set(key) & set(other) for other in chosen):
            continue
        chosen.append(key)
        if len(chosen) == TERMS:
            break
    return tuple(_form(shown[_with_particle(key, counts)]) for key in chosen)


def _with_particle(key: Key, counts: Counter[Key]) -> Key:
    both = max(((*key, particle) for particle in sorted(_PARTICLES)), key=lambda one: counts[one])
    return both if counts[both] >= _TOGETHER * counts[key] else key


def _form(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))
