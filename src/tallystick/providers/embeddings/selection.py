"""Select an embedding model by backend and name, and load it once."""

import logging
from importlib.util import find_spec
from threading import Lock

from tallystick.errors import ToolError
from tallystick.providers.embeddings.builtin import MODEL, StaticWords
from tallystick.providers.embeddings.minilm import MODEL as MINILM
from tallystick.providers.embeddings.minilm import MiniLm, can_load
from tallystick.providers.embeddings.sentences import USUAL, CrossEncoder, Sentences
from tallystick.providers.models.manifest import manifest
from tallystick.providers.models.store import ModelStore

Model = MiniLm | StaticWords | Sentences
_DEFAULTS = {"builtin": MODEL, "minilm": MINILM, "sentence-transformers": USUAL}
BACKENDS = tuple(_DEFAULTS)
_FETCH = f"pip install 'tallystick[reading]', then tally models fetch {MINILM}"
_log = logging.getLogger(__name__)
HELD = 2
"""Maximum models in memory: each takes up to some hundred megabytes."""


class Embeddings:
    """The models of one process; loading is slow, so they are cached."""

    def __init__(self, store: ModelStore | None = None) -> None:
        """Load nothing yet.

        Args:
            store: The local model files; None: only models that come with packages.
        """
        self._lock = Lock()
        self._store = store
        self._held: dict[str, Model] = {}
        self._judge: CrossEncoder | None = None

    def for_reading(self) -> "MiniLm | StaticWords | None":
        """Return the best model for retrieval on this machine: MiniLM, else WordLlama; None if there is neither."""
        for name in reading_models(self._store):
            try:
                found = self.embedder(model_name=name)
            except ToolError as error:
                _log.warning("%s cannot be loaded, so retrieval does without: %s", name, error)
            else:
                assert not isinstance(found, Sentences)  # noqa: S101 - for the type checker
                return found
        return None

    def embedder(self, backend: str | None = None, model_name: str | None = None) -> Model:
        """Return a model: a name alone implies its backend, a backend alone its default model.

        Raises:
            ToolError: 400 if there is no such backend or model; or an optional part is not installed.
        """
        backend = backend or next((of for of, name in _DEFAULTS.items() if name == model_name), None)
        backend = backend or ("builtin" if model_name is None else "sentence-transformers")
        if backend not in BACKENDS:
            hint = f"Use one of: {', '.join(BACKENDS)}."
            raise ToolError(f"There is no embedding backend '{backend:.50}'.", status=400, hint=hint)
        name = model_name or _DEFAULTS[backend]
        if backend != "sentence-transformers" and name != _DEFAULTS[backend]:
            hint = f"Its model is {_DEFAULTS[backend]}; others need backend sentence-transformers."
            raise ToolError(f"The backend {backend} has no model '{name:.100}'.", status=400, hint=hint)
        with self._lock:
            held = self._held.pop(name, None) or self._load(backend, name)
            self._held[name] = held
            while len(self._held) > HELD:
                # Evict the least recently used.
                del self._held[next(iter(self._held))]
            return held

    def _load(self, backend: str, name: str) -> Model:
        if backend == "builtin":
            return StaticWords()
        if backend == "sentence-transformers":
            return Sentences(name)
        if self._store is None or not self._store.is_complete(manifest()[MINILM]):
            raise ToolError(f"{MINILM} is not on this machine.", unavailable=True, hint=_FETCH)
        return MiniLm(self._store.path(manifest()[MINILM]))

    def judge(self) -> CrossEncoder:
        """Return the cross-encoder.

        Raises:
            ToolError: It is not installed.
        """
        with self._lock:
            self._judge = self._judge or CrossEncoder()
            return self._judge


def reading_models(store: ModelStore | None) -> list[str]:
    """Return the models that retrieval could use on this machine, the best first; none is loaded."""
    has_minilm = store is not None and can_load() and store.is_complete(manifest()[MINILM])
    has_words = find_spec("wordllama") is not None and find_spec("scipy") is not None
    return [name for name, there in ((MINILM, has_minilm), (MODEL, has_words)) if there]


def reading_grade(store: ModelStore) -> str:
    """Return one line on how retrieval works on this machine, and what would make it better."""
    found = reading_models(store)
    if found[:1] == [MINILM]:
        return f"by words and by meaning ({MINILM})"
    if found:
        return f"by words and by word vectors ({MODEL}); by meaning with: {_FETCH}"
    return f"by words only; by meaning, too, with: {_FETCH}"
