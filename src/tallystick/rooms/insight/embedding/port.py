"""What the room needs of models that make vectors; providers satisfy it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def backend(self) -> str:
        """`builtin` or `sentence-transformers`."""
        ...

    @property
    def name(self) -> str:
        """The model's name, as vectors are kept under it."""
        ...

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        ...

    @property
    def at_once(self) -> int:
        """How many texts it likes to be given."""
        ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Unit vectors, a row a text."""
        ...


class Judge(Protocol):
    """Reads a question and texts together."""

    def judge(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, the higher the better."""
        ...


class Models(Protocol):
    """Where models come from."""

    def embedder(self, backend: str | None = None, model_name: str | None = None) -> Embedder:
        """The model that is meant.

        Raises:
            ToolError: There is no such model, or it is not installed.
        """
        ...

    def judge(self) -> Judge:
        """The cross-encoder.

        Raises:
            ToolError: It is not installed.
        """
        ...
