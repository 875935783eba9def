"""`tool.reports.get`: return a report on a dataset whose every figure can be recomputed."""

from collections.abc import Callable
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool

_CARD = Card(
    name="tool.reports.get",
    roles=EVERY_ROLE,
    description=(
        "The report on a dataset: themes with counts, shares and trend, words of customers, what changed, quality, "
        "complexity, reassignments, and the answers so far."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.reports.get.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {"dataset_id": {"type": "integer", "minimum": 1}},
        "required": ["dataset_id"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.reports.get.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "report_markdown": {"type": "string"},
            "analysis_count": {"type": "integer", "minimum": 0},
        },
        "required": ["dataset_id", "report_markdown", "analysis_count"],
    },
    effect="read",
    idempotent=True,
    timeout_s=600.0,
)


def reports_get(report: Callable[[int], tuple[str, int]]) -> Tool:
    """The tool over one workspace.

    Args:
        report: Dataset → its report as Markdown, and how many analyses it has.
    """

    def handler(dataset_id: int) -> dict[str, Any]:
        markdown, analyses = report(dataset_id)
        return {"dataset_id": dataset_id, "report_markdown": markdown, "analysis_count": analyses}

    return Tool(card=_CARD, handler=handler)
