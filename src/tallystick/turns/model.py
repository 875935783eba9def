"""A model as a turn sees it: something that is asked and says something, or fails.

The port stands here because the loop needs it; `providers/` satisfies it. Nothing a model says is more than text: calls
in it are proposals, and what it claims is checked elsewhere.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from tallystick.records import record

Role = Literal["system", "user", "assistant", "tool"]
Speech = Literal["envelope", "native"]
"""How an endpoint proposes calls: strict JSON in its text, or the API's own `tool_calls`."""


@record
class NativeCall:
    """A call as an API with tool calling gives it."""

    call_id: str
    name: str
    arguments: str
    """The JSON text as it came: the gate parses it, strictly."""


@record
class Message:
    """One message of a prompt."""

    role: Role
    content: str
    calls: tuple[NativeCall, ...] = ()
    """Only from an assistant that speaks natively."""
    call_id: str | None = None
    """Only for the role `tool`: which call this is the result of."""


@record
class Offer:
    """A tool as it is offered to an API with tool calling."""

    name: str
    description: str
    schema: Mapping[str, Any]


@record
class Ask:
    """What a model is asked."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """The answer must fit this JSON Schema; a provider makes its endpoint enforce it where it can."""
    offers: tuple[Offer, ...] = ()
    """Only for endpoints that speak natively."""
    require_call: bool = False
    """Only with `offers`: the answer must be a call (`tool_choice` "required"), where the endpoint can be told so."""
    max_tokens: int | None = None
    temperature: float | None = None


@record
class Usage:
    """What an answer cost."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_microusd: int = 0


@record
class Said:
    """What a model said."""

    text: str
    calls: tuple[NativeCall, ...] = ()
    usage: Usage = Usage()
    finish: str = "stop"
    """Why it stopped: stop, length, tool_calls, content_filter."""
    model: str = ""


@record
class ModelError:
    """A model gave no answer. The codes are fixed; the message says what to do."""

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
        """How it proposes calls."""
        ...

    @property
    def provider(self) -> str:
        """`openai`, `lmstudio`, `offline`, `local`, …."""
        ...

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Ask once.

        Args:
            ask: What to ask.
            hear: Is told each piece of text as it arrives, where the endpoint streams.
        """
        ...
