"""A cross-encoder reads the question and a text together: slower and more precise than comparing vectors."""

from collections.abc import Sequence
from typing import Any

from tallystick.providers.embeddings.sentences import folder_of, library_of

MODEL = "ms-marco-MiniLM-L6-v2"
_OWNER = "cross-encoder"


class CrossEncoder:
    """A loaded cross-encoder."""

    backend = "cross-encoder"

    def __init__(self, name: str = MODEL) -> None:
        """Load the model.

        Raises:
            ToolError: The library or the model is not installed.
        """
        self.name = name
        library = library_of("sentence_transformers")
        self._model: Any = library.CrossEncoder(folder_of(name, owner=_OWNER), device="cpu", local_files_only=True)

    def judge(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score how well each text answers the question; higher is better."""
        pairs = [(question, text) for text in texts]
        return [float(score) for score in self._model.predict(pairs, show_progress_bar=False)]
