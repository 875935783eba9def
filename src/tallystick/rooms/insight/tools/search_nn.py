"""`tool.search.nn`: return the tickets of a dataset that are nearest to a text in meaning."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import EVERY_ROLE
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.model import NewTicket, Where

if TYPE_CHECKING:
    from tallystick.rooms.insight.search.model import SearchRequest, SearchResult

OPENING = 160
"""Characters of a ticket that replace a missing summary."""
_NAMES = {"type": "array", "items": {"type": "string"}}
_CARD = Card(
    name="tool.search.nn",
    roles=EVERY_ROLE,
    description=(
        "Find the tickets of a dataset that are nearest to a text in meaning, the nearest first. Filters are applied "
        "before ranking. With rerank, words count too. The dataset must have been embedded (tool.embed.run)."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.search.nn.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "query_text": {"type": "string", "minLength": 1},
            "k": {"type": "integer", "minimum": 1},
            "filters": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"department": _NAMES, "product": _NAMES},
            },
            "rerank": {"type": "boolean"},
            "rerank_backend": {"type": "string", "enum": ["builtin", "cross-encoder"]},
        },
        "required": ["dataset_id", "query_text"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.search.nn.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "k": {"type": "integer", "minimum": 1},
            "backend": {"type": ["string", "null"]},
            "model_name": {"type": "string"},
            "rerank": {"type": "boolean"},
            "rerank_backend": {"type": ["string", "null"], "enum": ["builtin", "cross-encoder", None]},
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "ticket_id": {"type": "integer", "minimum": 1},
                        "score": {"type": "number"},
                        "department": {"type": ["string", "null"]},
                        "product": {"type": ["string", "null"]},
                        "summary": {"type": ["string", "null"]},
                    },
                    "required": ["ticket_id", "score"],
                },
            },
        },
        "required": ["dataset_id", "k", "model_name", "results"],
    },
    effect="read",
    idempotent=True,
)


def search_nn(search: "Callable[[SearchRequest], SearchResult]") -> Tool:
    """The tool over one workspace."""

    def handler(**args: Any) -> dict[str, Any]:
        found = search(asked_of(**args))
        return {
            "dataset_id": found.dataset_id,
            "k": found.k,
            "backend": found.backend,
            "model_name": found.model_name,
            "rerank": found.rerank,
            "rerank_backend": found.rerank_backend,
            "results": [
                {
                    "ticket_id": hit.ticket.ticket_id,
                    "score": hit.score,
                    "department": hit.ticket.said.department,
                    "product": hit.ticket.said.product,
                    "summary": _summary(hit.ticket.said),
                }
                for hit in found.hits
            ],
        }

    return Tool(card=_CARD, handler=handler)


def _summary(said: NewTicket) -> str:
    """The ticket's own, or how it begins: many files have no summaries."""
    if said.summary:
        return said.summary
    words = " ".join(said.text.split())
    return words if len(words) <= OPENING else f"{words[:OPENING]}…"


def asked_of(*, filters: dict[str, list[str]] | None = None, **args: Any) -> "SearchRequest":
    """The arguments as the question they are."""
    from tallystick.rooms.insight.search.model import SearchRequest  # noqa: PLC0415 - the core has no numpy

    given = filters or {}
    where = Where(department=tuple(given.get("department", ())), product=tuple(given.get("product", ())))
    return SearchRequest(where=where, **args)
