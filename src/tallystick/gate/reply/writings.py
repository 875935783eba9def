"""Word index of what each agent wrote, read from the ledger: the arguments of its calls that may change something.

A call that may change something leaves a `started` record with its arguments before it runs. The index reads these
records once per author and then incrementally. To keep checks fast, everything is bounded:

- the first lookup for an author reads the latest `LOOK_BACK` records and parses only the author's;
- a later lookup reads only the records appended since;
- the cache keeps the latest `MAX_CHARS` of each author's text and the `MAX_AUTHORS` most recently used authors;
- whether the author had been shown words before writing them is searched in the `SHOWN_BACK` preceding records, only
  for words that the author did write, and cached.
"""

from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import datetime
from threading import Lock
from typing import Any, Protocol

import orjson

from tallystick.gate.record.quotable import strings_in
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.own_text import Author, Written, arguments_text, words_of

LOOK_BACK = 200_000
"""Records; reading them takes about a second."""
SHOWN_BACK = 5_000
MAX_CHARS = 8 * 1024 * 1024
MAX_AUTHORS = 64
_REMEMBERED = 4_096
_STARTED, _ERASURE = b'"kind":"started"', b'"kind":"erasure"'
_SHOWING = (b'"kind":"outcome"', b'"kind":"report"', b'"kind":"reply_check"')

MayWrite = Callable[[str | None], bool]
"""Whether the tool with this version may change something; assumed for unknown versions."""
RoomTexts = Callable[[str, str], Iterator[str]]
"""(agent, tool) → texts that the agent wrote in the plugin (room) that the tool belongs to, but not through
tool calls, such as issues."""


class Log(Protocol):
    """The part of the ledger that the index reads."""

    def size(self) -> int:
        """Return the number of records."""
        ...

    def select(self, start: int, wanted: Callable[[bytes], bool]) -> Iterator[Receipt]:
        """Yield the receipts from a sequence number on that verify and whose header bytes satisfy `wanted`."""
        ...


class LedgerWritings:
    """Everything agents wrote through calls; implements `Writings` and is thread-safe."""

    def __init__(self, log: Log, *, may_write: MayWrite, room_texts: RoomTexts) -> None:
        """Create the index without reading any records.

        Args:
            log: The ledger.
            may_write: Whether a tool may change something, as opposed to only reading.
            room_texts: Texts that an agent wrote in a room other than through tool calls.
        """
        self._log = log
        self._may_write = may_write
        self._room_texts = room_texts
        self._authors: OrderedDict[Author, _Texts] = OrderedDict()
        self._shown: OrderedDict[tuple[Author, str, int], bool] = OrderedDict()
        self._lock = Lock()

    def holding(self, author: Author, words: str) -> list[Written]:
        """Return the author's texts that contain these words, oldest first."""
        with self._lock:
            return self._current(author).holding(words)

    def shown_before(self, author: Author, words: str, written: Written) -> bool:
        """Whether a tool result or a cited source had shown the author these words before it wrote them."""
        key = (author, words, written.seq)
        with self._lock:
            known = self._shown.get(key)
        if known is None:
            known = any(words in shown for shown in self._shown_to(author, words, written.seq))
            with self._lock:
                self._shown[key] = known
                if len(self._shown) > _REMEMBERED:
                    self._shown.popitem(last=False)
        return known

    def in_room(self, author: Author, tool_id: str | None, words: str) -> bool:
        """Whether the author wrote these words in the room that the tool belongs to, but not through a tool call."""
        if author.agent is None or tool_id is None:
            return False
        return any(words in words_of(text) for text in self._room_texts(author.agent, tool_id))

    def _current(self, author: Author) -> "_Texts":
        """Return the author's texts, updated with the records appended since the last lookup."""
        texts, end = self._authors.get(author), self._log.size()
        if texts is None or not self._follow(author, texts, end):
            texts = self._authors[author] = _Texts(max(0, end - LOOK_BACK))
            self._follow(author, texts, end)
            if len(self._authors) > MAX_AUTHORS:
                self._authors.popitem(last=False)
        self._authors.move_to_end(author)
        return texts

    def _follow(self, author: Author, texts: "_Texts", end: int) -> bool:
        """Add new records; False: something was erased, so everything must be read again."""
        if end <= texts.scanned:
            return end == texts.scanned
        first = texts.scanned == texts.since
        is_by = _header_filter(author)

        def wanted(header: bytes) -> bool:
            return _ERASURE in header or (_STARTED in header and is_by(header))

        for receipt in self._log.select(texts.scanned, wanted):
            if receipt.seq >= end:
                break
            if receipt.header["kind"] == "erasure":
                if not first:
                    self._shown.clear()
                    return False
            elif _is_by(author, receipt.header) and self._may_write(receipt.header.get("tool_version")):
                texts.add(_written(receipt))
        texts.scanned = end
        return True

    def _shown_to(self, author: Author, words: str, before: int) -> Iterator[str]:
        is_by = _header_filter(author)

        def wanted(header: bytes) -> bool:
            return is_by(header) and any(kind in header for kind in _SHOWING)

        for receipt in self._log.select(max(0, before - SHOWN_BACK), wanted):
            if receipt.seq >= before:
                return
            # A result that only repeats the call's arguments showed the author nothing new.
            if _is_by(author, receipt.header) and words not in words_of(arguments_text(receipt.inputs)):
                yield from map(words_of, _results(receipt))


