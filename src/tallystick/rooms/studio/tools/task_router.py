"""`task_router`: whom a request concerns, what kind of work it is, what evidence an answer needs, and which recipe."""

from collections.abc import Callable, Sequence
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.studio.routing import Fit, route
from tallystick.rooms.studio.runs.recipe import Recipe
from tallystick.turns.agent import Agent

MAX_REQUEST = 20_000
_INPUT = {
    "type": "object",
    "properties": {
        "user_request": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_REQUEST,
            "description": "The request, as it was made.",
        },
        "dry_run": {"type": "boolean", "default": False, "description": "Name the agents there are; route nothing."},
    },
    "required": ["user_request"],
    "additionalProperties": False,
}
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
        "recipe": {"type": ["string", "null"]},
        "agents": {"type": "array", "items": _AGENT},
    },
    "required": [
        "routable",
        "dry_run",
        "intent",
        "matched_pattern",
        "evidence_type",
        "evidence_needs",
        "recipe",
        "agents",
    ],
    "additionalProperties": False,
}


_CARD = Card(
    name="task_router",
    roles=EVERY_ROLE,
    description=(
        "Route a request: which agents should handle a task, what kind of work it is (plan, write, edit, critique, "
        "check continuity, summarize), which type of evidence an answer needs, and which recipe does it, if any."
    ),
    input_schema=_INPUT,
    output_schema=_OUTPUT,
    effect="read",
    idempotent=True,
    dry_run=True,
)


def task_router(crew: Callable[[], Sequence[Agent]], recipes: Callable[[], Sequence[Recipe]]) -> Tool:
    """The tool over one project's agents.

    Args:
        crew: Gives the agents as they are now; a project may change them while the gate is open.
        recipes: Gives the recipes, in the same way.
    """

    def handler(user_request: str, *, dry_run: bool = False) -> dict[str, Any]:
        present = [agent for agent in crew() if agent.enabled]
        routed = route(user_request, present, [] if dry_run else _runnable(recipes(), present))
        fits = () if dry_run else routed.fits
        named = [Fit(agent_id=agent.agent_id, role=agent.role, score=0.0, why=()) for agent in present]
        return {
            "routable": bool(fits),
            "dry_run": dry_run,
            "intent": routed.intent,
            "matched_pattern": routed.matched_pattern,
            "evidence_type": routed.evidence_type,
            "evidence_needs": routed.evidence_needs,
            "recipe": routed.recipe,
            "agents": [
                {"agent_id": fit.agent_id, "role": fit.role, "score": fit.score, "why": list(fit.why)}
                for fit in (named if dry_run else fits)
            ],
        }

    return Tool(card=_CARD, handler=handler)


def _runnable(recipes: Sequence[Recipe], crew: Sequence[Agent]) -> list[Recipe]:
    """Those whose agents are all there."""
    names = {agent.agent_id for agent in crew}
    return [recipe for recipe in recipes if all(step.agent in names for step in recipe.phase_b)]
