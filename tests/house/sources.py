"""What the tests of the house read: the modules of the package and the files of the repository."""

import ast
import shutil
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tallystick"
LEFT_BEHIND = {".git", ".venv", "__pycache__", ".hypothesis", "htmlcov", "build", "dist"}
"""What tools make; a copy of the tree without git is read without these and without any `.…_cache`."""


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Every module of the package: its path from the repository's root, and its tree."""
    return tuple(
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in sorted(PACKAGE.rglob("*.py"))
    )


def repository_files() -> list[Path]:
    """Every file that is tracked or would be; all but what tools leave behind when this is not a git checkout."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        command = [git, "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [ROOT / name for name in sorted(filter(None, listed.split("\0"))) if (ROOT / name).is_file()]
    return [path for path in sorted(ROOT.rglob("*")) if path.is_file() and not _left_behind(path)]


def text_of(path: Path) -> str | None:
    """The text of a file; None for a binary one."""
    data = path.read_bytes()
    return None if b"\0" in data else data.decode("utf-8", errors="replace")


def _left_behind(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part in LEFT_BEHIND or part.endswith(("_cache", ".egg-info")) for part in parts)
