"""`tool.analysis.query`: run a typed query over the tickets of a dataset."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.query.model import query_from, row_name
from tallystick.rooms.insight.query.schema import MOST_ROWS, QUERY_SCHEMA

if TYPE_CHECKING:
    from tallystick.rooms.insight.query.execution import QueryResult
    from tallystick.rooms.insight.query.model import TypedQuery

_NUMBER = {"type": ["number", "null"]}
_CARD = Card(
    name="tool.analysis.query",
    roles=EVERY_ROLE,
    description=(
        "Count, share, sum, average, median or rank the tickets of a dataset, filtered and grouped by any column, or "
        "compare two selections; the numbers are exact. An unknown column or value is refused with those there are. "
        "Cite a number as [figure N = reference]."
    ),
    input_schema=QUERY_SCHEMA | {"$id": "tool.analysis.query.input"},
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.analysis.query.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "reading": {"type": "string"},
            "reference": {"type": "string"},
            "total": {"type": "integer", "minimum": 0},
            "first_total": {"type": ["integer", "null"]},
            "groups": {"type": "integer", "minimum": 0},
            "summary": _NUMBER,
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "key": {"type": "array", "items": {"type": "string"}},
                        "value": _NUMBER,
                        "tickets": {"type": "integer", "minimum": 0},
                        "first": _NUMBER,
                        "difference": _NUMBER,
                        "reference": {"type": "string"},
                    },
                    "required": ["key", "value", "tickets", "reference"],
                },
            },
            "tickets": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        },
        "required": ["reading", "reference", "total", "groups", "rows", "tickets"],
    },
    effect="read",
    idempotent=True,
    timeout_s=120.0,
)


def analysis_query(run: "Callable[[TypedQuery], tuple[QueryResult, str]]") -> Tool:
    """The tool over one workspace.

    Args:
        run: Runs a query, and says how it was read; see `analyses.Analyses.query`.
    """

    def handler(**asked: Any) -> dict[str, Any]:
        result, reading = run(query_from(asked))
        return wire_result(result, reading)

    return Tool(card=_CARD, handler=handler)


def wire_result(result: "QueryResult", reading: str) -> dict[str, Any]:
    """A result in the form of the tool's output."""
    query = result.query
    compared = query.compare is not None
    return {
        "reading": reading,
        "reference": query.line(),
        "total": result.total,
        "first_total": result.first_total,
        "groups": result.groups,
        "summary": result.summary,
        "rows": [
            {
                "key": list(row.key),
                "value": row.now.value,
                "tickets": row.now.tickets,
                **({"first": row.cell("first"), "difference": row.difference} if compared else {}),
                "reference": query.line(row=row_name(row.key) if row.key else None, cell="value"),
            }
            for row in result.rows[:MOST_ROWS]
        ],
        "tickets": [ticket_id for ticket_id, _ in result.tickets],
    }
