"""Which files a knowledge base has, without reading them. Links are not followed, hidden files are not documents."""

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tallystick.rooms.desk.kb.reading import kind_of
from tallystick.storage.file_cache import Signature, signature_of
from tallystick.storage.paths import nameable

MAX_FILES = 50_000
MAX_DEPTH = 32


def walk(root: Path) -> dict[str, Signature]:
    """Every file that may be a document → what changes when it does; in order of their names."""
    found: dict[str, Signature] = {}
    for doc, signature in _under(root, "", MAX_DEPTH):
        if len(found) >= MAX_FILES:
            break
        found[doc] = signature
    return dict(sorted(found.items()))


def _under(folder: Path, path: str, depth: int) -> Iterator[tuple[str, Signature]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        # Taken away or closed meanwhile: nothing to list there.
        return
    for entry in listed:
        if entry.name.startswith(".") or not nameable(entry.name):
            continue
        doc = path + unicodedata.normalize("NFC", entry.name)
        if entry.is_dir(follow_symlinks=False):
            if depth > 0:
                yield from _under(Path(entry.path), f"{doc}/", depth - 1)
        elif entry.is_file(follow_symlinks=False) and kind_of(doc) is not None:
            try:
                yield doc, signature_of(entry.stat(follow_symlinks=False))
            except OSError:
                continue
