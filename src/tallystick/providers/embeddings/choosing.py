"""Select an embedding model by backend and name, and load it once."""

from threading import Lock

from tallystick.errors import ToolError
from tallystick.providers.embeddings.builtin import MODEL, StaticWords
from tallystick.providers.embeddings.judging import CrossEncoder
from tallystick.providers.embeddings.sentences import USUAL, Sentences

BACKENDS = ("builtin", "sentence-transformers")
HELD = 2
"""Maximum models in memory: each takes up to some hundred megabytes."""


class Embeddings:
    """The models of one process; loading is slow, so they are cached."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[str, StaticWords | Sentences] = {}
        self._judge: CrossEncoder | None = None

    def embedder(self, backend: str | None = None, model_name: str | None = None) -> StaticWords | Sentences:
        """Return a model: a name alone implies its backend, a backend alone its default model.

        Raises:
            ToolError: 400 if there is no such backend or model; or an optional part is not installed.
        """
        backend = backend or ("builtin" if model_name in {None, MODEL} else "sentence-transformers")
        if backend not in BACKENDS:
            hint = f"Use one of: {', '.join(BACKENDS)}."
            raise ToolError(f"There is no embedding backend '{backend:.50}'.", status=400, hint=hint)
        name = model_name or (MODEL if backend == "builtin" else USUAL)
        if backend == "builtin" and name != MODEL:
            hint = f"The built-in model is {MODEL}; others need backend sentence-transformers."
            raise ToolError(f"The built-in backend has no model '{name:.100}'.", status=400, hint=hint)
        with self._lock:
            held = self._held.pop(name, None) or (StaticWords() if backend == "builtin" else Sentences(name))
            self._held[name] = held
            while len(self._held) > HELD:
                # Evict the least recently used.
                del self._held[next(iter(self._held))]
            return held

    def judge(self) -> CrossEncoder:
        """Return the cross-encoder.

        Raises:
            ToolError: It is not installed.
        """
        with self._lock:
            self._judge = self._judge or CrossEncoder()
            return self._judge
