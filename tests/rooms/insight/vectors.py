"""What the tests of embedding and searching share: datasets, and vectors that are given."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.dataset_writer import ImportTotals

MODEL = "given"


def filled(store: Store, tickets: Sequence[NewTicket], name: str = "t.csv") -> int:
    """A dataset of these tickets."""
    departments = len({ticket.department for ticket in tickets})
    with store.write_dataset(name, f"{name:0>64}"[-64:], {"text": "Body"}, 1) as adding:
        adding.add(tickets)
        adding.finish(ImportTotals(row_count=len(tickets), department_count=departments, bad_row_count=0, bad_rows=()))
    return adding.dataset_id


def ticket(text: str, **more: Any) -> NewTicket:
    return NewTicket(external_id=None, created_at=None, text=text, **more)


def clustered(rows: int, dim: int = 32, seed: int = 1) -> NDArray[np.float32]:
    """Vectors as tickets have them: some themes, and everybody a little beside one."""
    chance = np.random.default_rng(seed)
    themes = chance.normal(size=(max(2, rows // 40), dim))
    made = themes[chance.integers(len(themes), size=rows)] + 0.6 * chance.normal(size=(rows, dim))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def with_vectors(store: Store, vectors: NDArray[np.float32], kinds: Sequence[tuple[str | None, str | None]]) -> int:
    """A dataset whose tickets have these vectors, and department and product in turn."""
    tickets = [
        ticket(f"text {at}", department=kinds[at % len(kinds)][0], product=kinds[at % len(kinds)][1])
        for at in range(len(vectors))
    ]
    dataset_id = filled(store, tickets)
    ids = store.ticket_ids(dataset_id)
    store.put_vectors(dataset_id, MODEL, [(one, row.tobytes()) for one, row in zip(ids, vectors, strict=True)])
    return dataset_id
