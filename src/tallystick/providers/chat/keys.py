"""The key of an endpoint: from a variable, or from a file outside the workspace.

A key is read when it is needed and goes into one header. No message names more than the place it should stand in.
"""

from pathlib import Path

from tallystick.settings import key_variable
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

USUAL = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "openrouter": "OPENROUTER_API_KEY"}
"""Providers that want a key, and the variable it usually stands in."""
NO_KEY = "none"
"""What servers that want no key are sent: the SDK always sends one."""
_MAX_BYTES = 16_384


def key_of(endpoint: Endpoint, *, workspace: Path | None = None) -> str | ModelError:
    """The key to send.

    Args:
        endpoint: Whose key.
        workspace: Key files inside it are refused: tools can read what lies there.
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
    """The key, if it can stand in a header: a library that refuses one would quote it."""
    key = (text or "").strip()
    return key if key and key.isascii() and key.isprintable() and " " not in key else None


def _missing(message: str) -> ModelError:
    return ModelError(code="key_missing", message=message)
