"""`# Tools`: one line per tool for models that call tools in text, a `ToolDefinition` for APIs with tool calling."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from tallystick.gate.admit.names import Entry
from tallystick.gate.admit.subschemas import walk, without_keywords
from tallystick.gate.tool import Card
from tallystick.turns.model import ToolDefinition
from tallystick.turns.tool_prompts import NO_TOOL_PROMPTS, ToolPrompt, ToolPrompts

T = TypeVar("T")

TITLE = "# Tools"
_UNSHOWN = frozenset(
    {"$schema", "additionalProperties", "examples", "maxLength", "minLength", "title", "unevaluatedProperties"}
)
_MAX_KEPT = 4096
"""Maximum number of cached cards; when it is reached, the cache is cleared."""

_lines: dict[str, str] = {}
_offers: dict[str, ToolDefinition] = {}


def catalogue_section(
    entries: Iterable[Entry], wordings: ToolPrompts = NO_TOOL_PROMPTS, *, with_examples: bool = True
) -> str:
    """Return the section that lists every tool of the turn as one JSON object per line.

    Args:
        entries: The tools.
        wordings: Descriptions and examples that override tool cards; they never change a tool's input schema.
        with_examples: Whether a line shows the example; not needed where the schema of the answer goes along.
    """
    lines = (_line(entry, wordings.get(entry.card.name), with_example=with_examples) for entry in entries)
    return "\n".join([TITLE, *lines])


def offers_of(entries: Iterable[Entry], wordings: ToolPrompts = NO_TOOL_PROMPTS) -> tuple[ToolDefinition, ...]:
    """Return the tools of the turn as API tool definitions, without examples: the API has its own call syntax."""
    return tuple(_offer(entry, wordings.get(entry.card.name)) for entry in entries)


def _line(entry: Entry, wording: ToolPrompt | None, *, with_example: bool) -> str:
    if wording is not None:
        return _written(entry, wording if with_example else replace(wording, example=None))
    # The key is the version, a digest of the whole card, so a cached line cannot be stale.
    version = entry.card.version
    line = _lines.get(version)
    if line is None:
        line = _written(entry, ToolPrompt())
        _keep(_lines, version, line)
    return line


def _written(entry: Entry, wording: ToolPrompt) -> str:
    card = entry.card
    shown: dict[str, Any] = {"name": card.name, "description": wording.description or card.description}
    if card.effect != "read":
        shown["effect"] = card.effect
    shown["args"] = shown_schema(card, entry.input.schema)
    if wording.example is not None:
        # The protocol section shows the form of a call; the example fills in the arguments.
        shown["example"] = _without_dry_run(card, wording.example.get("args", {}))
    return orjson.dumps(shown).decode()


def shown_schema(card: Card, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input schema as a prompt shows it, without keywords that do not help to write a call.

    Length limits stay with the gate, and a dry run is a wish of the user, not of the model.
    """
    shown = without_keywords(dict(schema), _UNSHOWN)
    shown["properties"] = _without_dry_run(card, shown.get("properties", {}))
    required = shown.get("required", ())
    for name, part in shown["properties"].items():
        if isinstance(part, dict) and name not in required:
            # An argument that may be left out needs no word about what leaving it out means.
            part.pop("default", None)
    for part in walk(shown):
        if "enum" in part:
            part.pop("type", None)
    return shown


def _without_dry_run(card: Card, properties: Any) -> Any:
    if not card.dry_run or not isinstance(properties, Mapping):
        return properties
    return {name: value for name, value in properties.items() if name != "dry_run"}


def _offer(entry: Entry, wording: ToolPrompt | None) -> ToolDefinition:
    if wording is not None and wording.description is not None:
        return ToolDefinition(name=entry.card.name, description=wording.description, schema=entry.input.schema)
    version = entry.card.version
    offer = _offers.get(version)
    if offer is None:
        offer = ToolDefinition(name=entry.card.name, description=entry.card.description, schema=entry.input.schema)
        _keep(_offers, version, offer)
    return offer


def _keep(kept: dict[str, T], version: str, value: T) -> None:
    if len(kept) >= _MAX_KEPT:
        kept.clear()
    kept[version] = value
