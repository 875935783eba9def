"""Tracks the values a model saw in a turn and their origin: the user, a field of a result, or free text in a result.

A result is classified by its own structure. A short value that fills a whole field (an id, a sender, a channel in a
list) was set by the tool; prose may have been written by anybody. Structure *inside* a string is never parsed: a file
that contains JSON is still text.

Evaluation is lazy: a turn that only reads pays for keeping the references, no more.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from tallystick.gate.decide.addresses import addresses_in
from tallystick.text.folding import comparable, squeeze
from tallystick.text.stems import stems

PROSE_KEYS = frozenset(
    {
        "body",
        "content",
        "contents",
        "text",
        "message",
        "messages",
        "description",
        "summary",
        "comment",
        "comments",
        "note",
        "notes",
        "review",
        "reviews",
        "snippet",
        "bio",
        "caption",
        "post",
        "reason",
        "feedback",
        "html",
        "markdown",
        "transcript",
        "output",
        "stdout",
        "log",
        "excerpt",
        "quote",
        "question",
        "answer",
        "draft",
        "passage",
        "paragraph",
        "prose",
        "synopsis",
        "report",
    }
)
"""Words in a field's name that mark written text. Such a field is free text, however short."""
LABEL_KEYS = frozenset({"subject", "title", "name", "label", "headline", "topic", "tag", "tags"})
"""Fields with names of things. Anybody may use an address as a name, so an address there is not trusted."""
FIELD_CHARS, FIELD_WORDS = 100, 8
"""A value with more characters or words than this is treated as prose, regardless of its field's name."""
NAME_CHARS = 4
"""Shorter arguments (`1`, `me`, `all`) do not show that the user named a source."""
NUMBER_DIGITS = 3
"""Numbers with fewer digits occur in any text by chance."""
RUN = 6
"""This many equal words in a row count as a copy, not a coincidence."""
LONG = 8
"""Values with at least this many letters and digits also match with punctuation, spaces and word boundaries ignored."""
HEARD_CHARS = 250_000
"""Characters read per result. A model is shown only the beginning, far less than this; the rest cannot mislead it."""

KEY_ITSELF = frozenset({"key"})

_NUMBER = re.compile(r"(?<![\w.,-])[-+]?\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[\w.:+-]{1,64}")
_JOINTS = frozenset(".-@/_:")


class ProvenanceTracker:
    """The user texts and tool results of one turn.

    Each step adds its results. They are analysed when first needed, so a query changes private state, but never the
    answer to another query.
    """

    def __init__(self, user_texts: Iterable[str]) -> None:
        self._said = [plain(text) for text in user_texts]
        self._said_squeezed = [squeezed(text) for text in self._said]
        self._said_words = {word for text in self._said for word in _WORD.findall(text)}
        self._said_stems: frozenset[str] | None = None
        self._waiting: list[tuple[Any, Any]] = []
        self._fields: set[str] = set()
        self._address_fields: set[str] = set()
        self._field_words: set[str] = set()
        self._named_fields: set[str] = set()
        self._numbers: set[float] = {number for text in self._said for number in numbers_in(text)}
        self._free: list[FreeText] = []
        self.anything = False
        """Whether any result was added; before that, the model has seen only its prompt."""

    def add(self, result: Any, args: Any = None) -> None:
        """Add a result.

        Args:
            result: Plain JSON as returned by the tool.
            args: Arguments of the call. They show whether the user named this source; and a value that the tool
                merely repeats from its arguments does not count as the tool's.
        """
        if result is not None:
            self.anything = True
            self._waiting.append((result, args))

    def said(self, value: str) -> bool:
        """Whether the user's texts contain this as a whole word or phrase."""
        return any(stands(text, value) for text in self._said)

    def said_stems(self) -> frozenset[str]:
        """Return the stems of the words in the user's texts."""
        if self._said_stems is None:
            self._said_stems = frozenset(stem for text in self._said for stem in stems(text))
        return self._said_stems

    def said_squeezed(self, value: str) -> bool:
        """Whether the user's texts contain this in any grouping (`GB29 NWBK …`)."""
        return any(squeezed(value) in text for text in self._said_squeezed)

    def is_field(self, value: str, *, address: bool) -> bool:
        """Whether a tool returned exactly this as a field."""
        self._listen()
        return value in (self._address_fields if address else self._fields)

    def is_known_number(self, value: float) -> bool:
        """Whether this number occurs in the user's texts or in a field of a result."""
        self._listen()
        return float(value) in self._numbers

    def is_composed(self, value: str) -> bool:
        """Whether this consists of several words, each from the user's texts or a field."""
        self._listen()
        words = _WORD.findall(value)
        return len(words) > 1 and all(word in self._said_words or word in self._field_words for word in words)

    def in_free_text(self, value: str) -> bool:
        """Whether this occurs in free text."""
        self._listen()
        return any(text.holds(value) for text in self._free)

    def number_in_free_text(self, value: float) -> bool:
        """Whether this number occurs in free text."""
        self._listen()
        return any(float(value) in text.numbers for text in self._free)

    def copied(self, value: str, *, unnamed_only: bool) -> bool:
        """Whether this occurs in free text, or shares with it a run of `RUN` words that is not in the user's texts.

        Args:
            value: An argument.
            unnamed_only: Ignore sources that the user named.
        """
        self._listen()
        texts = [text for text in self._free if not (unnamed_only and text.named)]
        if any(text.holds(value) for text in texts):
            return True
        runs = runs_of(value)
        for said in self._said:
            runs -= runs_of(said)
        return any(not runs.isdisjoint(text.runs) for text in texts)

    def _listen(self) -> None:
        waiting, self._waiting = self._waiting, []
        for result, args in waiting:
            own = {plain(text) for _, _, text in leaves(args) if isinstance(text, str)}
            named, left = self._is_named(own), HEARD_CHARS
            for pointer, key, leaf in leaves(result, keys=True):
                if isinstance(leaf, str) and left > 0:
                    # A result that is a single string has no field name: unless it is one token, treat it as prose.
                    name = words_of(key) if pointer or _TOKEN.fullmatch(leaf) else PROSE_KEYS
                    self._hear(leaf[:left], name, own, named=named)
                    left -= len(leaf)
                elif isinstance(leaf, int | float) and not isinstance(leaf, bool):
                    self._numbers.add(float(leaf))

    def _is_named(self, own: set[str]) -> bool:
        """Whether the user named this source: an argument occurs in the user's texts or a field of a named source."""
        return any(len(text) >= NAME_CHARS and (text in self._named_fields or self.said(text)) for text in own)

    def _hear(self, leaf: str, key: frozenset[str], own: set[str], *, named: bool) -> None:
        text = plain(leaf)
        if not text or text in own:
            return
        prose = "\n" in leaf or is_prose(text, key)
        if prose or " " in text:
            # A field of several words is trusted as a whole, but its parts are free text.
            self._free.append(FreeText(text, named=named))
        if prose:
            return
        self._fields.add(text)
        self._field_words.update(_WORD.findall(text))
        self._numbers.update(numbers_in(text))
        if named:
            self._named_fields.add(text)
        if key and not key & LABEL_KEYS:
            self._address_fields.add(text)


