"""`# Tools`: one line per tool for models that call tools in text, one `Offer` per tool for APIs with tool calling."""

from collections.abc import Iterable
from typing import TypeVar

import orjson

from tallystick.gate.admit.names import Entry
from tallystick.turns.model import Offer
from tallystick.turns.wording import NO_WORDINGS, Wording, Wordings

T = TypeVar("T")

TITLE = "# Tools"
_MAX_KEPT = 4096
"""Maximum number of cached cards; when it is reached, the cache is cleared."""

_lines: dict[str, str] = {}
_offers: dict[str, Offer] = {}


def catalogue_section(entries: Iterable[Entry], wordings: Wordings = NO_WORDINGS) -> str:
    """Return the section that lists every tool of the turn as one JSON object per line.

    Args:
        entries: The tools.
        wordings: Descriptions and examples that override tool cards; they never change a tool's input schema.
    """
    return "\n".join([TITLE, *(_line(entry, wordings.get(entry.card.name)) for entry in entries)])


def offers_of(entries: Iterable[Entry], wordings: Wordings = NO_WORDINGS) -> tuple[Offer, ...]:
    """Return the tools of the turn as API tool definitions, without examples: the API has its own call syntax."""
    return tuple(_offer(entry, wordings.get(entry.card.name)) for entry in entries)


def _line(entry: Entry, wording: Wording | None) -> str:
    if wording is not None:
        return _written(entry, wording)
    # The key is the version, a digest of the whole card, so a cached line cannot be stale.
    version = entry.card.version
    line = _lines.get(version)
    if line is None:
        line = _written(entry, Wording())
        _keep(_lines, version, line)
    return line


def _written(entry: Entry, wording: Wording) -> str:
    card = entry.card
    shown = {
        "name": card.name, "description": wording.description or card.description, "effect": card.effect,
        "args": entry.input.schema,
    }  # fmt: skip
    if wording.example is not None:
        shown["example"] = dict(wording.example)
    return orjson.dumps(shown).decode()


def _offer(entry: Entry, wording: Wording | None) -> Offer:
    if wording is not None and wording.description is not None:
        return Offer(name=entry.card.name, description=wording.description, schema=entry.input.schema)
    version = entry.card.version
    offer = _offers.get(version)
    if offer is None:
        offer = Offer(name=entry.card.name, description=entry.card.description, schema=entry.input.schema)
        _keep(_offers, version, offer)
    return offer


def _keep(kept: dict[str, T], version: str, value: T) -> None:
    if len(kept) >= _MAX_KEPT:
        kept.clear()
    kept[version] = value
