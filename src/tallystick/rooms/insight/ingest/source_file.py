"""The source file: inside the workspace, a plain file, unchanged while it is read.

A door that is handed a file puts it into `.control-room/uploads/` first. That folder has no name for any other tool;
here it has one, for the plain files in it alone. What was put there is removed once it was read: it holds what the
database must not.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO

from tallystick.errors import PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.records import record
from tallystick.rooms.insight.ingest.table import UnusableFile
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.openat import open_file, open_folder
from tallystick.storage.paths import Parts, path_parts

UPLOADS = "uploads"
_UPLOADED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\.[a-z]{1,5})?")
_SUFFIX = re.compile(r"\.[a-z]{1,5}")


@record
class SourceFile:
    """An open source file."""

    descriptor: int
    path: str
    """As it was named."""
    size: int
    sha256: str
    stamp: tuple[int, int, int]
    limits: ImportLimits = DEFAULT

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]

    def reader(self) -> BinaryIO:
        """The file from its beginning; one reader at a time."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return open(self.descriptor, "rb", closefd=False)

    def share_read(self) -> float:
        """How much of it was read, from 0 to 1."""
        return min(1.0, os.lseek(self.descriptor, 0, os.SEEK_CUR) / max(self.size, 1))

    def check_unchanged(self) -> None:
        """Refuse a file that was written to while it was read: its hash would be another's.

        Raises:
            UnusableFile: `file_changed`.
        """
        if _stamp(self.descriptor) != self.stamp:
            raise UnusableFile(
                "file_changed",
                "The file was changed while it was read.",
                hint="Try again when it is finished.",
                status=409,
            )


@contextmanager
def opened(workspace: Path, file_path: str, *, limits: ImportLimits = DEFAULT) -> Iterator[SourceFile]:
    """Open a file of the workspace, or one that a door put there.

    Raises:
        UnusableFile: The path is refused (`path_refused`), there is no such file (`not_found`), or it is `too_large`.
    """
    try:
        descriptor = _open(workspace, _parts(file_path))
    except PathRefused as refused:
        status = 404 if refused.code == "not_found" else 400
        code = "not_found" if status == 404 else "path_refused"  # noqa: PLR2004
        raise UnusableFile(code, str(refused), hint="Name a file inside the workspace.", status=status) from None
    try:
        stamp = _stamp(descriptor)
        _check_size(stamp[1], limits.file_bytes, limits.named("file_bytes"))
        with open(descriptor, "rb", closefd=False) as file:
            digest = file_digest(file, "sha256").hexdigest()
        yield SourceFile(
            descriptor=descriptor, path=file_path, size=stamp[1], sha256=digest, stamp=stamp, limits=limits
        )
    finally:
        os.close(descriptor)


def put_upload(
    workspace: Path,
    file_name: str,
    chunks: Iterable[bytes],
    *,
    random: Callable[[int], bytes],
    max_bytes: int = DEFAULT.file_bytes,
) -> str:
    """Store an upload and return the path that `tool.ingest.upload` takes.

    The name is made up: the given one may hold anything, a customer's name too.

    Raises:
        UnusableFile: `too_large`; nothing is kept.
    """
    suffix = Path(file_name).suffix.lower()
    name = random(12).hex() + (suffix if _SUFFIX.fullmatch(suffix) else "")
    folder = workspace / CONTROL_ROOM / UPLOADS
    disk.make_folder(folder)
    size = 0
    try:
        with open(folder / name, "xb", opener=_private) as file:
            for chunk in chunks:
                size += len(chunk)
                _check_size(size, max_bytes, f"server.max_upload_bytes = {max_bytes:,} bytes")
                file.write(chunk)
    except BaseException:
        (folder / name).unlink(missing_ok=True)
        raise
    return f"{CONTROL_ROOM}/{UPLOADS}/{name}"


def remove_upload(workspace: Path, file_path: str) -> None:
    """Take away what a door put there; other files stay."""
    if _is_upload(file_path):
        with suppress(OSError):
            (workspace / file_path).unlink()


def _check_size(size: int, most: int, limit: str) -> None:
    if size > most:
        hint = f"Split it by month or by department, or raise {limit}."
        raise UnusableFile("too_large", f"The file has more than {most:,} bytes.", hint=hint)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)


def _is_upload(file_path: str) -> bool:
    folder, _, name = file_path.rpartition("/")
    return folder == f"{CONTROL_ROOM}/{UPLOADS}" and _UPLOADED.fullmatch(name) is not None


def _parts(file_path: str) -> Parts:
    return tuple(file_path.split("/")) if _is_upload(file_path) else path_parts(file_path)


def _open(workspace: Path, parts: Parts) -> int:
    """Folder by folder, never through a link."""
    folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = open_folder(folder, part)
            os.close(folder)
            folder = inner
        return open_file(folder, parts[-1])
    finally:
        os.close(folder)


def _stamp(descriptor: int) -> tuple[int, int, int]:
    found = os.fstat(descriptor)
    return found.st_ino, found.st_size, found.st_mtime_ns
