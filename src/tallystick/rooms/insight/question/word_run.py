"""The words of a question in the forms that are compared, and what is found among them."""

import re
from collections.abc import Sequence
from typing import Any

from tallystick.records import record
from tallystick.rooms.insight.query.model import BUCKETS
from tallystick.rooms.insight.question.vocabulary import grammar
from tallystick.text.stems import stem
from tallystick.text.words import Word

_QUOTED = re.compile(r"[\"“”'‘’]([^\"“”'‘’]{2,80})[\"“”'‘’](?![^\W_])")  # noqa: RUF001
_BREAKS = re.compile(r"[,;:.?!()]")
_ASIDE = re.compile(r"\(\s*\d+\s*(?:-|–|to)\s*\d+\s*\)")  # noqa: RUF001 - both dashes
"""`(0-23)`: says in which form the answer is given."""


@record
class Item:
    """Something that the question says, from a word to a word."""

    kind: str
    at: int
    end: int
    value: Any = None
    said: str = ""


class WordRun:
    """The words of a question in the forms that are compared."""

    def __init__(self, text: str, spans: Sequence[Word], folded: Sequence[str]) -> None:
        self.text, self.spans, self.folded = text, spans, folded
        self.stems = [stem(word) for word in folded]
        self.breaks = frozenset(
            at for at in range(1, len(spans)) if _BREAKS.search(text[spans[at - 1].end : spans[at].start])
        )

        marked = [found.span() for found in _ASIDE.finditer(text)]
        self.asides = frozenset(
            at for at, word in enumerate(spans) if any(start <= word.start < end for start, end in marked)
        )
        self.quotes = {found.start(1): found.end(1) for found in _QUOTED.finditer(text)}
        """Where quoted words begin, and where they end."""

    def with_word(self, at: int, word: str) -> "WordRun":
        """The same question with another word at one place."""
        folded = [*self.folded[:at], word, *self.folded[at + 1 :]]
        return WordRun(self.text, self.spans, folded)

    def said(self, at: int, end: int) -> str:
        """The words as they are written."""
        return self.text[self.spans[at].start : self.spans[end - 1].end]

    def bucket(self, at: int) -> str | None:
        """The bucket of time that a word names."""
        word = self.folded[at].removesuffix("s") if at < len(self.folded) else ""
        return word if word in BUCKETS else None

    def percent_after(self, at: int) -> bool:
        """Whether a percent sign follows."""
        end = self.spans[at + 1].start if at + 1 < len(self.spans) else len(self.text)
        return "%" in self.text[self.spans[at].end : end]


def phrase_at(run: WordRun, at: int) -> Item | None:
    """The longest phrase of the grammar that begins at a word."""
    known = grammar()
    for end in range(min(len(run.stems), at + known.longest), at, -1):
        kind = known.phrases.get(tuple(run.stems[at:end]))
        if end == at + 1 and run.folded[at] in known.exact:
            kind = known.exact[run.folded[at]]
        if kind == "refuse" and run.folded[at] == "next" and run.bucket(at + 1) is None:
            return None
        if kind is not None:
            return Item(kind=kind, at=at, end=end, said=run.said(at, end))
    return None
