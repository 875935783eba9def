"""A small JSON file of the control room: read as a whole, changed under a lock, replaced at once.

Whoever reads sees all of the old file or all of the new one. Two processes that change it do so one after the other,
each on what the other left. A file that cannot be read is never written over: it may be all there is of a day's work.
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
    """One file."""

    def __init__(self, path: Path, *, code: str) -> None:
        """Name a file; it need not be there.

        Args:
            path: Where.
            code: The code of the error when it is damaged.
        """
        self.path = path
        self._code = code

    def read(self) -> dict[str, Any] | None:
        """What it holds; None: there is no such file.

        Raises:
            ConfigError: It is damaged or cannot be read; it stays as it is.
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
        """Put something else in its place; only while `locked`.

        Raises:
            ConfigError: It cannot be written; what was there is still there.
        """
        data = orjson.dumps({"version": VERSION, **value}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        try:
            disk.write_whole(self.path, data)
        except OSError as error:
            raise self._unwritable(error) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Around reading and writing: nobody else changes it meanwhile, in this process or another.

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
        """The error for a file that says something it cannot mean."""
        advice = "Repair it, or move it away to begin anew; until then nothing is written."
        return ConfigError(f"{self.path.name} is damaged: {why}. {advice}", code=self._code)

    def _unwritable(self, error: OSError) -> ConfigError:
        message = f"{self.path.name} cannot be written: {error.strerror or error}. What it held is still there."
        return ConfigError(message, code="control_room_unwritable")


def open_lock(path: Path) -> int:
    """The lock of a file, which lies beside it: the file itself is replaced with every change.

    Opened anew each time, so that it also keeps the threads of one process apart.
    """
    disk.make_folder(path.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return disk.open_file(path.with_name(f".{path.name}.lock"), flags, disk.FILE_MODE)
