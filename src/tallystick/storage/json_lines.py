"""An append-only file of JSON lines: written under a lock; unreadable lines are skipped when reading.

Several processes may append to one file; a line torn by a crash stays and does not corrupt other lines.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.storage.journal import disk


class JsonLines:
    """One file; it need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, *values: Mapping[str, Any]) -> None:
        """Append lines in one write.

        Raises:
            ConfigError: The lines cannot be written; the message says what to do.
        """
        data = b"".join(_line(value) for value in values)
        try:
            disk.make_folder(self.path.parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = disk.open_file(self.path, flags, disk.FILE_MODE)
            try:
                disk.lock(fd)
                size = os.fstat(fd).st_size
                torn = size and os.pread(fd, 1, size - 1) != b"\n"
                disk.write_all(fd, b"\n" + data if torn else data)
            finally:
                os.close(fd)
        except OSError as error:
            message = f"{self.path.name} cannot be written: {error.strerror or error}. Free some space."
            raise ConfigError(message, code="control_room_unwritable") from None

    def read(self) -> list[dict[str, Any]]:
        """Return every line that is an object, oldest first; an empty list if the file does not exist."""
        try:
            data = disk.read_whole(self.path)
        except OSError as error:
            message = f"{self.path.name} cannot be read: {error.strerror or error}."
            raise ConfigError(message, code="control_room_unreadable") from None
        return list(_objects(data or b""))


def _line(value: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(dict(value), option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        # A model may emit a lone surrogate, which UTF-8 cannot encode: write a replacement character instead.
        return orjson.dumps(_mended(dict(value)), option=orjson.OPT_APPEND_NEWLINE)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value
