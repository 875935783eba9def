"""Vector files of a dataset: written once per state, then memory-mapped.

The folder's name says dataset, model and stamp. It is made beside and moved into place, so another process sees all of
it or nothing. Tickets of one department and product lie side by side, so that a filter is a few slices of the file.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tallystick.records import record
from tallystick.rooms.insight.search.model import Matrix, Vector

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

Kinds = Sequence[tuple[int, str | None, str | None]]
"""Tickets with department and product."""
GRAPH = "graph.usearch"
_HEAD, _VECTORS, _IDS, _RUNS, _MEAN = "head.json", "vectors.npy", "ids.npy", "runs.npy", "mean.npy"


@record
class VectorFiles:
    """An open folder."""

    folder: Path
    stamp: int
    vectors: Matrix
    ids: NDArray[np.int64]
    runs: NDArray[np.int64]
    """A row for tickets that lie side by side: number of the department, of the product, the first place."""
    departments: dict[str, int]
    products: dict[str, int]
    mean: Vector


def folder_of(root: Path, dataset_id: int, model_name: str, stamp: int) -> Path:
    """The folder of one state of the vectors."""
    return root / f"{dataset_id}-{sha256(model_name.encode()).hexdigest()[:16]}-{stamp}"


def write(store: "Store", root: Path, dataset_id: int, model_name: str, stamp: int) -> Path:
    """Write the folder for a state that was just read; vectors that come meanwhile may be in it or not."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    making = Path(mkdtemp(prefix=".making-", dir=root))
    target = folder_of(root, dataset_id, model_name, stamp)
    try:
        _fill(store, making, dataset_id, model_name)
        try:
            making.rename(target)
        except OSError:
            # Somebody else was quicker, and theirs says the same.
            if not (target / _HEAD).is_file():
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    for old in root.glob(f"{target.name.rpartition('-')[0]}-*"):
        if old != target:
            # Open readers keep it mapped.
            shutil.rmtree(old, ignore_errors=True)
    return target


def opened(folder: Path) -> VectorFiles | None:
    """Open a folder; None if it does not exist."""
    with suppress(FileNotFoundError):
        head: dict[str, Any] = orjson.loads((folder / _HEAD).read_bytes())
        return VectorFiles(
            folder=folder,
            stamp=int(folder.name.rpartition("-")[2]),
            vectors=np.load(folder / _VECTORS, mmap_mode="r"),
            ids=np.load(folder / _IDS),
            runs=np.load(folder / _RUNS),
            mean=np.load(folder / _MEAN),
            departments={name: at for at, name in enumerate(head["departments"])},
            products={name: at for at, name in enumerate(head["products"])},
        )
    return None


def _fill(store: "Store", folder: Path, dataset_id: int, model_name: str) -> None:
    departments: dict[str, int] = {}
    products: dict[str, int] = {}

    def numbered(chunk: Kinds) -> NDArray[np.int64]:
        rows = [(ticket, _number(departments, name), _number(products, product)) for ticket, name, product in chunk]
        return np.array(rows, dtype=np.int64)

    rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *map(numbered, store.kinds(dataset_id, model_name))])
    # By kind, and within it by id. `places[i]` is where the ticket with the i-th smallest id goes.
    order = np.lexsort((rows[:, 0], rows[:, 2], rows[:, 1]))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    np.save(folder / _IDS, rows[order, 0])
    np.save(folder / _RUNS, _runs(rows[order, 1:]))
    np.save(folder / _MEAN, _vectors(store, folder, dataset_id, model_name, rows[:, 0], places))
    head = {"departments": list(departments), "products": list(products)}
    (folder / _HEAD).write_bytes(orjson.dumps(head))


def _vectors(
    store: "Store", folder: Path, dataset_id: int, model_name: str, ids: NDArray[np.int64], places: NDArray[np.int64]
) -> Vector:
    """Write the vectors and return their mean."""
    out: Matrix | None = None
    total: NDArray[np.float64] = np.zeros(0)
    for chunk in store.vectors(dataset_id, model_name):
        here = np.array([ticket for ticket, _ in chunk], dtype=np.int64)
        rows = np.frombuffer(b"".join(vector for _, vector in chunk), dtype="<f4").reshape(len(chunk), -1)
        at = np.searchsorted(ids, here)
        known = (at < len(ids)) & (ids[np.minimum(at, len(ids) - 1)] == here)
        if out is None:
            shape = (len(ids), rows.shape[1])
            out = np.lib.format.open_memmap(folder / _VECTORS, mode="w+", dtype=np.float32, shape=shape)
            total = np.zeros(rows.shape[1])
        out[places[at[known]]] = rows[known]
        total += rows[known].sum(axis=0, dtype=np.float64)
    if out is None:
        np.save(folder / _VECTORS, np.zeros((0, 0), dtype=np.float32))
        return np.zeros(0, dtype=np.float32)
    return (total / len(ids)).astype(np.float32)


def _number(known: dict[str, int], name: str | None) -> int:
    return -1 if name is None else known.setdefault(name, len(known))


def _runs(kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each kind begins."""
    if len(kinds) == 0:
        return np.zeros((0, 3), dtype=np.int64)
    starts = np.flatnonzero(np.r_[True, (kinds[1:] != kinds[:-1]).any(axis=1)])
    return np.column_stack([kinds[starts], starts])
