"""Locate the weights of a local model."""

from importlib.util import find_spec
from pathlib import Path

from tallystick.providers.models.manifest import manifest
from tallystick.providers.models.store import ModelStore
from tallystick.turns.model import ModelError

DEFAULT_MODEL = "qwen2.5-coder-1.5b"
RUNTIME = "xllamacpp"


def weights_of(model: str, store: ModelStore) -> Path | ModelError:
    """Return the weights file: from a path to a `.gguf` file, or of a fetched model by name."""
    found = _own_file(model) if model.endswith(".gguf") else _fetched(model, store)
    if isinstance(found, Path) and find_spec(RUNTIME) is None:
        message = "Local models need llama.cpp: pip install 'tallystick[local]'"
        return ModelError(code="provider_not_installed", message=message)
    return found


def _own_file(path: str) -> Path | ModelError:
    own = Path(path).expanduser()
    return own if own.is_file() else _unknown("There is no file at the path that 'model' names. Check the path.")


def _fetched(model: str, store: ModelStore) -> Path | ModelError:
    entry = manifest().get(model)
    if entry is None or entry.purpose != "chat":
        known = ", ".join(sorted(each.name for each in manifest().values() if each.purpose == "chat"))
        return _unknown(f"There is no local model '{model:.80}'. Use {known}, or a path to a .gguf file.")
    if not store.is_complete(entry):
        message = f"The model is not on this machine: tally models fetch {entry.name}"
        return ModelError(code="provider_not_installed", message=message)
    return store.path(entry)


def _unknown(message: str) -> ModelError:
    return ModelError(code="model_unknown", message=message)
