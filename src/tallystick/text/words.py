"""The words of a text, their positions, and which of them are content words.

A word is a run of letters and digits, including apostrophes inside it (`don't`) and points and commas between digits
(`3.5`). Words are compared in the form that `fold_word` returns.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tallystick.records import record
from tallystick.text.folding import fold_case, straighten_apostrophes

_WORD = re.compile(r"[^\W_]+(?:(?:['’](?=[^\W\d_])|(?<=\d)[.,](?=\d))[^\W_]+)*")  # noqa: RUF001 - both apostrophes
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_+")
_LIST = Path(__file__).with_name("data") / "stop_words.txt"
_SECTION = re.compile(r"\[(\w+)\]")


@record
class Word:
    """One word and its position in the text."""

    start: int
    end: int
    written: str
    """As it occurs in the text."""
    folded: str
    """The form used for comparison: lower case, straight apostrophes."""


def word_spans(text: str) -> Iterator[Word]:
    """Yield the words of a text with their positions, in order."""
    for found in _WORD.finditer(text):
        written = found.group()
        yield Word(start=found.start(), end=found.end(), written=written, folded=fold_word(written))


def words(text: str) -> list[str]:
    """Return the folded words of a text, in order."""
    return [fold_word(written) for written in _WORD.findall(text)]


def vocabulary(text: str) -> set[str]:
    """Return the different folded words of a text; several times as fast as `words` for a long one."""
    return {fold_word(written) for written in set(_WORD.findall(text))}


def fold_word(word: str) -> str:
    """Return the form of a word used for comparison: lower case, straight apostrophes."""
    return fold_case(straighten_apostrophes(word))


def identifier_words(name: str) -> list[str]:
    """Return the folded words of text that contains identifiers: `orderId` and `order_id` are two words each."""
    return words(_HUMP.sub(" ", name))


def content_words(text: str, *, query: bool = False) -> list[str]:
    """Return the folded content words of a text, in order, with repeats.

    Args:
        text: The text.
        query: Whether it is a request, so that words typical of requests and greetings are left out, too.
    """
    left_out = QUERY_STOP_WORDS if query else STOP_WORDS
    return [word for word in words(text) if word not in left_out and (len(word) > 1 or not word.isalpha())]


def _read_list() -> dict[str, frozenset[str]]:
    listed: dict[str, set[str]] = {}
    section = ""
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if (named := _SECTION.fullmatch(line)) is not None:
            section = named[1]
        elif not line.startswith("#"):
            listed.setdefault(section, set()).update(line.split())
    return {name: frozenset(held) for name, held in listed.items()}


_listed = _read_list()
STOP_WORDS = _listed["function"]
"""Function words: they occur in every text. The only stop-word list; see `data/stop_words.txt`."""
REQUEST_WORDS = _listed["request"]
"""Words typical of requests and greetings."""
QUERY_STOP_WORDS = STOP_WORDS | REQUEST_WORDS
"""Words that are left out of a search query."""
