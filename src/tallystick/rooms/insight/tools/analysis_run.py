"""`tool.analysis.run`: answer a question about tickets with evidence, and store the answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import ANALYST_ROLES
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.model import ANALYZER_BACKENDS, rfc3339

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import Analysis

TIMEOUT_S = 1_800.0
"""A model may be asked nine times, and a million tickets take a minute to read."""
_CARD = Card(
    name="tool.analysis.run",
    description=(
        "Answer a question about the support tickets of a dataset: volumes, shares, trends, themes, times, and "
        "comparisons with another dataset. The answer is kept and its figures can be computed again."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.analysis.run.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "question": {"type": "string", "minLength": 1},
            "prompt_version": {"type": "string", "minLength": 1, "default": "v1"},
            "analyzer_backend": {"type": "string", "enum": list(ANALYZER_BACKENDS)},
            "max_tickets": {"type": "integer", "minimum": 1, "default": 50},
            "token_budget": {"type": "integer", "minimum": 1, "default": 2000},
            "compare_dataset_id": {"type": "integer", "minimum": 1},
        },
        "required": ["dataset_id", "question"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.analysis.run.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "analysis_id": {"type": "integer", "minimum": 1},
            "dataset_id": {"type": "integer", "minimum": 1},
            "prompt_version": {"type": "string"},
            "ticket_count": {"type": "integer", "minimum": 0},
            "created_at": {"type": ["string", "null"], "format": "date-time"},
        },
        "required": ["analysis_id", "dataset_id", "prompt_version", "ticket_count"],
    },
    effect="write",
    roles=ANALYST_ROLES,
    audited=True,
    resource="dataset:{dataset_id}",
    audit_keys=("analysis_id", "prompt_version"),
    timeout_s=TIMEOUT_S,
)


def analysis_run(run: "Callable[..., Analysis]") -> Tool:
    """The tool over one workspace.

    Args:
        run: Answers a question; see `analysing.Analyses.run`.
    """

    def handler(**order: Any) -> dict[str, Any]:
        made = run(**order)
        return {
            "analysis_id": made.analysis_id,
            "dataset_id": made.dataset_id,
            "prompt_version": made.prompt_version,
            "ticket_count": made.ticket_count,
            "created_at": rfc3339(made.created_at),
        }

    return Tool(card=_CARD, handler=handler)
