"""Stems: the form that the inflections of a word share (`walked`, `walking`, `walks` → `walk`).

Suffixes are removed by the Snowball stemmer for English; irregular forms come from `data/irregular_forms.txt`. Words of
scripts without spaces are cut into pairs of characters.

`VERSION` changes whenever the stem of any word may change: an index that stores stems keeps it and is built again when
it differs.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from tallystick.text.folding import UNSPACED_CLASS
from tallystick.text.words import STOP_WORDS, words

VERSION = "english-1"
MAX_WORD = 48
"""Maximum characters of a word; longer runs are keys and addresses, and are cut so that an index stays small."""

_CONTRACTION = re.compile(r"'(?:s|t|re|ve|ll|d|m)?$")
_UNSPACED = re.compile(f"[{UNSPACED_CLASS}]")
_FORMS = Path(__file__).with_name("data") / "irregular_forms.txt"
_lock = Lock()


def stems(text: str, *, stop_words: bool = True) -> list[str]:
    """Return the stems of a text, in order, with repeats.

    Args:
        text: The text.
        stop_words: Whether stop words are kept.
    """
    found = words(text)
    if not stop_words:
        found = [word for word in found if word not in STOP_WORDS]
    return list(stem_all(found))


def stem_all(folded: Iterable[str]) -> Iterator[str]:
    """Yield the stems of folded words; a word of a script without spaces yields its pairs of characters."""
    for word in folded:
        if word.isascii() or _UNSPACED.search(word) is None:
            yield stem(word)
        elif len(word) == 1:
            yield word
        else:
            yield from (word[at : at + 2] for at in range(min(len(word), MAX_WORD) - 1))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a folded word."""
    word = _CONTRACTION.sub("", word)[:MAX_WORD]
    word = _irregular().get(word, word)
    if not word.isascii() or not word.isalpha():
        return word
    # The stemmer object holds the word it works on, so only one thread at a time may use it.
    with _lock:
        return str(_snowball().stemWord(word))


@cache
def _snowball() -> Any:
    # The package loads the stemmers of thirty languages, a tenth of a second that only the first stem should cost.
    from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]  # noqa: PLC0415

    return EnglishStemmer()


@cache
def _irregular() -> dict[str, str]:
    rows = [line.split() for line in _FORMS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {form: row[0] for row in rows for form in row[1:]}
