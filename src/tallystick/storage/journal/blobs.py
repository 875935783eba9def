"""Blobs: payloads too large for a line of the log, each in a file named by its digest."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from tallystick.storage.journal import disk


class Blobs:
    """Folder of blobs."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._folder = folder
        self._durable = durable

    def path(self, digest: str) -> Path:
        """Return the path of a blob; two levels keep folders small."""
        return self._folder / digest[:2] / digest

    def put_all(self, blobs: Sequence[tuple[str, bytes]]) -> None:
        """Store the blobs of a record before the record itself is written."""
        for digest, data in blobs:
            path = self.path(digest)
            disk.make_folder(path.parent)
            disk.write_whole(path, data, durable=self._durable)

    def drop_all(self, blobs: Sequence[tuple[str, bytes]]) -> None:
        """Delete the blobs of a record whose commit failed."""
        for digest, _ in blobs:
            self.drop(digest)

    def get(self, digest: str) -> bytes | None:
        """Return salt and payload, unverified; None if the blob does not exist."""
        if len(digest) != 64 or digest.strip("0123456789abcdef"):  # noqa: PLR2004 - SHA-256 in hex
            return None
        return disk.read_whole(self.path(digest))

    def drop(self, digest: str) -> None:
        """Delete a blob durably."""
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(self.path(digest))
            if self._durable:
                disk.sync_folder(self.path(digest).parent)
