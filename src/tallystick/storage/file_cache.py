"""Files that have been read and have not changed since."""

import os
from collections import OrderedDict
from threading import Lock

from tallystick.gate.reply.sources import Source

CACHE_CHARS = 64 * 1024 * 1024
"""Characters of text kept: some fifty novels."""
SETTLED_NS = 100_000_000
"""A file changed less than this before it was read may change again without its times showing it."""
COARSE_NS = 2_000_000_000
"""The same, on file systems that keep whole seconds."""

Signature = tuple[int, int, int, int, int]


class FileCache:
    """Files by name, valid while their signature stays the same; the least recently used fall off."""

    def __init__(self, max_chars: int = CACHE_CHARS) -> None:
        self._max_chars = max_chars
        self._held: OrderedDict[str, tuple[Signature, Source]] = OrderedDict()
        self._chars = 0
        self._lock = Lock()

    def get(self, path: str, signature: Signature) -> Source | None:
        """The file, if it is still the same."""
        with self._lock:
            held = self._held.get(path)
            if held is None or held[0] != signature:
                return None
            self._held.move_to_end(path)
            return held[1]

    def put(self, path: str, signature: Signature, source: Source) -> None:
        """Keep a file; only for signatures that any later change must alter."""
        with self._lock:
            before = self._held.pop(path, None)
            self._chars += len(source.text) - (len(before[1].text) if before else 0)
            self._held[path] = (signature, source)
            while self._chars > self._max_chars and len(self._held) > 1:
                _, (_, oldest) = self._held.popitem(last=False)
                self._chars -= len(oldest.text)


def signature_of(found: os.stat_result) -> Signature:
    """What changes when a file does."""
    # The change time cannot be set by a program, so a file that was put back to an old time still shows.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def latest_change(signature: Signature) -> int:
    """The latest time at which a file can have been changed: its own, and the clock tick that file systems round by."""
    changed = max(signature[3], signature[4])
    return changed + (COARSE_NS if changed % 1_000_000_000 == 0 else SETTLED_NS)


def is_settled(signature: Signature, seen_ns: int) -> bool:
    """Whether any later change must show in the times: a clock tick has passed since the last one."""
    return seen_ns > latest_change(signature)
