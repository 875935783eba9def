"""`# Tools`: one line a tool for models that answer in text, one offer a tool for APIs with tool calling."""

from collections.abc import Iterable
from typing import TypeVar

import orjson

from tallystick.gate.admit.names import Entry
from tallystick.turns.model import Offer

T = TypeVar("T")

TITLE = "# Tools"
_MAX_KEPT = 4096
"""Cards whose line is remembered; when there are more, all are forgotten and written again."""

_lines: dict[str, str] = {}
_offers: dict[str, Offer] = {}


def catalogue_section(entries: Iterable[Entry]) -> str:
    """Every tool of the turn as one JSON object a line."""
    return "\n".join([TITLE, *map(_line, entries)])


def offers_of(entries: Iterable[Entry]) -> tuple[Offer, ...]:
    """Every tool of the turn as an API takes it."""
    return tuple(map(_offer, entries))


def _line(entry: Entry) -> str:
    # By version: it is the digest of the whole card, so what is remembered cannot be out of date.
    version = entry.card.version
    line = _lines.get(version)
    if line is None:
        card = entry.card
        shown = {
            "name": card.name, "description": card.description, "effect": card.effect, "args": entry.input.schema,
        }  # fmt: skip
        line = orjson.dumps(shown).decode()
        _keep(_lines, version, line)
    return line


def _offer(entry: Entry) -> Offer:
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
