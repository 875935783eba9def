"""This node's copy of the head outside the workspace: it shows that the database was rolled back or replaced."""

import contextlib
from pathlib import Path

from tallystick.errors import LedgerDamaged
from tallystick.gate.record.journal import Incident
from tallystick.gate.record.signing import Keys
from tallystick.storage.journal import disk
from tallystick.storage.journal.head import STRIDE, Head, HeadFile


class Mirror:
    """The mirror's two slots, written in turn; None of it if the mirror is off."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.incidents: list[Incident] = []
        self._file: HeadFile | None = None
        self._at = 0
        self._reported = False
        if path is not None:
            try:
                disk.make_folder(path.parent)
                self._file = HeadFile(path)
            except OSError as error:
                self._report(error)

    def read(self, keys: Keys) -> Head | None:
        """Return the latest head in the mirror."""
        if self._file is None:
            return None
        self._at = self._file.newest_at(keys)
        return self._file.read(keys)

    def write(self, slot: bytes) -> None:
        """Write a slot over the older one; an error is reported once in the log and fails no commit."""
        if self._file is not None:
            self._at = STRIDE - self._at
            try:
                disk.pwrite(self._file.fd, slot, self._at)
            except OSError as error:
                self._report(error)

    def keep_note(self, note: bytes) -> None:
        """Keep the latest checkpoint beside the mirror."""
        if self._file is not None and self.path is not None:
            with contextlib.suppress(OSError):
                disk.write_whole(self.path.with_suffix(".checkpoint"), note, durable=False)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _report(self, error: OSError) -> None:
        if not self._reported:
            self._reported = True
            self.incidents.append(Incident(what="mirror_unwritable", details={"reason": error.strerror or ""}))


def rolled_back(message: str) -> LedgerDamaged:
    """Build the error for a journal that is older than what this node has seen of it."""
    return LedgerDamaged(f"{message} Run `tally audit verify`.", code="journal_rolled_back")