class _Texts:
    """The texts of one author."""

    def __init__(self, since: int) -> None:
        self.since = self.scanned = since
        self._texts: list[Written | None] = []
        self._places: dict[str, array[int]] = {}
        self._chars = 0
        self._dropped = 0

    def add(self, written: Written) -> None:
        self._chars += len(written.words)
        for word in dict.fromkeys(written.words.split()):
            self._places.setdefault(word, array("I")).append(len(self._texts))
        self._texts.append(written)
        while self._chars > MAX_CHARS and self._dropped < len(self._texts) - 1:
            oldest = self._texts[self._dropped]
            self._chars -= len(oldest.words) if oldest else 0
            self._texts[self._dropped] = None
            self._dropped += 1

    def holding(self, words: str) -> list[Written]:
        # Every match contains the rarest word, so only the texts with that word are searched.
        places = [self._places.get(word) for word in words.split()]
        if not places or None in places:
            return []
        rarest = min((found for found in places if found is not None), key=len)
        texts = (self._texts[place] for place in rarest)
        return [text for text in texts if text is not None and words in text.words]


def _header_filter(author: Author) -> Callable[[bytes], bool]:
    """Return a fast prefilter on header bytes (sorted keys, no white space); `_is_by` makes the final decision."""
    marks = [b'"session_id":' + orjson.dumps(author.session_id)]
    if author.agent is not None:
        marks = [b'"agent_id":' + orjson.dumps(author.agent)]
    if author.subject is not None:
        marks.append(b'"subject":' + orjson.dumps(author.subject))
    return lambda header: any(mark in header for mark in marks)


def _is_by(author: Author, header: Any) -> bool:
    agent = header.get("agent_id")
    if author.subject is not None and agent is None:
        caller = header.get("caller") or {}
        return caller.get("channel") == "mcp" and caller.get("subject") == author.subject
    if author.agent is not None:
        return bool(agent == author.agent)
    return bool(header.get("session_id") == author.session_id)


def _written(receipt: Receipt) -> Written:
    at = datetime.fromisoformat(receipt.header["timestamp"])
    return Written(
        seq=receipt.seq, at_ns=int(at.timestamp() * 1_000_000) * 1_000, words=words_of(arguments_text(receipt.inputs))
    )


def _results(receipt: Receipt) -> Iterator[str]:
    """Yield the texts that a record showed: a call's result, or the verified excerpts of an accepted reply."""
    status = (receipt.header.get("outcome") or {}).get("status")
    if receipt.header["kind"] != "reply_check":
        if status != "rejected":
            yield from strings_in(receipt.outputs)
        return
    items = receipt.outputs.get("items") if isinstance(receipt.outputs, dict) and status == "accepted" else None
    yield from (item["excerpt"] for item in items or () if item.get("ok") and "excerpt" in item)
