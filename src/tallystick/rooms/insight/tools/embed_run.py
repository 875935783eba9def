"""`tool.embed.run`: compute the vectors that tickets lack."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.model import EMBED_BACKENDS

if TYPE_CHECKING:
    from tallystick.rooms.insight.embed.service import EmbeddingResult

TIMEOUT_S = 14_400.0
"""A million tickets take a minute with the built-in model and hours with a large one."""
_CARD = Card(
    name="tool.embed.run",
    roles=EVERY_ROLE,
    description=(
        "Make vectors of a dataset's tickets, so that they can be searched and grouped. Only tickets that have none of "
        "this model yet are embedded; an interrupted run is continued by calling again. Backend builtin needs nothing."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.embed.run.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "backend": {"type": "string", "enum": list(EMBED_BACKENDS)},
            "model_name": {"type": "string", "minLength": 1},
            "batch_size": {"type": "integer", "minimum": 1},
        },
        "required": ["dataset_id"],
        "allOf": [
            {
                "if": {"required": ["backend"], "properties": {"backend": {"const": "sentence-transformers"}}},
                "then": {"required": ["model_name"]},
            }
        ],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.embed.run.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "model_name": {"type": "string"},
            "backend": {"type": "string"},
            "vector_dim": {"type": "integer", "minimum": 0},
            "embedded_count": {"type": "integer", "minimum": 0},
            "indexed": {"type": "boolean"},
        },
        "required": ["dataset_id", "model_name", "backend", "vector_dim", "embedded_count", "indexed"],
    },
    effect="write",
    idempotent=True,
    timeout_s=TIMEOUT_S,
)


def embed_run(embed: Callable[..., "tuple[EmbeddingResult, bool]"]) -> Tool:
    """The tool over one workspace."""

    def handler(**args: Any) -> dict[str, Any]:
        made, indexed = embed(**args)
        return {
            "dataset_id": made.dataset_id,
            "model_name": made.model_name,
            "backend": made.backend,
            "vector_dim": made.vector_dim,
            "embedded_count": made.embedded_count,
            "indexed": indexed,
        }

    return Tool(card=_CARD, handler=handler)
