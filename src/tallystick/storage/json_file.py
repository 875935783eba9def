"""A small JSON file of the control room: read as a whole, changed under a lock, replaced atomically.

A reader sees either the old or the new file. Concurrent changes are serialised, each based on the previous one. An
unreadable file is never overwritten, because it may be the only copy of the data.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.storage.journal import disk

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024


class JsonFile:
    """One JSON file with a version, a lock and atomic replacement."""

    def __init__(self, path: Path, *, code: str) -> None:
        """Set the path; the file need not exist.

        Args:
            path: The file.
            code: The error code for a damaged file.
        """
        self.path = path
        self._code = code

    def read(self) -> dict[str, Any] | None:
        """Return the content; None if the file does not exist.

        Raises:
            ConfigError: The file is damaged or cannot be read; it is not changed.
        """
        try:
            data = disk.read_whole(self.path)
        except OSError as error:
            message = f"{self.path.name} cannot be read: {error.strerror or error}. Make it a plain, readable file."
            raise ConfigError(message, code=self._code) from None
        if data is None:
            return None
        found = parse_json_object(data, MAX_BYTES)
        if isinstance(found, Rejection):
            raise self.damaged(f"{found.reason}{f' at {found.pointer}' if found.pointer else ''}")
        if found.get("version") != VERSION:
            raise self.damaged(f"'version' is not {VERSION}")
        return found

    def write(self, value: dict[str, Any]) -> None:
        """Replace the content; only inside `locked`.

        Raises:
            ConfigError: The file cannot be written; the old content is unchanged.
        """
        data = orjson.dumps({"version": VERSION, **value}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        try:
            disk.write_whole(self.path, data)
        except OSError as error:
            raise self._unwritable(error) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the file for a read and write; no other thread or process changes it meanwhile.

        Raises:
            ConfigError: The folder cannot be written.
        """
        try:
            fd = open_lock(self.path)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            disk.lock(fd)
            yield
        finally:
            os.close(fd)

    def damaged(self, why: str) -> ConfigError:
        """Build the error for a file with invalid content."""
        advice = "Repair it, or move it away to begin anew; until then nothing is written."
        return ConfigError(f"{self.path.name} is damaged: {why}. {advice}", code=self._code)

    def _unwritable(self, error: OSError) -> ConfigError:
        message = f"{self.path.name} cannot be written: {error.strerror or error}. What it held is still there."
        return ConfigError(message, code="control_room_unwritable")


def open_lock(path: Path) -> int:
    """Open a file's lock, a separate file next to it, because the file itself is replaced with every change.

    It is opened again each time, so that it also excludes other threads of this process.
    """
    disk.make_folder(path.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return disk.open_file(path.with_name(f".{path.name}.lock"), flags, disk.FILE_MODE)
