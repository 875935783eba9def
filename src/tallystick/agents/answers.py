"""What comes of a message to an agent: a turn that ended, or the reason why there was none."""

from typing import Any

from tallystick.agents.agent import Agent, Endpoint
from tallystick.gate.codes import Category
from tallystick.records import record
from tallystick.turns.model import Unheard
from tallystick.turns.result import TurnResult


@record
class Answered:
    """A turn that came to its end, well or not: a refused reply and a stop hook are ends too."""

    session_id: str
    agent: Agent
    endpoint: Endpoint
    result: TurnResult
    reported: tuple[str, ...] = ()
    """Receipts of what a client said came of calls that were handed back to it."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form: the turn's own, and where it belongs."""
        return {"sessionId": self.session_id, "agentId": self.agent.agent_id} | self.result.as_dict()


@record
class Unanswered:
    """There was no turn, or its model could not be heard. The code is fixed; the advice says what to do."""

    code: str
    advice: str
    status: int = 400
    category: Category = Category.VALIDATION_ERROR
    field: str | None = None
    """What of the request is at fault, if anything."""
    retry_after_s: float | None = None


_DOWN = Category.DOWNSTREAM_ERROR
_UNAVAILABLE = Category.TOOL_UNAVAILABLE
_UNHEARD: dict[str, tuple[int, Category]] = {
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
"""Code → status and category. What somebody has to set right here is 503, what went wrong over there is 502."""


def unheard(why: Unheard) -> Unanswered:
    """A model that could not be heard, as the doors tell it."""
    status, category = _UNHEARD[why.code]
    return Unanswered(
        code=why.code, advice=why.message, status=status, category=category, retry_after_s=why.retry_after_s
    )
