"""Owner-only folders and files: created so regardless of the umask; permissions of existing ones are tightened."""

import os
import stat
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077


def private_folder(path: Path) -> None:
    """Create an owner-only folder, or tighten the permissions of an existing one.

    Raises:
        OSError: It cannot be created.
    """
    path.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    _tighten(path, FOLDER_MODE)


def private_file(path: Path) -> None:
    """Create an owner-only file, or tighten an existing one and SQLite's `-wal` and `-shm` files next to it.

    Raises:
        OSError: It cannot be created.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
    for each in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if each.exists():
            _tighten(each, FILE_MODE)


def _tighten(path: Path, mode: int) -> None:
    about = path.stat()
    # Only the owner may change the mode; the system refuses it to others.
    if stat.S_IMODE(about.st_mode) & _OTHERS and about.st_uid == os.geteuid():
        path.chmod(mode)
