"""Where an endpoint is, and the key it takes.

The base URL is the provider's default or the configured one, normalised. The key comes from an environment variable or
from a file outside the workspace; it is read when it is needed and sent in one header. Error messages only name where
the key should be.
"""

import re
from pathlib import Path
from urllib.parse import quote, urlsplit

from tallystick.settings import key_variable
from tallystick.turns.agent import Endpoint, is_allowed_query
from tallystick.turns.model import ModelError

USUAL_ADDRESSES: dict[str, str | None] = {
    "openai": "https://api.openai.com/v1",
    "azure": None,
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "anthropic": "https://api.anthropic.com/v1",
    "lmstudio": "http://localhost:1234/v1",
    "ollama": "http://localhost:11434/v1",
    "llamacpp": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Provider → default base URL; None if each customer has their own."""
_VERSION = re.compile(r"v\d[a-z0-9]*")
_ENDS = ("/chat/completions", "/completions", "/messages", "/models")


def address_of(endpoint: Endpoint) -> str | ModelError:
    """Return the base URL with its version and Azure's query; if unusable, an error that says what to write."""
    given = endpoint.base_url or USUAL_ADDRESSES.get(endpoint.provider)
    if not given:
        return _unusable(f"The provider '{endpoint.provider}' has no usual address. Set base_url for this agent.")
    try:
        parts = urlsplit(given.strip())
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return _unusable("base_url is not a URL. Write it like http://localhost:1234/v1.")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return _unusable("base_url must begin with http:// or https:// and name a host, like http://localhost:1234/v1.")
    if parts.fragment or "@" in parts.netloc or not is_allowed_query(endpoint.provider, parts.query):
        # A key in a URL would appear in every log that contains the URL.
        return _unusable("base_url holds a query, a fragment or a user. Keys belong in api_key_env or api_key_file.")
    path = _path(parts.path, endpoint, dated=bool(parts.query))
    if endpoint.provider == "azure" and "/deployments/" in path and not parts.query:
        return _unusable("The address of an Azure deployment needs its version: add ?api-version=… to base_url.")
    return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{parts.query}" if parts.query else "")


def is_loopback(address: str) -> bool:
    """Return whether a URL is on this machine, where no proxy is used."""
    host = urlsplit(address).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _path(path: str, endpoint: Endpoint, *, dated: bool) -> str:
    path = path.rstrip("/")
    for end in _ENDS:
        path = path.removesuffix(end)
    # The version need not be last: Gemini's is /v1beta/openai.
    versioned = any(map(_VERSION.fullmatch, path.split("/")))
    if endpoint.provider == "azure" and not versioned:
        return _azure_path(path, endpoint.model, dated=dated)
    if endpoint.provider == "gemini" and not path.endswith("/openai"):
        return f"{path}/openai" if versioned else f"{path}/v1beta/openai"
    return path if versioned else f"{path}/v1"


def _azure_path(path: str, deployment: str, *, dated: bool) -> str:
    """Return the path of Azure's current API, or with an API version that of the deployment."""
    if "/deployments/" in path:
        return path
    path = path.removesuffix("/openai") + "/openai"
    return f"{path}/deployments/{quote(deployment, safe='')}" if dated else f"{path}/v1"


def _unusable(message: str) -> ModelError:
    return ModelError(code="endpoint_unreachable", message=message)


USUAL_KEYS = {
    "openai": "OPENAI_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
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
    variable = endpoint.api_key_env or USUAL_KEYS.get(endpoint.provider)
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
