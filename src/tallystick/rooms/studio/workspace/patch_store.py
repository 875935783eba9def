"""Patches, snapshots and history of the workspace, under `.control-room/workspace/`.

patches/<id>.json     one proposal each, with its state
snapshots/ab/<hash>   contents by hash: the base, the proposal, what was replaced
history.jsonl         every applied change, in order

Files are written whole or appended under one lock, so concurrent processes do not corrupt each other's data.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.rooms.studio.workspace.model import GONE, Patch, Version
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile, open_lock

FOLDER = "workspace"
PATCH_ID = re.compile(r"patch_[0-9a-f]{8,64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_DAMAGED = "patch_damaged"


class PatchStore:
    """The folder of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / CONTROL_ROOM / FOLDER

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A lock around reading and changing.

        Raises:
            ConfigError: The folder cannot be written.
        """
        try:
            fd = open_lock(self.folder / "changes")
        except OSError as error:
            raise _unwritable(error) from None
        try:
            disk.lock(fd)
            yield
        finally:
            os.close(fd)

    # -- snapshots ---------------------------------------------------------------------------------------------------

    def keep(self, data: bytes) -> str:
        """Store a content once, and return its hash."""
        digest = sha256(data).hexdigest()
        path = self._snapshot(digest)
        try:
            if not path.exists():
                disk.make_folder(path.parent)
                disk.write_whole(path, data)
        except OSError as error:
            raise _unwritable(error) from None
        return digest

    def content(self, digest: str) -> bytes | None:
        """A stored content; None if it is missing or damaged."""
        if digest == GONE:
            return b""
        if not _SHA256.fullmatch(digest):
            return None
        try:
            data = disk.read_whole(self._snapshot(digest))
        except OSError:
            return None
        return data if data is not None and sha256(data).hexdigest() == digest else None

    def _snapshot(self, digest: str) -> Path:
        return self.folder / "snapshots" / digest[:2] / digest

    # -- patches -----------------------------------------------------------------------------------------------------

    def put(self, patch: Patch) -> None:
        """Write a patch down; only while `locked`."""
        disk.make_folder(self.folder / "patches")
        self._patch_file(patch.patch_id).write(patch.as_dict())

    def patch(self, patch_id: str) -> Patch | None:
        """One patch.

        Raises:
            ConfigError: Its file is damaged.
        """
        if not PATCH_ID.fullmatch(patch_id):
            return None
        file = self._patch_file(patch_id)
        held = file.read()
        return None if held is None else _patch(held, file)

    def patches(self) -> list[Patch]:
        """All patches, the newest first; files that cannot be read are left out."""
        try:
            names = [path.name.removesuffix(".json") for path in (self.folder / "patches").iterdir()]
        except OSError:
            return []
        found: list[Patch] = []
        for name in names:
            with suppress(ConfigError):
                patch = self.patch(name)
                if patch is not None:
                    found.append(patch)
        return sorted(found, key=lambda patch: (patch.created, patch.patch_id), reverse=True)

    def _patch_file(self, patch_id: str) -> JsonFile:
        return JsonFile(self.folder / "patches" / f"{patch_id}.json", code=_DAMAGED)

    # -- history -----------------------------------------------------------------------------------------------------

    def remember(self, versions: list[Version]) -> None:
        """Append to the history; only while `locked`."""
        lines = b"".join(orjson.dumps(version.as_dict()) + b"\n" for version in versions)
        try:
            disk.make_folder(self.folder)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = disk.open_file(self._history, flags, disk.FILE_MODE)
            try:
                # A line that a crash tore must not swallow the next one.
                size = os.fstat(fd).st_size
                torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
                disk.write_all(fd, b"\n" + lines if torn else lines)
                disk.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise _unwritable(error) from None

    def history(self, path: str | None = None) -> list[Version]:
        """The history, newest first, of one file or all. Damaged lines are skipped."""
        try:
            data = disk.read_whole(self._history) or b""
        except OSError as error:
            message = f"history.jsonl cannot be read: {error.strerror or error}. Make it a plain, readable file."
            raise ConfigError(message, code="history_damaged") from None
        found = [version for line in data.splitlines() if (version := _version(line)) is not None]
        return [version for version in reversed(found) if path is None or version.path == path]

    @property
    def _history(self) -> Path:
        return self.folder / "history.jsonl"


def _patch(held: dict[str, Any], file: JsonFile) -> Patch:
    try:
        return Patch(**{name: value for name, value in held.items() if name != "version"})
    except TypeError:
        raise file.damaged("it is not what a patch looks like") from None


def _version(line: bytes) -> Version | None:
    try:
        return Version(**orjson.loads(line))
    except (orjson.JSONDecodeError, TypeError):
        return None


def _unwritable(error: OSError) -> ConfigError:
    message = f"The workspace's own folder cannot be written: {error.strerror or error}. Nothing was changed."
    return ConfigError(message, code="control_room_unwritable")
