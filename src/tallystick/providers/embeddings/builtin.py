"""WordLlama: a text's vector is the mean of its words' vectors. Small, fast, the same on every machine."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "wordllama-256"
"""The model included in the wheel."""
_MISSING = "The built-in vectors need WordLlama: pip install 'tallystick[insight]'"


class StaticWords:
    """The built-in embedding model."""

    backend = "builtin"
    name = MODEL
    at_once = 4_096
    """Texts per call: more gains nothing, fewer leave a core idle."""

    def __init__(self) -> None:
        loaded, self._sparse = _load()
        self._words: NDArray[np.float32] = loaded.embedding
        self._tokenizer: Any = loaded.tokenizer
        # Padding makes every text as long as the longest; the sums below do not need it.
        self._tokenizer.no_padding()
        self.dim = int(self._words.shape[1])

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return unit vectors, one row per text; zeros for a text without words. Rows are independent."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        tokens = [one.ids for one in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]
        ends = np.cumsum([0, *map(len, tokens)])
        words = np.fromiter(chain.from_iterable(tokens), dtype=np.int32, count=int(ends[-1]))
        # The tokenizer may have a few more tokens than there are vectors.
        np.minimum(words, len(self._words) - 1, out=words)
        shape = (len(texts), len(self._words))
        counted = self._sparse.csr_matrix((np.ones(len(words), dtype=np.float32), words, ends), shape=shape)
        sums: NDArray[np.float32] = counted @ self._words
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        np.divide(sums, lengths, out=sums, where=lengths > 0)
        return sums

    def token_vectors(self, texts: Sequence[str]) -> "list[NDArray[np.float32]]":
        """Return one unit vector per token for each text."""
        import numpy as np  # noqa: PLC0415 - as above

        found = []
        for one in self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
            vectors = self._words[np.minimum(np.array(one.ids, dtype=np.int32), len(self._words) - 1)]
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            found.append(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))
        return found


@contextmanager
def _logging_as_it_is() -> Iterator[None]:
    """Restore the logging configuration: importing the package enables logging for the whole program."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _load() -> tuple[Any, Any]:
    try:
        with _logging_as_it_is():
            package: Any = import_module("wordllama")
        sparse: Any = import_module("scipy.sparse")
    except ImportError as error:
        raise ToolError(_MISSING, unavailable=True, hint="pip install 'tallystick[insight]'") from error
    # The package's folder contains weights and tokenizer, so nothing is downloaded.
    return package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True), sparse
