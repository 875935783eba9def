"""What a question needs of a model of words: a port, so that reading works where no such model is installed."""

from collections.abc import Sequence
from typing import Protocol

from tallystick.text.words import Word


class Sense(Protocol):
    """What unknown words mean."""

    def idle(self, text: str, unknown: Sequence[Word], columns: frozenset[int], rows: frozenset[int]) -> frozenset[int]:
        """Give where the words begin that ask for nothing.

        Args:
            text: The question.
            unknown: Its words that neither the data nor the grammar know.
            columns: Where words begin that name a column.
            rows: Where words begin that name the tickets.
        """
        ...

    def alike(self, text: str, word: Word, known: Sequence[str]) -> str | None:
        """The known word that names the same as a word of a question."""
        ...
