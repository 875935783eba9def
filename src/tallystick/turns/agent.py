"""An agent and its endpoint, as the registries hold them."""

from typing import Literal

from tallystick.records import record

CHIEF = "assistant"
"""The Chief of Staff's id: exactly one, and always there."""

EvidenceKind = Literal["content", "structural", "absence"]


@record
class Agent:
    """A role that a model plays."""

    agent_id: str
    name: str
    role: str
    """`assistant`, `planner`, `writer`, `editor`, `critic`, `continuity`, or a word of the project's own."""
    purpose: str
    owns: tuple[str, ...] = ()
    """What it answers for."""
    must_not: tuple[str, ...] = ()
    evidence_sources: tuple[str, ...] = ()
    """Path prefixes it may cite; empty: any file of the workspace."""
    abstain_when: str = ""
    enabled: bool = True


@record
class Endpoint:
    """Where an agent's model is. Keys are never in here: only the name of the variable or file that holds one."""

    agent_id: str
    provider: str
    """`openai`, `azure`, `lmstudio`, `ollama`, `llamacpp`, `vllm`, `openrouter`, `local` or `offline`."""
    model: str
    base_url: str | None = None
    """With or without `/v1`; None: the provider's usual address."""
    api_key_env: str | None = None
    api_key_file: str | None = None
    """Outside the workspace."""
    protocol: Literal["envelope", "native"] = "envelope"
    """How its model calls tools: as JSON text, or by the API's own tool calls."""
    temperature: float | None = None
    timeout_s: float = 120.0
    retries: int = 2
    price_in_microusd: int = 0
    """Per million input tokens; 0: free or unknown."""
    price_out_microusd: int = 0

    @property
    def key(self) -> str:
        """What turns are serialised by, and what a server's habits are remembered by."""
        return f"{self.provider}|{self.base_url or ''}|{self.model}"
