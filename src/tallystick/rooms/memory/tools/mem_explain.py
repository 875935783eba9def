"""`mem.explain`: why memory holds a proposition to be so, or not."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool

if TYPE_CHECKING:
    from tallystick.rooms.memory.recall.queries import MemoryQueries

_CARD = Card(
    name="mem.explain",
    roles=EVERY_ROLE,
    description=(
        "Why a proposition stands as it does: the rule that decided, every edge with its quote, observation, source "
        "and receipt, and the history in words. With `without`, also how it would stand had that source never spoken."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "proposition_id": {"type": "string", "minLength": 1, "maxLength": 64},
            "as_of_seq": {"type": "integer", "minimum": 0, "description": "As it stood at this place of the log."},
            "without": {"type": "string", "minLength": 1, "maxLength": 200, "description": "A source's id."},
        },
        "required": ["proposition_id"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "explanation": {"type": "object"},
            "supports": {"type": "object"},
            "what_if": {"type": ["object", "null"]},
        },
        "required": ["explanation", "supports", "what_if"],
        "additionalProperties": False,
    },
    effect="read",
    idempotent=True,
)


def mem_explain(read: Callable[[], "MemoryQueries"]) -> Tool:
    """The tool over one workspace's memory."""

    def handler(proposition_id: str, as_of_seq: int | None = None, without: str | None = None) -> dict[str, Any]:
        queries = read()
        explanation = queries.explain(proposition_id, as_of_seq=as_of_seq)
        if explanation is None:
            raise ToolError("There is no such proposition.", status=404, hint="mem.search gives the ids.")
        other = None if without is None else queries.what_if(proposition_id, without=without)
        return {
            "explanation": explanation,
            "supports": queries.minimal_supports(proposition_id),
            "what_if": other,
        }

    return Tool(card=_CARD, handler=handler)
