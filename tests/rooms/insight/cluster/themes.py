"""Tickets about things that are clearly different, and vectors that say so."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.store import Store
from tests.rooms.insight.vectors import MODEL, filled, ticket

SUBJECTS = (
    "the parcel was not delivered to my street",
    "my password reset code never comes",
    "the invoice shows a wrong amount",
    "the router drops the wireless signal at night",
    "please cancel my subscription today",
    "the charging cable of the scooter broke",
)


def texts(each: int, themes: int = 4) -> tuple[list[str], list[int]]:
    """So many different texts about each of some things, and which."""
    said, about = [], []
    for number in range(each):
        for theme in range(themes):
            said.append(f"{SUBJECTS[theme]}, case {number} of {theme}")
            about.append(theme)
    return said, about


def vectors(about: Sequence[int], *, spread: float = 0.4, dim: int = 16, seed: int = 3) -> NDArray[np.float32]:
    """A vector a text, near the one of its theme."""
    chance = np.random.default_rng(seed)
    themes = np.linalg.qr(chance.normal(size=(dim, dim)))[0]
    made = themes[list(about)] + spread * chance.normal(size=(len(about), dim)) / dim**0.5
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def stored(store: Store, said: Sequence[str], given: NDArray[np.float32], name: str = "t.csv") -> int:
    """A dataset of these texts with these vectors."""
    dataset_id = filled(store, [ticket(text) for text in said], name)
    ids = store.ticket_ids(dataset_id)
    store.put_vectors(dataset_id, MODEL, [(one, row.tobytes()) for one, row in zip(ids, given, strict=True)])
    return dataset_id
