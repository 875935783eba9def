"""The folder of model files: only whole, verified files have their final name.

A file is written as `NAME.part` under a lock, compared with its checksum, synced and renamed. An interrupted fetch
leaves its `.part`, from which the next one continues.
"""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from tallystick.errors import TallyError
from tallystick.providers.models.manifest import ModelEntry, ModelFile
from tallystick.records import record

FileState = Literal["ok", "missing", "incomplete", "wrong_size", "wrong_checksum"]
Advance = Callable[[int], None]
"""Called with the number of bytes since the last call."""
_BLOCK = 1 << 20


class ModelFileError(TallyError):
    """A model file cannot be fetched or used; the message says what to do."""

    code = "model_file"


@record
class FileCheck:
    """The state of one file of a model."""

    path: str
    state: FileState
    have: int
    """Bytes on disk, of the file or of its unfinished download."""
    size: int


def no_progress(_bytes: int) -> None:
    """Report nothing."""


class ModelStore:
    """The model files of this user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, entry: ModelEntry) -> Path:
        """Return where the model is: its file if it has one, else its folder."""
        folder = self.folder / entry.name
        return folder / entry.files[0].path if len(entry.files) == 1 else folder

    def is_complete(self, entry: ModelEntry) -> bool:
        """Return whether every file is there at its full size; `verify` reads them as well."""
        return all(check.state == "ok" for check in self.sizes(entry))

    def sizes(self, entry: ModelEntry) -> list[FileCheck]:
        """Check every file by its size, which costs no reading."""
        return [self._by_size(entry, file) for file in entry.files]

    def verify(self, entry: ModelEntry, advance: Advance = no_progress) -> list[FileCheck]:
        """Check every file by its checksum."""
        return [self._by_checksum(entry, file, advance) for file in entry.files]

    def remove(self, entry: ModelEntry) -> int:
        """Delete the model's files and unfinished downloads; return the bytes that were freed."""
        freed = 0
        folder = self.folder / entry.name
        with self.locked():
            for path in sorted(folder.rglob("*"), reverse=True):
                if path.is_dir():
                    path.rmdir()
                else:
                    freed += path.stat().st_size
                    path.unlink()
            if folder.exists():
                folder.rmdir()
        return freed

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let one process at a time change the folder.

        Raises:
            ModelFileError: `models_busy`, another process is fetching; `models_unwritable`.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = (self.folder / ".lock").open("w")
        except OSError as error:
            message = f"{self.folder} cannot be written: {error.strerror}. Set models.folder to another folder."
            raise ModelFileError(message, code="models_unwritable") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = "Another process is changing the model files. Wait until it has finished."
                raise ModelFileError(message, code="models_busy") from None
            yield

    @contextmanager
    def receiving(self, entry: ModelEntry, file: ModelFile) -> Iterator[BinaryIO]:
        """Open the file's `.part` for appending; on success verify it and give it its final name.

        Raises:
            ModelFileError: `models_unwritable`, `model_incomplete` or `model_checksum`. What arrived stays for the next
                try, except after a wrong checksum.
        """
        part = self._part(entry, file)
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("ab") as opened:
                yield opened
                opened.flush()
                os.fsync(opened.fileno())
        except OSError as error:
            message = f"{part} cannot be written: {error.strerror}. Free some space, then run the command again."
            raise ModelFileError(message, code="models_unwritable") from None
        self._accept(entry, file, part)

    def received(self, entry: ModelEntry, file: ModelFile) -> int:
        """Return how many bytes of an unfinished download are there."""
        part = self._part(entry, file)
        return part.stat().st_size if part.is_file() else 0

    def discard(self, entry: ModelEntry, file: ModelFile) -> None:
        """Delete an unfinished download."""
        self._part(entry, file).unlink(missing_ok=True)

    def _accept(self, entry: ModelEntry, file: ModelFile, part: Path) -> None:
        have = part.stat().st_size
        if have < file.size:
            message = f"{entry.name}: {file.path} has {have} of {file.size} bytes. Run the command again to continue."
            raise ModelFileError(message, code="model_incomplete")
        if have > file.size or sha256_of(part) != file.sha256:
            part.unlink()
            message = f"{entry.name}: {file.path} does not have the expected checksum. Fetch it from another source."
            raise ModelFileError(message, code="model_checksum")
        part.replace(self._file(entry, file))

    def _by_size(self, entry: ModelEntry, file: ModelFile) -> FileCheck:
        path = self._file(entry, file)
        if not path.is_file():
            have = self.received(entry, file)
            return FileCheck(path=file.path, state="incomplete" if have else "missing", have=have, size=file.size)
        have = path.stat().st_size
        return FileCheck(path=file.path, state="ok" if have == file.size else "wrong_size", have=have, size=file.size)

    def _by_checksum(self, entry: ModelEntry, file: ModelFile, advance: Advance) -> FileCheck:
        check = self._by_size(entry, file)
        if check.state != "ok" or sha256_of(self._file(entry, file), advance) == file.sha256:
            return check
        return FileCheck(path=file.path, state="wrong_checksum", have=check.have, size=file.size)

    def _file(self, entry: ModelEntry, file: ModelFile) -> Path:
        return self.folder / entry.name / file.path

    def _part(self, entry: ModelEntry, file: ModelFile) -> Path:
        path = self._file(entry, file)
        return path.with_name(f"{path.name}.part")


def sha256_of(path: Path, advance: Advance = no_progress) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
            advance(len(block))
    return digest.hexdigest()
