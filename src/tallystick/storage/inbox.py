"""The workspaces of a user in which calls were held, so that one command finds all requests.

STATE/inbox/HASH    the path of one workspace
"""

from hashlib import sha256
from pathlib import Path

from tallystick.settings import CONTROL_ROOM
from tallystick.storage.private import private_file, private_folder

FOLDER = "inbox"


def register_workspace(state: Path, workspace: Path) -> None:
    """Remember that calls were held in a workspace.

    Raises:
        OSError: The state folder cannot be written.
    """
    path = state / FOLDER / sha256(str(workspace).encode()).hexdigest()[:24]
    if not path.exists():
        private_folder(path.parent)
        private_file(path)
        path.write_text(str(workspace), encoding="utf-8")


def registered_workspaces(state: Path) -> list[Path]:
    """Return the workspaces in which calls were held and that still exist."""
    found: list[Path] = []
    for path in sorted((state / FOLDER).glob("*")):
        try:
            workspace = Path(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        if workspace.is_absolute() and (workspace / CONTROL_ROOM).is_dir():
            found.append(workspace)
    return sorted(found)
