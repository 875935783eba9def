"""MiniLM (all-MiniLM-L6-v2, int8) on onnxruntime: sentence and token vectors that know their context, without torch.

The model file comes by `tally models fetch minilm-int8`; its packages are the extra `reading`.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL = "minilm-int8"
"""Its name in the manifest of model files, and the id of its vectors."""
MAX_TOKENS = 256
"""The model was trained on texts no longer than this; the rest of a longer one is cut off."""
AT_ONCE = 16
"""Texts per run of the model: more only pads short texts to the length of longer ones."""
_MODULES = ("numpy", "onnxruntime", "tokenizers")


class MiniLm:
    """The loaded model; one thread, safe to share."""

    backend = "minilm"
    name = MODEL
    dim = 384
    at_once = 256

    def __init__(self, folder: Path) -> None:
        """Load the model from the folder of its files.

        Raises:
            ToolError: A package is not installed, or the files are damaged.
        """
        if not can_load():
            message, hint = "MiniLM needs onnxruntime and tokenizers.", "pip install 'tallystick[reading]'"
            raise ToolError(message, unavailable=True, hint=hint)
        runtime: Any = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = runtime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            message = f"The files of {MODEL} cannot be loaded ({type(error).__name__})."
            hint = f"tally models verify {MODEL}, then tally models fetch {MODEL}"
            raise ToolError(message, unavailable=True, hint=hint) from error
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return unit vectors, one row per text: the mean of its tokens' vectors."""
        import numpy as np  # noqa: PLC0415 - the core has no numpy

        made = np.zeros((len(texts), self.dim), dtype=np.float32)
        for at, states in self._states(texts):
            made[at] = states.mean(axis=0)
        return _unit(made)

    def token_vectors(self, texts: Sequence[str]) -> "list[NDArray[np.float32]]":
        """Return one unit vector per token for each text, without those that mark its ends."""
        made: dict[int, NDArray[np.float32]] = {at: _unit(states[1:-1]) for at, states in self._states(texts)}
        return [made[at] for at in range(len(texts))]

    def _states(self, texts: Sequence[str]) -> "Iterator[tuple[int, NDArray[np.float32]]]":
        """Yield the place of each text and the model's output for its tokens, texts of one length together."""
        import numpy as np  # noqa: PLC0415 - as above

        tokens = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        for first in range(0, len(order), AT_ONCE):
            places = order[first : first + AT_ONCE]
            ids = np.zeros((len(places), len(tokens[places[-1]])), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, at in enumerate(places):
                ids[row, : len(tokens[at])] = tokens[at]
                mask[row, : len(tokens[at])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (states,) = self._session.run(None, given)
            yield from ((at, states[row, : len(tokens[at])]) for row, at in enumerate(places))


def can_load() -> bool:
    """Return whether the packages that the model runs on are installed."""
    return all(find_spec(module) is not None for module in _MODULES)


def _unit(vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np  # noqa: PLC0415 - as above

    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    made: NDArray[np.float32] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return made
