"""A disk that loses power: writes that no sync confirmed are dropped, or kept in another order."""

import os
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tallystick.storage.journal import disk

Write = tuple[int, bytes | None]
"""Offset and data; None: cut off there."""


class Disk:
    """Files as the disk has them for certain, and what was written since."""

    def __init__(self) -> None:
        self.certain: dict[str, bytes] = {}
        self.pending: dict[str, list[Write]] = defaultdict(list)

    def write(self, fd: int, data: bytes) -> int:
        at = os.lseek(fd, 0, os.SEEK_END if _appends(fd) else os.SEEK_CUR)
        self.pending[_path(fd)].append((at, bytes(data)))
        return os.write(fd, data)

    def pwrite(self, fd: int, data: bytes, at: int) -> int:
        self.pending[_path(fd)].append((at, bytes(data)))
        return os.pwrite(fd, data, at)

    def ftruncate(self, fd: int, size: int) -> None:
        self.pending[_path(fd)].append((size, None))
        os.ftruncate(fd, size)

    def sync(self, fd: int) -> None:
        os.fsync(fd)
        path = _path(fd)
        if Path(path).is_file():
            self.certain[path] = Path(path).read_bytes()
            self.pending.pop(path, None)

    def replace(self, old: Any, new: Any) -> None:
        Path(old).replace(new)
        for kept in (self.certain, self.pending):
            if str(old) in kept:
                kept[str(new)] = kept.pop(str(old))  # type: ignore[index, assignment]

    def cut(self, root: Path, source: random.Random) -> None:
        """Leave in the files below a folder what a disk may hold after the power failed."""
        for path, writes in self.pending.items():
            if Path(path).is_relative_to(root) and Path(path).exists():
                data = bytearray(self.certain.get(path, b""))
                kept = [one for one in writes if source.random() < 0.5]
                source.shuffle(kept)
                for at, added in kept:
                    if added is None:
                        del data[at:]
                    else:
                        data.extend(bytes(max(0, at - len(data))))
                        data[at : at + len(added)] = added
                Path(path).write_bytes(bytes(data))


@contextmanager
def unreliable() -> Iterator[Disk]:
    """For a while, note every write and sync of the journal."""
    noted = Disk()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("write", "pwrite", "ftruncate", "replace"):
            patch.setattr(disk, name, getattr(noted, name))
        for name in ("fsync", "fdatasync"):
            patch.setattr(disk, name, noted.sync)
        yield noted


def _path(fd: int) -> str:
    return str(Path(f"/proc/self/fd/{fd}").readlink())


def _appends(fd: int) -> bool:
    flags = Path(f"/proc/self/fdinfo/{fd}").read_text().partition("flags:")[2].split()[0]
    return bool(int(flags, 8) & os.O_APPEND)
