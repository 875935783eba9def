"""What a question needs of a model of words: a port, so that reading works where no such model is installed."""

from collections.abc import Sequence
from typing import Protocol

from tallystick.text.words import Word


class Sense(Protocol):
    """What unknown words mean."""

    def idle(self, text: str, unknown: Sequence[Word]) -> frozenset[int]:
        """Give where the words begin that ask for nothing."""
        ...

    def alike(self, word: str, known: Sequence[str]) -> str | None:
        """The known word that names the same."""
        ...
