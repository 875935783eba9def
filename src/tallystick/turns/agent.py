"""Records of an agent and its endpoint, as stored in the registries."""

import re
from typing import Literal

from tallystick.records import record

CHIEF = "assistant"
"""The id of the Chief of Staff; exactly one always exists."""

_API_VERSION = re.compile(r"api-version=[0-9A-Za-z.-]{1,40}")

EvidenceKind = Literal["content", "structural", "absence"]


@record
class Agent:
    """A role that a model plays."""

    agent_id: str
    name: str
    role: str
    """`assistant`, `planner`, `writer`, `editor`, `critic`, `continuity`, or a role defined by the project."""
    purpose: str
    owns: tuple[str, ...] = ()
    """What the agent is responsible for."""
    must_not: tuple[str, ...] = ()
    evidence_sources: tuple[str, ...] = ()
    """Path prefixes the agent may cite; empty: any file of the workspace."""
    abstain_when: str = ""
    tools: tuple[str, ...] = ()
    """The only tools the agent is offered; empty: those that the rooms name for its role, and the user's own."""
    enabled: bool = True


@record
class Endpoint:
    """How to reach an agent's model; it never contains keys, only the variable or file that holds one."""

    agent_id: str
    provider: str
    """`offline`, `local`, or the provider of an endpoint: `openai`, `anthropic`, `ollama`, …."""
    model: str
    base_url: str | None = None
    """With or without its version; None: the provider's default address."""
    api_key_env: str | None = None
    api_key_file: str | None = None
    """Path outside the workspace."""
    protocol: Literal["envelope", "native"] = "envelope"
    """How the model calls tools: as JSON text, or with the API's native tool calls."""
    temperature: float | None = None
    timeout_s: float = 120.0
    retries: int = 2
    price_in_microusd: int = 0
    """Per million input tokens; if both are 0, the price table applies."""
    price_out_microusd: int = 0

    @property
    def key(self) -> str:
        """The key for serialising turns and for caching the server's observed capabilities."""
        return f"{self.provider}|{self.base_url or ''}|{self.model}"


def is_allowed_query(provider: str, query: str) -> bool:
    """Return whether a base URL may have this query: none, or Azure's API version. Any other could contain a key."""
    return not query or (provider == "azure" and _API_VERSION.fullmatch(query) is not None)
