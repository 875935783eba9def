"""Groups as people read them: numbered by size, named by their words, quoted by the tickets in their middle."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.records import record
from tallystick.rooms.insight.cluster.centres import middles
from tallystick.rooms.insight.cluster.micro import Points
from tallystick.rooms.insight.cluster.picture import SHOWN, plane
from tallystick.rooms.insight.cluster.quality import NOISE
from tallystick.rooms.insight.cluster.rows import Ints, Matrix, Rows
from tallystick.rooms.insight.cluster.terms import labels_of, terms_of

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

QUOTES = 3
QUOTED = 500
"""Characters of a quote."""
READ = 400
"""Texts of a group whose words are counted: its first in the order of digests, so a fair sample."""
UNNAMED = "no common words"


@record
class Told:
    """Groups with their names and quotes."""

    labels: Ints
    """The group of each row, the largest is 0."""
    clusters: list[dict[str, Any]]
    """What each is about: JSON."""
    picture: dict[str, Any]


def tell(store: "Store", rows: Rows, points: Points, labels: Ints) -> Told:
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
            "cluster_id": number, "label": titles[number] or UNNAMED, "terms": list(terms[number]),
            "size": int(sizes[name]), "share": round(int(sizes[name]) / total, 6),
            "medoids": [{"ticket_id": one.ticket_id, "text": one.said.text[:QUOTED]} for one in quotes[name]],
        }
        for number, name in enumerate(order)
    ]  # fmt: skip
    return Told(labels=numbered, clusters=clusters, picture=_picture(rows, points, numbered))


def _first(labels: Ints, number: int) -> list[int]:
    places: list[int] = np.flatnonzero(labels == number)[:READ].tolist()
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
