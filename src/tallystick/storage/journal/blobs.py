"""Blobs: payloads too large for a line of the log, each in a file named by its digest."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from tallystick.storage.journal import disk


class Blobs:
    """A folder of payloads."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._folder = folder
        self._durable = durable

    def path(self, digest: str) -> Path:
        """Where a blob lies; two levels, so that no folder grows too wide."""
        return self._folder / digest[:2] / digest

    def put_all(self, blobs: Sequence[tuple[str, bytes]]) -> None:
        """Store the blobs of a record, before the record that names them."""
        for digest, data in blobs:
            path = self.path(digest)
            disk.make_folder(path.parent)
            disk.write_whole(path, data, durable=self._durable)

    def drop_all(self, blobs: Sequence[tuple[str, bytes]]) -> None:
        """Take them back."""
        for digest, _ in blobs:
            self.drop(digest)

    def get(self, digest: str) -> bytes | None:
        """Salt and payload, unchecked; None if it is gone."""
        if len(digest) != 64 or digest.strip("0123456789abcdef"):  # noqa: PLR2004 - SHA-256 in hex
            return None
        return disk.read_whole(self.path(digest))

    def drop(self, digest: str) -> None:
        """Delete a blob for good."""
        with contextlib.suppress(FileNotFoundError):
            disk.unlink(self.path(digest))
            if self._durable:
                disk.sync_folder(self.path(digest).parent)
