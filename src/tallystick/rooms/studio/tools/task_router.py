"""`task_router`: which agents a request concerns, what kind of work it is, and what evidence an answer needs."""

from collections.abc import Callable, Sequence
from typing import Any

from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.routing import route
from tallystick.turns.agents.agent import Agent

MAX_REQUEST = 20_000
_INPUT = {
    "type": "object",
    "properties": {
        "user_request": {
            "type": "string", "minLength": 1, "maxLength": MAX_REQUEST, "description": "The request, as it was made.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Name the agents there are; route nothing."},
    },
    "required": ["user_request"],
    "additionalProperties": False,
}  # fmt: skip
_AGENT = {
    "type": "object",
    "properties": {
        "agent_id": {"type": "string"},
        "role": {"type": "string"},
        "score": {"type": "number"},
        "why": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["agent_id", "role", "score", "why"],
    "additionalProperties": False,
}
_OUTPUT = {
    "type": "object",
    "properties": {
        "routable": {"type": "boolean"},
        "dry_run": {"type": "boolean"},
        "intent": {"type": "string"},
        "matched_pattern": {"type": ["string", "null"]},
        "evidence_type": {"enum": ["content", "structural", "absence"]},
        "evidence_needs": {"type": "string"},
        "agents": {"type": "array", "items": _AGENT},
    },
    "required": ["routable", "dry_run", "intent", "matched_pattern", "evidence_type", "evidence_needs", "agents"],
    "additionalProperties": False,
}


_CARD = Card(
    name="task_router",
    description=(
        "Route a request: which agents should handle a task, what kind of work it is (plan, write, edit, critique, "
        "check continuity, summarize), and which type of evidence an answer needs."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def task_router(crew: Callable[[], Sequence[Agent]]) -> Tool:
    """The tool over one project's agents.

    Args:
        crew: Gives the agents as they are now; a project may change them while the gate is open.
    """

    def handler(user_request: str, *, dry_run: bool = False) -> dict[str, Any]:
        routed = route(user_request, [agent for agent in crew() if agent.enabled])
        fits = () if dry_run else routed.fits
        return {
            "routable": bool(fits),
            "dry_run": dry_run,
            "intent": routed.intent,
            "matched_pattern": routed.matched_pattern,
            "evidence_type": routed.evidence_type,
            "evidence_needs": routed.evidence_needs,
            "agents": [
                {"agent_id": fit.agent_id, "role": fit.role, "score": fit.score, "why": list(fit.why)} for fit in fits
            ],
        }

    return Tool(card=_CARD, handler=handler)
