"""Text that an agent wrote itself is no source for what it claims.

An agent could make its own evidence: by a question that the tool repeats, by a note that it reads back, by a file or
an issue that it wrote. So a quote that was found is held against three things:

1. the arguments of the very call whose receipt is cited: a result that repeats them shows nothing;
2. everything the same agent wrote through calls, in whatever session, as the ledger has it (`Writings`);
3. what a room knows the agent wrote in it (`Writings.in_room`): an issue that it opened.

A quote stays good where its source is independent of the agent: the file or result is older than what the agent
wrote, the agent had been shown the words before it wrote them, or a file that the receipt names holds them.

Here folding errs the other way than in `quotes`: case, punctuation, escapes and invisible characters do not count, so
that no spelling turns an agent's own words into somebody else's.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from tallystick.errors import PathRefused
from tallystick.gate.quotes import UNSPACED_CLASS, Folded, find_quote
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.sources import ReceiptBook, Sources
from tallystick.records import record

LONG_ENOUGH = 6
"""Words. So many in a row are the same text; fewer may be a common phrase, and then what stands around them counts."""
NAMED_FILES = 8
"""Files a receipt names that are searched for words which the call was given."""
_MAX_STRINGS = 10_000
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WORD = re.compile(rf"[^\W_{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]")
_SPACE_ESCAPES = frozenset("nrtbf")


@record
class Author:
    """Whose reply is checked: the agent, or whoever calls in this session if no agent is named."""

    session_id: str
    agent: str | None = None
    subject: str | None = None
    """Set where the caller is the agent itself and has no other name, as an MCP client."""


@record
class Written:
    """One text that an agent wrote."""

    seq: int
    """Its place in the ledger."""
    at_ns: int
    words: str
    """As `words_of` gives them."""


class Writings(Protocol):
    """What agents wrote."""

    def holding(self, author: Author, words: str) -> Iterable[Written]:
        """The author's texts that hold these words, the oldest first."""
        ...

    def shown_before(self, author: Author, words: str, written: Written) -> bool:
        """Whether something else had shown the author these words before it wrote them."""
        ...

    def in_room(self, author: Author, tool_id: str | None, words: str) -> bool:
        """Whether the author wrote these words in the room of a tool, by another way than a call."""
        ...


class NothingWritten:
    """For replies that no agent gives: made by rules, from sources that no agent can write."""

    def holding(self, author: Author, words: str) -> Iterable[Written]:
        """Nothing."""
        del author, words
        return ()

    def shown_before(self, author: Author, words: str, written: Written) -> bool:
        """Nothing was."""
        del author, words, written
        return False

    def in_room(self, author: Author, tool_id: str | None, words: str) -> bool:
        """Nothing is."""
        del author, tool_id, words
        return False


NOTHING_WRITTEN = NothingWritten()


@record
class Origin:
    """What a quote is quoted from."""

    path: str | None = None
    """A file or record, by its name."""
    changed_ns: int | None = None
    """The latest time at which the file can have been changed; None: not known."""
    receipt: Receipt | None = None
    named: tuple[str, ...] = ()
    """The files that the receipt names."""


class OwnText:
    """Tells an agent's own words from others', for one reply."""

    def __init__(self, author: Author, writings: Writings, sources: Sources, receipts: ReceiptBook) -> None:
        self._author = author
        self._writings = writings
        self._sources = sources
        self._receipts = receipts

    def holds(self, quote: str, passage: str, origin: Origin) -> bool:
        """Whether a quote that stands in a source is the agent's own.

        Args:
            quote: As found.
            passage: The quote with a little of what stands around it.
            origin: Where it stands.
        """
        words = words_of(quote)
        if not words:
            return False
        if origin.receipt is None:
            return self._written(words, passage, origin)
        own = (
            words in words_of(_said_in(origin.receipt, self._receipts))
            or self._written(words, passage, origin)
            or self._writings.in_room(self._author, origin.receipt.header.get("tool_id"), words)
        )
        return own and not self._stands_in_named_file(quote, origin)

    def _written(self, words: str, passage: str, origin: Origin) -> bool:
        is_long = words.count(" ") > LONG_ENOUGH
        around, path = "", None
        for written in self._writings.holding(self._author, words):
            if not around:
                around, path = words_of(passage).strip(), origin.path and words_of(origin.path)
            if not (is_long or around in written.words or (path and path in written.words)):
                continue
            return not (_is_older(origin, written) or self._writings.shown_before(self._author, words, written))
        return False

    def _stands_in_named_file(self, quote: str, origin: Origin) -> bool:
        for path in origin.named[:NAMED_FILES]:
            try:
                source = self._sources.read(path)
            except PathRefused:
                continue
            if source is not None and (match := find_quote(quote, source.folded)) is not None:
                here = Origin(path=source.path, changed_ns=source.changed_ns)
                return not self.holds(quote, around(source.folded, match.start, match.end), here)
        return False


_CONTEXT = 40
"""Characters around a quote that show whether the passage is the agent's own."""


def around(text: Folded, start: int, end: int) -> str:
    """A passage with a little of what stands around it."""
    return text.text[max(0, start - _CONTEXT) : end + _CONTEXT]


def words_of(text: str) -> str:
    """The words of a text, each between spaces; empty if it has none."""
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(sign for sign in text if sign.isascii() or unicodedata.category(sign) != "Cf")
    words = _WORD.findall(text.casefold())
    return f" {' '.join(words)} " if words else ""


def strings_and_keys(value: Any) -> Iterator[str]:
    """The strings of a JSON value in the order in which they are written, keys of inner objects included."""
    waiting, seen, top = [value], 0, True
    while waiting and seen < _MAX_STRINGS:
        now = waiting.pop()
        if isinstance(now, str):
            seen += 1
            yield now
        elif isinstance(now, dict):
            items = list(now.values()) if top else [part for pair in now.items() for part in pair]
            waiting.extend(reversed(items))
        elif isinstance(now, list):
            waiting.extend(reversed(now))
        top = False


def arguments_text(inputs: Any) -> str:
    """All text of a call's arguments; one text, since a tool may put its arguments together."""
    if isinstance(inputs, dict) and "args" in inputs:
        inputs = inputs["args"]
    return "\n".join(strings_and_keys(inputs))


def _said_in(receipt: Receipt, receipts: ReceiptBook) -> str:
    """What the call of a receipt was given; a report names the call that it reports on."""
    if receipt.header.get("kind") == "report":
        called = receipts.find(str((receipt.header.get("links") or {}).get("outcome")))
        return "" if called is None else arguments_text(called.inputs)
    return arguments_text(receipt.inputs)


def _is_older(origin: Origin, written: Written) -> bool:
    if origin.receipt is not None:
        return origin.receipt.seq < written.seq
    return origin.changed_ns is not None and origin.changed_ns < written.at_ns


def _unescaped(found: re.Match[str]) -> str:
    code, sign = found.groups()
    if code is not None:
        return chr(int(code, 16))
    return " " if sign in _SPACE_ESCAPES else str(sign)
