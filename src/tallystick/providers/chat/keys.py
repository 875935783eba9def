"""The key of an endpoint: from an environment variable, or from a file outside the workspace.

A key is read when it is needed and sent in one header. Error messages only name where the key should be.
"""

from pathlib import Path

from tallystick.settings import key_variable
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

USUAL = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
"""Providers that need a key, and the usual variable."""
NO_KEY = "none"
"""Sent to servers that need no key, because the SDK always sends one."""
_MAX_BYTES = 16_384


def key_of(endpoint: Endpoint, *, workspace: Path | None = None) -> str | ModelError:
    """Return the key to send.

    Args:
        endpoint: The endpoint.
        workspace: Key files inside it are refused: tools can read them.
    """
    if endpoint.api_key_file:
        return _from_file(endpoint.api_key_file, workspace)
    variable = endpoint.api_key_env or USUAL.get(endpoint.provider)
    if variable is None:
        return NO_KEY
    found = _checked(key_variable(variable))
    return found or _missing(f"No usable key in the variable {variable}. Set it to the key of '{endpoint.provider}'.")


def _from_file(name: str, workspace: Path | None) -> str | ModelError:
    path = Path(name).expanduser()
    try:
        whole = path.resolve(strict=True)
        if workspace is not None and whole.is_relative_to(workspace.resolve()):
            return _missing("The key file lies inside the workspace, where tools can read it. Move it elsewhere.")
        with whole.open("rb") as file:
            text = file.read(_MAX_BYTES).decode(errors="replace")
    except OSError as error:
        return _missing(f"The key file cannot be read ({error.strerror}). Check api_key_file.")
    return _checked(text) or _missing("The key file does not hold one line with a key. Check api_key_file.")


def _checked(text: str | None) -> str | None:
    """Return the key if it is valid in a header: a library that refuses one would quote it."""
    key = (text or "").strip()
    return key if key and key.isascii() and key.isprintable() and " " not in key else None


def _missing(message: str) -> ModelError:
    return ModelError(code="key_missing", message=message)
