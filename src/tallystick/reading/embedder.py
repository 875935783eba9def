"""The port of an embedding model: texts become vectors whose directions say how near their meanings are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A loaded embedding model."""

    @property
    def name(self) -> str:
        """The model's id; vectors of different models are never compared."""

    @property
    def dim(self) -> int:
        """The length of its vectors."""

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return one unit vector per text, as rows; zeros for a text without words."""

    def token_vectors(self, texts: Sequence[str]) -> "list[NDArray[np.float32]]":
        """Return, for each text, one unit vector per token, as rows."""
