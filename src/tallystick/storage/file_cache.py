"""Cache of files that have not changed since they were read."""

import os
from collections import OrderedDict
from threading import Lock

from tallystick.gate.reply.sources import Source

CACHE_CHARS = 64 * 1024 * 1024
"""Maximum characters of cached text: about fifty novels."""
SETTLED_NS = 100_000_000
"""A file changed less than this before it was read may change again without new timestamps."""
COARSE_NS = 2_000_000_000
"""The same for file systems with timestamps in whole seconds."""

Signature = tuple[int, int, int, int, int]


class FileCache:
    """LRU cache of files by name; an entry is valid while the file's signature stays the same."""

    def __init__(self, max_chars: int = CACHE_CHARS) -> None:
        self._max_chars = max_chars
        self._held: OrderedDict[str, tuple[Signature, Source]] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def get(self, path: str, signature: Signature) -> Source | None:
        """Return the cached file if its signature is unchanged, else None."""
        with self._lock:
            held = self._held.get(path)
            if held is None or held[0] != signature:
                return None
            self._held.move_to_end(path)
            return held[1]

    def put(self, path: str, signature: Signature, source: Source) -> None:
        """Cache a file; only for signatures that any later change must alter."""
        with self._lock:
            before = self._held.pop(path, None)
            self._chars += len(source.text) - (len(before[1].text) if before else 0)
            self._held[path] = (signature, source)
            while self._chars > self._max_chars and len(self._held) > 1:
                _, (_, oldest) = self._held.popitem(last=False)
                self._chars -= len(oldest.text)


def signature_of(found: os.stat_result) -> Signature:
    """Return the metadata that changes whenever a file does."""
    # A program cannot set the change time, so resetting the modification time is still detected.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def latest_change(signature: Signature) -> int:
    """Return the latest possible time of a file's last change: its timestamp plus the file system's clock tick."""
    changed = max(signature[3], signature[4])
    return changed + (COARSE_NS if changed % 1_000_000_000 == 0 else SETTLED_NS)


def is_settled(signature: Signature, seen_ns: int) -> bool:
    """Return whether any later change must alter the timestamps: a clock tick has passed since the last change."""
    return seen_ns > latest_change(signature)
