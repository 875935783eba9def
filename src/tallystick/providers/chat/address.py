"""The base URL of an endpoint: the default of each provider, or the configured one, normalised."""

import re
from urllib.parse import urlsplit

from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

USUAL: dict[str, str | None] = {
    "openai": "https://api.openai.com/v1",
    "azure": None,
    "lmstudio": "http://localhost:1234/v1",
    "ollama": "http://localhost:11434/v1",
    "llamacpp": "http://localhost:8080/v1",
    "vllm": "http://localhost:8000/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Provider → default base URL; None if each customer has their own."""
_VERSION = re.compile(r"v\d[a-z0-9]*")
_ENDS = ("/chat/completions", "/completions", "/models")


def address_of(endpoint: Endpoint) -> str | ModelError:
    """Return the base URL with its version; if it cannot be used, an error that says what to write instead."""
    given = endpoint.base_url or USUAL.get(endpoint.provider)
    if not given:
        return _unusable(f"The provider '{endpoint.provider}' has no usual address. Set base_url for this agent.")
    try:
        parts = urlsplit(given.strip())
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return _unusable("base_url is not a URL. Write it like http://localhost:1234/v1.")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return _unusable("base_url must begin with http:// or https:// and name a host, like http://localhost:1234/v1.")
    if parts.query or parts.fragment or "@" in parts.netloc:
        # A key in a URL would appear in every log that contains the URL.
        return _unusable("base_url holds a query, a fragment or a user. Keys belong in api_key_env or api_key_file.")
    return f"{parts.scheme}://{parts.netloc}{_path(parts.path, endpoint.provider)}"


def is_loopback(address: str) -> bool:
    """Return whether a URL is on this machine, where no proxy is used."""
    host = urlsplit(address).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _path(path: str, provider: str) -> str:
    path = path.rstrip("/")
    for end in _ENDS:
        path = path.removesuffix(end)
    if _VERSION.fullmatch(path.rpartition("/")[2]):
        return path
    # Azure serves the same API under its own path.
    if provider == "azure" and not path.endswith("/openai"):
        path += "/openai"
    return f"{path}/v1"


def _unusable(message: str) -> ModelError:
    return ModelError(code="endpoint_unreachable", message=message)
