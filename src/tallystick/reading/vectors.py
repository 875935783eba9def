"""Vectors of passages in an SQLite file beside the lexical index, by the digest of what was embedded and the model.

A passage that is moved, or indexed again with the same words, keeps its vector; several models may have theirs.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from tallystick.storage.private import private_file, private_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT = 1
_TABLES = """
CREATE TABLE vectors (
    model TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (model, digest)
) WITHOUT ROWID
"""
SPARE = 1_000
"""Vectors that no passage has any more and that are kept for the case that it comes back."""


class VectorFile:
    """The vectors of one corpus, used by several threads and processes."""

    def __init__(self, path: Path) -> None:
        """Open the file, creating it if missing; a damaged one is replaced.

        Raises:
            OSError: It cannot be created.
        """
        self._path = path
        self._lock = RLock()
        private_folder(path.parent)
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            # What it held can be computed again.
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            self._connection = self._open()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def digests(self, model: str) -> set[bytes]:
        """Return the digests that have a vector of this model."""
        with self._lock:
            return {digest for (digest,) in self._rows("SELECT digest FROM vectors WHERE model = ?", model)}

    def read(self, model: str, dim: int) -> "tuple[dict[bytes, int], NDArray[np.float32]]":
        """Return every digest with its row, and the vectors as rows."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        with self._lock:
            rows = self._rows("SELECT digest, vector FROM vectors WHERE model = ?", model)
        joined = np.frombuffer(b"".join(vector for _, vector in rows), dtype="<f2")
        return {digest: at for at, (digest, _) in enumerate(rows)}, joined.reshape(-1, dim).astype(np.float32)

    def state(self) -> tuple[int, int]:
        """Return a value that changes whenever this or another process has written."""
        with self._lock:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return int(version), self._connection.total_changes

    def put(self, model: str, vectors: "Mapping[bytes, NDArray[np.float32]]") -> None:
        """Add vectors by digest; they are stored as 16-bit numbers."""
        rows = [(model, digest, vector.astype("<f2").tobytes()) for digest, vector in vectors.items()]
        self._write("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def keep_only(self, model: str, digests: Collection[bytes]) -> None:
        """Delete vectors of passages that are gone, once there are many of them."""
        gone = self.digests(model) - set(digests)
        if len(gone) > max(SPARE, len(digests)):
            self._write("DELETE FROM vectors WHERE model = ? AND digest = ?", [(model, digest) for digest in gone])

    def _rows(self, statement: str, model: str) -> list[tuple[bytes, ...]]:
        return self._connection.execute(statement, (model,)).fetchall()

    def _write(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany(statement, rows)
            except BaseException:
                self._connection.rollback()
                raise
            self._connection.commit()

    def _open(self) -> sqlite3.Connection:
        private_file(self._path)
        connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("PRAGMA busy_timeout = 30000")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
                connection.execute("DROP TABLE IF EXISTS vectors")
                connection.execute(_TABLES)
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection
