"""`# Tools`: one line a tool for models that answer in text, one offer a tool for APIs with tool calling."""

from collections.abc import Iterable
from typing import TypeVar

import orjson

from tallystick.gate.admit.names import Entry
from tallystick.turns.model import Offer
from tallystick.turns.wording import NO_WORDINGS, Wording, Wordings

T = TypeVar("T")

TITLE = "# Tools"
_MAX_KEPT = 4096
"""Cards whose line is remembered; when there are more, all are forgotten and written again."""

_lines: dict[str, str] = {}
_offers: dict[str, Offer] = {}


def catalogue_section(entries: Iterable[Entry], wordings: Wordings = NO_WORDINGS) -> str:
    """Every tool of the turn as one JSON object a line.

    Args:
        entries: The tools.
        wordings: How rooms word some of them; they never change what a tool takes.
    """
    return "\n".join([TITLE, *(_line(entry, wordings.get(entry.card.name)) for entry in entries)])


def offers_of(entries: Iterable[Entry], wordings: Wordings = NO_WORDINGS) -> tuple[Offer, ...]:
    """Every tool of the turn as an API takes it; the API has its own form of a call, so examples are left out."""
    return tuple(_offer(entry, wordings.get(entry.card.name)) for entry in entries)


def _line(entry: Entry, wording: Wording | None) -> str:
    if wording is not None:
        return _written(entry, wording)
    # By version: it is the digest of the whole card, so what is remembered cannot be out of date.
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
