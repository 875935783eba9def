"""Small projects on disk, and the book in them."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from tallystick.gate.quotes import occurrences
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.storage.files import FileSources


def lay_out(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def shelf_of(root: Path, files: Mapping[str, str | bytes]) -> BookReader:
    return BookReader(FileSources(lay_out(root, files)))


def source(text: str, path: str = "Story/Scenes/SCN-a.md") -> Source:
    return Source(path=path, text=text, sha256=sha256(text.encode()).hexdigest())


def stands(found: Source, line: int, quote: str) -> bool:
    """Whether the reply check would find the quote on that line."""
    return any(match.first_line == line for match in occurrences(quote, found.folded))
