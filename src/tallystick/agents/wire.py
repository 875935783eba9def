"""The JSON form of agents and endpoints, shared by files, HTTP and the command line."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from tallystick.agents.problem import Problem, misfit, text, texts
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.turns.agent import Agent, Endpoint, is_allowed_query

OFFLINE = "offline"
LOCAL = "local"
PROVIDERS = (
    OFFLINE,
    LOCAL,
    "openai",
    "azure",
    "gemini",
    "anthropic",
    "lmstudio",
    "ollama",
    "llamacpp",
    "vllm",
    "openrouter",
)
NEEDS_ADDRESS = frozenset({"azure"})
"""Providers where every customer has their own address."""
ENVELOPE_ONLY = frozenset({"anthropic"})
"""Providers whose native tool calls are not supported."""

AGENT_ID: Mapping[str, Any] = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}

AGENT_FIELDS: dict[str, Mapping[str, Any]] = {
    "agent_id": AGENT_ID,
    "name": text(100, shortest=1),
    "role": {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,63}$"},
    "purpose": text(1000, shortest=1),
    "owns": texts(300, most=50),
    "must_not": texts(300, most=50),
    "evidence_sources": texts(300, most=50),
    "abstain_when": text(1000),
    "tools": texts(128, most=100),
    "enabled": {"type": "boolean"},
}
AGENT_REQUIRED = ("agent_id", "name", "role", "purpose")

ENDPOINT_FIELDS: dict[str, Mapping[str, Any]] = {
    "agent_id": AGENT_ID,
    "provider": {"enum": list(PROVIDERS)},
    "model": text(200, shortest=1),
    "base_url": {"anyOf": [{"type": "null"}, text(1000, shortest=1)]},
    # Only the names of the variable or file; the key is read for each model request and never stored.
    "api_key_env": {"anyOf": [{"type": "null"}, {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,127}$"}]},
    "api_key_file": {"anyOf": [{"type": "null"}, text(4000, shortest=1)]},
    "protocol": {"enum": ["envelope", "native"]},
    "temperature": {"anyOf": [{"type": "null"}, {"type": "number", "minimum": 0, "maximum": 2}]},
    "timeout_s": {"type": "number", "exclusiveMinimum": 0, "maximum": 3600},
    "retries": {"type": "integer", "minimum": 0, "maximum": 10},
    "price_in_microusd": {"type": "integer", "minimum": 0, "maximum": 10**12},
    "price_out_microusd": {"type": "integer", "minimum": 0, "maximum": 10**12},
}
FORMER_NAMES = {"speech": "protocol"}
"""Former names of endpoint fields in older files → current names."""
ENDPOINT_REQUIRED = ("agent_id", "provider", "model")


def agent_from(value: Any) -> Agent | Problem:
    """Parse an agent from its JSON form."""
    problem = misfit(_agent_schema(), value, code="agent_invalid", what="The agent cannot be taken")
    if problem is not None:
        return problem
    lists = {name: tuple(value.get(name, ())) for name in ("owns", "must_not", "evidence_sources", "tools")}
    return Agent(**{**value, **lists})


def agent_wire(agent: Agent) -> dict[str, Any]:
    """Return an agent's JSON form; `tools` only if the agent names its own."""
    wire = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(agent).items()}
    if not agent.tools:
        del wire["tools"]
    return wire


def endpoint_from(value: Any) -> Endpoint | Problem:
    """Parse an endpoint from its current or former JSON form."""
    value = by_present_names(value) if isinstance(value, dict) else value
    problem = misfit(_endpoint_schema(), value, code="endpoint_invalid", what="The endpoint cannot be taken")
    if problem is not None:
        return problem
    endpoint = Endpoint(**value)
    return _address_problem(endpoint) or _protocol_problem(endpoint) or endpoint


def by_present_names(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Rename former field names to current ones; if a field has both names, keep both so that it is refused."""
    renamed = {FORMER_NAMES.get(name, name): value for name, value in fields.items()}
    return renamed if len(renamed) == len(fields) else dict(fields)


def endpoint_wire(endpoint: Endpoint) -> dict[str, Any]:
    """Return an endpoint's JSON form."""
    return asdict(endpoint)


def _address_problem(endpoint: Endpoint) -> Problem | None:
    """Check an endpoint's key source and base URL; None if valid."""
    if endpoint.api_key_env is not None and endpoint.api_key_file is not None:
        message = "Name a variable or a file that holds the key, not both."
        return Problem(code="endpoint_invalid", message=message, pointer="/api_key_file")
    if endpoint.base_url is None:
        if endpoint.provider not in NEEDS_ADDRESS:
            return None
        message = f"{endpoint.provider} has no usual address: give base_url."
        return Problem(code="endpoint_invalid", message=message, pointer="/base_url")
    return None if _is_plain_address(endpoint.base_url, endpoint.provider) else _BAD_ADDRESS


def _protocol_problem(endpoint: Endpoint) -> Problem | None:
    if endpoint.protocol == "envelope" or endpoint.provider not in ENVELOPE_ONLY:
        return None
    message = f"Native tool calls are not supported for {endpoint.provider}: use the protocol envelope."
    return Problem(code="endpoint_invalid", message=message, pointer="/protocol")


def _is_plain_address(url: str, provider: str) -> bool:
    """Return whether a URL is http(s) and has no user info, fragment or query that could contain a key."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    plain = "@" not in parts.netloc and not parts.fragment and is_allowed_query(provider, parts.query)
    return parts.scheme in {"http", "https"} and named and plain


_BAD_ADDRESS = Problem(
    code="endpoint_invalid",
    message="base_url is http://… or https://… with a host, without user, query or fragment "
    "(azure: ?api-version=… is allowed). "
    "A key goes into a variable (api_key_env) or a file (api_key_file).",
    pointer="/base_url",
)


@cache
def _agent_schema() -> CompiledSchema:
    return _closed(AGENT_FIELDS, AGENT_REQUIRED)


@cache
def _endpoint_schema() -> CompiledSchema:
    return _closed(ENDPOINT_FIELDS, ENDPOINT_REQUIRED)


def _closed(fields: Mapping[str, Any], required: tuple[str, ...]) -> CompiledSchema:
    schema = {"type": "object", "additionalProperties": False, "required": list(required), "properties": dict(fields)}
    return compile_schema(schema, closed=True)
