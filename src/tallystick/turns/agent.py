"""Records of an agent and its endpoint, as stored in the registries."""

from typing import Literal

from tallystick.records import record

CHIEF = "assistant"
"""The id of the Chief of Staff; exactly one always exists."""

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
    enabled: bool = True


@record
class Endpoint:
    """How to reach an agent's model; it never contains keys, only the variable or file that holds one."""

    agent_id: str
    provider: str
    """`openai`, `azure`, `lmstudio`, `ollama`, `llamacpp`, `vllm`, `openrouter`, `local` or `offline`."""
    model: str
    base_url: str | None = None
    """With or without `/v1`; None: the provider's default address."""
    api_key_env: str | None = None
    api_key_file: str | None = None
    """Path outside the workspace."""
    protocol: Literal["envelope", "native"] = "envelope"
    """How the model calls tools: as JSON text, or with the API's native tool calls."""
    temperature: float | None = None
    timeout_s: float = 120.0
    retries: int = 2
    price_in_microusd: int = 0
    """Per million input tokens; 0: free or unknown."""
    price_out_microusd: int = 0

    @property
    def key(self) -> str:
        """The key for serialising turns and for caching the server's observed capabilities."""
        return f"{self.provider}|{self.base_url or ''}|{self.model}"
