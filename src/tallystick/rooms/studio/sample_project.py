"""The sample project that comes with the studio: a short novel of our own, its cards and its outline.

The novel has mistakes in it on purpose, and beside them lines that only look like mistakes. `PLANTED.json` lists both
for the tests of the checks; the list never goes into a copy.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from tallystick.agents.problem import Problem
from tallystick.records import record

TITLE = "A Long Weight"
FOLDERS = ("Compendium", "Story")
"""What an author gets; everything beside these is about the sample, not of it."""
_MARK = "Story/Scenes/SCN-the-half-hundredweight.md"
"""Written last: a folder that holds it was copied to the end."""
_OURS = frozenset({".control-room", "tallystick.toml", "data", "private"})
"""What a workspace has without anything of an author's in it."""


@record
class Copied:
    """The sample in a folder."""

    folder: Path
    written: tuple[str, ...]
    """What was written; nothing where a copy was there already, which stays as its author left it."""


def copy_sample(target: Path) -> Copied | Problem:
    """Copy the sample into a folder.

    An empty folder is filled, an earlier copy is left as it is, and a folder with other things in it is refused:
    nothing is ever written over or mixed with an author's files.
    """
    if target.exists() and not target.is_dir():
        return Problem(code="not_a_folder", message=f"{target} is a file. Give a folder that is empty or not there.")
    if (target / _MARK).is_file():
        return Copied(folder=target, written=())
    if target.is_dir() and any(entry.name not in _OURS for entry in target.iterdir()):
        message = f"{target} has other files in it. Give a folder that is empty or not there."
        return Problem(code="folder_not_empty", message=message)
    texts = dict(sample_files())
    for path in sorted(texts, key=lambda path: (path == _MARK, path)):
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as file:
            file.write(texts[path])
    return Copied(folder=target, written=tuple(sorted(texts)))


def sample_files() -> Iterator[tuple[str, bytes]]:
    """Every file of the sample by its path in the project, with what it holds."""
    for folder in FOLDERS:
        yield from _under(_sample() / folder, folder)


def _sample() -> Traversable:
    return files("tallystick.rooms.studio") / "sample"


def _under(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        inside = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _under(entry, inside)
        else:
            yield inside, entry.read_bytes()
