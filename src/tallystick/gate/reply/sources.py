"""Ports of the reply check: where claims are looked up.

`Sources` provides the files and records that a reply may cite; `storage/files.py` implements it for a workspace folder,
and each plugin (room) adds its own records. `ReceiptBook` provides receipts; the ledger implements it.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import Protocol

from tallystick.gate.quotes import Folded, fold_text, split_lines
from tallystick.gate.record.receipt import Receipt

SHELF_CHARS = 64 * 1024 * 1024
"""Size of the cache of folded texts in characters: about fifty novels."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """The current content of one file."""

    path: str
    """Canonical path, independent of how the file was requested."""
    text: str
    sha256: str
    """Hash of the bytes of the whole file."""
    changed_ns: int | None = None
    """Upper bound of its last modification time in nanoseconds since 1970; None: unknown."""

    @cached_property
    def lines(self) -> list[str]:
        """The lines; line 1 is `lines[0]`, and a final line end does not start another line."""
        lines = split_lines(self.text)
        return lines if lines[-1] else lines[:-1]

    @cached_property
    def folded(self) -> Folded:
        """The text folded for search; cached and shared between sources with the same content."""
        return SHELF.folded(self.sha256, self.text)


def folded(text: str) -> Folded:
    """Fold a text that is not a file (a record, a tool's output); cached for all replies that cite it."""
    return SHELF.folded(sha256_text(text), text)


def sha256_text(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes; lone surrogates, which have no encoding, are replaced by `?`."""
    return sha256(text.encode("utf-8", errors="replace")).hexdigest()


class Sources(Protocol):
    """Port for the files, records and figures that a reply may cite."""

    def read(self, path: str) -> Source | None:
        """Read the file at a path; None if there is none.

        Raises:
            PathRefused: The path lies outside the workspace or is not a regular file.
        """
        ...

    def expand(self, scope: str) -> list[str]:
        """Return the files that a path, folder or glob matches, sorted; empty if there are none.

        Raises:
            PathRefused: As for `read`.
        """
        ...

    def outline(self) -> Source | None:
        """Return the workspace's outline file (the plan of a story), if there is one."""
        ...

    def resolve(self, reference: str) -> str | None:
        """Return the text of a record (`ticket:12`, `ev:3`, `obs:9f`), or None."""
        ...

    def recompute(self, query: str) -> Decimal | None:
        """Return the current result of a query, or None if the query is unknown."""
        ...


class ReceiptBook(Protocol):
    """Port for looking up receipts by id."""

    def find(self, receipt_id: str) -> Receipt | None:
        """Return the receipt if it exists and verifies, else None."""
        ...


class Shelf:
    """Thread-safe LRU cache of folded texts, keyed by the hash of the original text."""

    def __init__(self, max_chars: int = SHELF_CHARS) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._texts: OrderedDict[str, tuple[str, Folded]] = OrderedDict()
        self._lock = Lock()

    def folded(self, key: str, text: str, make: Callable[[str], Folded] = fold_text) -> Folded:
        """Return the folded text, from the cache if present; the text is compared too, because a key may be reused."""
        with self._lock:
            held = self._texts.get(key)
            if held is not None and held[0] == text:
                self._texts.move_to_end(key)
                return held[1]
        made = make(text)
        with self._lock:
            self._put(key, text, made)
        return made

    def _put(self, key: str, text: str, made: Folded) -> None:
        before = self._texts.pop(key, None)
        self._chars += len(text) - (len(before[0]) if before else 0)
        self._texts[key] = (text, made)
        while self._chars > self._max_chars and len(self._texts) > 1:
            _, (oldest, _) = self._texts.popitem(last=False)
            self._chars -= len(oldest)


SHELF = Shelf()
"""The process-wide cache, shared between workspaces, sessions and threads."""
