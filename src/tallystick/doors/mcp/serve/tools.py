"""Convert cards to MCP tools and outcomes to tool results."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import mcp_types as types
import orjson
from pydantic import ValidationError

from tallystick.doors.presentation.meta import RECEIPT, TOOL, VERSION
from tallystick.doors.presentation.refusals import REFUSAL_SCHEMA, Refusal
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.tool import Card
from tallystick.records import record

CONTENT = "x-mcp-content"
"""Set to true in an output schema if the result is a list of MCP content blocks (text, image, audio, resource)."""

REMEMBERED_OFFERS = 1024
_DEFS = ("$defs", "definitions")
_OWN_PLACE = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef")
"""A schema with one of these keywords depends on its position and changes its meaning when nested."""


@record
class PublishedTool:
    """A tool as clients see it, and the form of its results."""

    tool: types.Tool
    wraps: bool
    """The published schema is for `{"result": …}`, because MCP requires an object."""
    blocks: bool
    """Results are content blocks."""


def offer_of(card: Card, shown: str) -> PublishedTool:
    """Return the tool under its client-facing name."""
    return _offer(_Known(card), shown)


def result_of(outcome: Outcome, offer: PublishedTool | None, *, show_receipt: bool) -> types.CallToolResult:
    """Convert a successful outcome."""
    value = outcome.result
    if offer is not None and offer.blocks:
        blocks = _blocks(value)
        if blocks is not None:
            return _result(outcome, blocks, None, show_receipt=show_receipt)
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    structured = {"result": value} if offer is not None and offer.wraps else value
    content: list[types.ContentBlock] = [types.TextContent(text=text)]
    return _result(outcome, content, structured if isinstance(structured, dict) else None, show_receipt=show_receipt)


def error_of(refusal: Refusal) -> types.CallToolResult:
    """Convert any other outcome: text for the model, and an object that the published schema allows for programs."""
    return types.CallToolResult(
        content=[types.TextContent(text=refusal.text)],
        structured_content=refusal.as_dict(),
        is_error=True,
        _meta={RECEIPT: refusal.receipt_id},
    )


def _result(
    outcome: Outcome, content: list[types.ContentBlock], structured: Any, *, show_receipt: bool
) -> types.CallToolResult:
    if show_receipt:
        content = [*content, types.TextContent(text=f"Receipt: {outcome.receipt_id}")]
    return types.CallToolResult(content=content, structured_content=structured, _meta={RECEIPT: outcome.receipt_id})


def _blocks(value: Any) -> list[types.ContentBlock] | None:
    """Return the content blocks; None if the tool returned something else, which is then shown as JSON."""
    try:
        return types.CallToolResult.model_validate({"content": value}).content
    except ValidationError:
        return None


class _Known:
    """Makes a card hashable by its version."""

    def __init__(self, card: Card) -> None:
        self.card = card

    def __hash__(self) -> int:
        return hash(self.card.version)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.card.version == self.card.version


@lru_cache(maxsize=REMEMBERED_OFFERS)
def _offer(known: _Known, shown: str) -> PublishedTool:
    card = known.card
    output, wraps = _published(card.output_schema)
    made = types.Tool(
        name=shown,
        description=card.description,
        input_schema={"type": "object", **card.input_schema},
        output_schema=output,
        annotations=types.ToolAnnotations(
            read_only_hint=card.effect == "read",
            destructive_hint=card.effect != "read",
            idempotent_hint=card.idempotent,
            open_world_hint=card.effect == "external",
        ),
        _meta={TOOL: card.name, VERSION: card.version},
    )
    return PublishedTool(tool=made, wraps=wraps, blocks=_is_content(card.output_schema))


def _published(schema: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, bool]:
    """Return the output schema for clients, and whether it wraps the result.

    Some clients also validate an error's structured content against the schema, so it must allow a refusal. A schema
    that cannot be nested is not published, but results are still checked against it.
    """
    if schema is None or _is_content(schema) or not _can_move(schema):
        return None, False
    inner = {key: value for key, value in schema.items() if key not in {*_DEFS, "$schema"}}
    wraps = inner.get("type") != "object"
    whole = {"type": "object", "properties": {"result": inner}, "required": ["result"]} if wraps else inner
    shared = {key: schema[key] for key in _DEFS if key in schema}
    return {"type": "object", "anyOf": [whole, REFUSAL_SCHEMA], **shared}, wraps


def _is_content(schema: Mapping[str, Any] | None) -> bool:
    return schema is not None and schema.get(CONTENT) is True


def _can_move(schema: Mapping[str, Any]) -> bool:
    for node in _nodes(schema):
        reference = node.get("$ref", "#/$defs/")
        moves = isinstance(reference, str) and reference.startswith(tuple(f"#/{name}/" for name in _DEFS))
        if not moves or any(key in node for key in _OWN_PLACE):
            return False
    return True


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
