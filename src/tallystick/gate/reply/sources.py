"""Where claims are checked: the ports of the reply check.

`Sources` gives the files and records that a reply may cite; `storage/files.py` satisfies it for a workspace folder,
rooms add what they keep. `ReceiptBook` gives receipts; the ledger satisfies it.
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
"""Characters of folded text kept for the next reply: some fifty novels."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file as it is now."""

    path: str
    """The one name it has, whichever way it was asked for."""
    text: str
    sha256: str
    """Of the bytes of the whole file."""
    changed_ns: int | None = None
    """The latest time at which it can have been changed, in nanoseconds since 1970; None: not known."""

    @cached_property
    def lines(self) -> list[str]:
        """Line 1 is `lines[0]`; the line end of the last line begins no further one."""
        lines = split_lines(self.text)
        return lines if lines[-1] else lines[:-1]

    @cached_property
    def folded(self) -> Folded:
        """Ready for search; shared between sources with the same content."""
        return SHELF.folded(self.sha256, self.text)


def folded(text: str) -> Folded:
    """A text of no file (a record, a tool's output), folded once for all replies that cite it."""
    return SHELF.folded(sha256_text(text), text)


def sha256_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes; half characters, which have none, count as `?`."""
    return sha256(text.encode("utf-8", errors="replace")).hexdigest()


class Sources(Protocol):
    """What a reply may cite."""

    def read(self, path: str) -> Source | None:
        """The file of that name; None when there is none.

        Raises:
            PathRefused: The path leaves the workspace or names no plain file.
        """
        ...

    def expand(self, scope: str) -> list[str]:
        """The files a path, folder or glob stands for, sorted; empty when there are none.

        Raises:
            PathRefused: As for `read`.
        """
        ...

    def outline(self) -> Source | None:
        """The outline of the story, if there is one."""
        ...

    def resolve(self, reference: str) -> str | None:
        """The text of a record (`ticket:12`, `ev:3`, `obs:9f`), or None."""
        ...

    def recompute(self, query: str) -> Decimal | None:
        """The figure that a query gives now, or None when no room knows the query."""
        ...


class ReceiptBook(Protocol):
    """Receipts by id."""

    def find(self, receipt_id: str) -> Receipt | None:
        """The receipt, if it exists and verifies; else None."""
        ...


class Shelf:
    """Folded texts by the hash of what they are folded from; the least recently used fall off."""

    def __init__(self, max_chars: int = SHELF_CHARS) -> None:
        self._max_chars = max_chars
        self._chars = 0
        self._texts: OrderedDict[str, tuple[str, Folded]] = OrderedDict()
        self._lock = Lock()

    def folded(self, key: str, text: str, make: Callable[[str], Folded] = fold_text) -> Folded:
        """The folded text; the key is only a key, not a promise, so the text is compared as well."""
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
"""One for the process: texts are shared between workspaces, sessions and threads."""
