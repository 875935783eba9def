"""The result of a message to an agent: a finished turn, or why there was none."""

from typing import Any

from tallystick.gate.codes import Category
from tallystick.records import record
from tallystick.turns.agent import Agent, Endpoint
from tallystick.turns.model import ModelError
from tallystick.turns.result import TurnResult


@record
class Answered:
    """A finished turn; it may have ended with a refused reply or a stop hook."""

    session_id: str
    agent: Agent
    endpoint: Endpoint
    result: TurnResult
    reported: tuple[str, ...] = ()
    """Receipts of the results that the client reported for calls it ran itself."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form: the turn's own, with its session and agent."""
        return {"sessionId": self.session_id, "agentId": self.agent.agent_id} | self.result.as_dict()


@record
class Unanswered:
    """No turn was run, or its model failed. The code is stable; the advice says what to do."""

    code: str
    advice: str
    status: int = 400
    category: Category = Category.VALIDATION_ERROR
    field: str | None = None
    """The field of the request that is wrong, if any."""
    retry_after_s: float | None = None


_DOWN = Category.DOWNSTREAM_ERROR
_UNAVAILABLE = Category.TOOL_UNAVAILABLE
_MODEL_ERRORS: dict[str, tuple[int, Category]] = {
    "endpoint_unreachable": (502, _DOWN),
    "endpoint_timeout": (504, _DOWN),
    "endpoint_rate_limited": (429, Category.BUDGET_EXCEEDED),
    "endpoint_failed": (502, _DOWN),
    "endpoint_bad_answer": (502, _DOWN),
    "answer_too_large": (502, _DOWN),
    "key_missing": (503, _UNAVAILABLE),
    "key_refused": (503, _UNAVAILABLE),
    "model_unknown": (503, _UNAVAILABLE),
    "prompt_too_large": (413, Category.VALIDATION_ERROR),
    "provider_not_installed": (503, _UNAVAILABLE),
}
"""Code → status and category. A wrong local configuration is 503, a failure of the endpoint is 502."""


def model_failure(error: ModelError) -> Unanswered:
    """Convert a model error, with its status and category."""
    status, category = _MODEL_ERRORS[error.code]
    return Unanswered(
        code=error.code, advice=error.message, status=status, category=category, retry_after_s=error.retry_after_s
    )