class FreeText:
    """One piece of free text; derived forms are computed on first use."""

    __slots__ = ("_numbers", "_runs", "_squeezed", "named", "text")

    def __init__(self, text: str, *, named: bool) -> None:
        self.text = text
        self.named = named
        self._squeezed: str | None = None
        self._numbers: frozenset[float] | None = None
        self._runs: set[tuple[str, ...]] | None = None

    def holds(self, value: str) -> bool:
        """Whether the text contains the value; a long one also with other grouping or punctuation."""
        if stands(self.text, value):
            return True
        tight = squeezed(value)
        if len(tight) < LONG:
            return False
        if self._squeezed is None:
            self._squeezed = squeezed(self.text)
        return tight in self._squeezed

    @property
    def numbers(self) -> frozenset[float]:
        """The numbers in the text."""
        if self._numbers is None:
            self._numbers = frozenset(numbers_in(self.text))
        return self._numbers

    @property
    def runs(self) -> set[tuple[str, ...]]:
        """All runs of `RUN` words in the text."""
        if self._runs is None:
            self._runs = runs_of(self.text)
        return self._runs


def is_prose(text: str, key: frozenset[str]) -> bool:
    """Whether this may be text that somebody wrote, rather than a field set by a tool."""
    if key & PROSE_KEYS or len(text) > FIELD_CHARS or text.count(" ") >= FIELD_WORDS:
        return True
    return any(address != text for address in addresses_in(text))


def plain(text: str) -> str:
    """Normalize for comparison: compatibility forms, case, invisible characters, percent-encoding, white space."""
    return squeeze(comparable(unquote(text) if "%" in text else text))


def squeezed(text: str) -> str:
    """Keep letters and digits only."""
    return "".join(filter(str.isalnum, text))


def words_of(name: str | None) -> frozenset[str]:
    """Split a field's name (`userEmail`, `user_email`) into words; None: the value is itself an object key."""
    if name is None:
        return KEY_ITSELF
    return frozenset(re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+", " ", name).casefold().split())


def numbers_in(text: str) -> Iterator[float]:
    """Yield the numbers of a text that have at least `NUMBER_DIGITS` digits."""
    for found in _NUMBER.findall(text):
        bare = found.replace(",", "")
        if sum(map(str.isdigit, bare)) >= NUMBER_DIGITS:
            yield float(bare)


def runs_of(text: str) -> set[tuple[str, ...]]:
    """Return all runs of `RUN` words."""
    words = _WORD.findall(text)
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def stands(text: str, value: str) -> bool:
    """Whether a text contains a value as a whole: not `ob@example.co` in `bob@example.com`."""
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not _joined(text[max(0, at - 2) : at][::-1], value[:1]) and not _joined(text[end : end + 2], value[-1:]):
            return True
        at = text.find(value, at + 1)
    return False


def _joined(beside: str, edge: str) -> bool:
    """Whether the adjacent characters continue the word at this edge; `beside` starts next to the value."""
    if not beside or not edge.isalnum():
        return False
    return beside[0].isalnum() or (beside[0] in _JOINTS and len(beside) > 1 and beside[1].isalnum())


def leaves(value: Any, *, keys: bool = False) -> Iterator[tuple[str, str | None, Any]]:
    """Yield (JSON pointer, nearest key, leaf) for every leaf; with `keys`, also (pointer, None, key) for every key."""
    # An explicit stack, since a result may be nested deeper than the recursion limit.
    waiting: list[tuple[str, str, Any]] = [("", "", value)]
    while waiting:
        pointer, key, item = waiting.pop()
        if isinstance(item, Mapping):
            below = [(f"{pointer}/{_escaped(name)}", str(name), inner) for name, inner in item.items()]
            if keys:
                yield from ((where, None, name) for where, name, _ in below)
            waiting.extend(reversed(below))
        elif isinstance(item, list | tuple):
            waiting.extend((f"{pointer}/{place}", key, item[place]) for place in range(len(item) - 1, -1, -1))
        else:
            yield pointer, key, item


def _escaped(name: object) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")
