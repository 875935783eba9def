"""Folders and files for their owner alone: made so whatever the umask is, and tightened where an older one is open."""

import os
import stat
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077


def private_folder(path: Path) -> None:
    """Make a folder that nobody else may look into; tighten one that is there.

    Raises:
        OSError: It cannot be made.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    _tighten(path, FOLDER_MODE)


def private_file(path: Path) -> None:
    """Make a file that nobody else may read; tighten one that is there, and SQLite's files beside it.

    Raises:
        OSError: It cannot be made.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if each.exists():
            _tighten(each, FILE_MODE)


def _tighten(path: Path, mode: int) -> None:
    about = path.stat()
    # Somebody else's folder is theirs to change; the system refuses it to us.
    if stat.S_IMODE(about.st_mode) & _OTHERS and about.st_uid == os.geteuid():
        path.chmod(mode)
