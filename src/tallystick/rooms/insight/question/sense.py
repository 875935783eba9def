"""The port for a model of word meanings, so that questions can be read without such a model."""

from collections.abc import Sequence
from typing import Protocol

from tallystick.text.words import Word


class Sense(Protocol):
    """Interprets unknown words."""

    def idle(self, text: str, unknown: Sequence[Word], columns: frozenset[int], rows: frozenset[int]) -> frozenset[int]:
        """Return the positions of the words that do not affect the query.

        Args:
            text: The question.
            unknown: The words unknown to both data and grammar.
            columns: The positions of words that name a column.
            rows: The positions of words that mean the tickets.
        """
        ...

    def alike(self, text: str, word: Word, known: Sequence[str]) -> str | None:
        """The known word with the same meaning as a word of a question."""
        ...
