"""The model port of a turn: request, response and error types.

The port is defined here because the loop needs it; `providers/` implements it. Model output is untrusted text: calls in
it are proposals, and its claims are checked elsewhere.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from tallystick.records import record

Role = Literal["system", "user", "assistant", "tool"]
Speech = Literal["envelope", "native"]
"""How an endpoint proposes calls: strict JSON in its text, or the API's native `tool_calls`."""


@record
class NativeCall:
    """A call as returned by an API with tool calling."""

    call_id: str
    name: str
    arguments: str
    """The JSON text as received; the gate parses it strictly."""


@record
class Message:
    """One message of a prompt."""

    role: Role
    content: str
    calls: tuple[NativeCall, ...] = ()
    """Only for the role `assistant` with native tool calls."""
    call_id: str | None = None
    """Only for the role `tool`: the id of the call whose result this is."""


@record
class ToolDefinition:
    """A tool definition passed to an API with tool calling."""

    name: str
    description: str
    schema: Mapping[str, Any]


@record
class Ask:
    """One request to a model."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer; the provider has the endpoint enforce it if supported."""
    offers: tuple[ToolDefinition, ...] = ()
    """Only for endpoints with native tool calls."""
    require_call: bool = False
    """Only with `offers`: the answer must be a call (`tool_choice` "required"), if the endpoint supports it."""
    max_tokens: int | None = None
    temperature: float | None = None


@record
class Usage:
    """Tokens and cost of a response."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_microusd: int = 0


@record
class Said:
    """A model's response."""

    text: str
    calls: tuple[NativeCall, ...] = ()
    usage: Usage = Usage()
    finish: str = "stop"
    """Finish reason: stop, length, tool_calls, content_filter."""
    model: str = ""


@record
class ModelError:
    """The reason why a model gave no response; the codes are fixed and the message says what to do."""

    code: Literal[
        "endpoint_unreachable",
        "endpoint_timeout",
        "endpoint_rate_limited",
        "endpoint_failed",
        "endpoint_bad_answer",
        "answer_too_large",
        "key_missing",
        "key_refused",
        "model_unknown",
        "prompt_too_large",
        "provider_not_installed",
    ]
    message: str
    retry_after_s: float | None = None


class Model(Protocol):
    """One model behind one endpoint."""

    @property
    def speech(self) -> Speech:
        """How the endpoint proposes calls."""
        ...

    @property
    def provider(self) -> str:
        """The provider: `openai`, `lmstudio`, `offline`, `local`, …."""
        ...

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Send one request to the model.

        Args:
            ask: The request.
            hear: Callback for each chunk of text as it arrives, if the endpoint streams.
        """
        ...
