"""What the author's cards settle: front matter, `Key: value` lines, tables, constraints, and plain sentences.

A fact may hold only from a scene on: under `progressions:`, under a field or a heading `From SCN-x`, or with `(from
SCN-x)` behind its value.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.studio.book.blocks import blocks_of, cells_of, is_ruler, unmarked
from tallystick.rooms.studio.book.naming import slug_of, slugged
from tallystick.rooms.studio.book.nouns import CanonCard, Scene
from tallystick.rooms.studio.continuity.card_values import read_value
from tallystick.rooms.studio.continuity.facts import Fact

_FIELD = re.compile(r"([^\W\d_][\w '/()-]{1,40}?)\s*(?::|=|\s[-\u2013\u2014])\s+(\S.*)\Z")
_FROM = re.compile(
    r"(?:from|since|after|as of|starting(?: with| in)?)\s+(?:scene\s+|"
    r"chapter\s+)?\[*(?P<scene>[\w. -]{1,80}?)\]*\s*:?\Z",
    re.IGNORECASE,
)
_FROM_IN_VALUE = re.compile(r"\(\s*(?:from|since|after)\s+\[*(?P<scene>[^()\]]{1,80}?)\]*\s*\)", re.IGNORECASE)
_UNTIL_IN_VALUE = re.compile(r"\(\s*(?:until|till|up to|before)\s+\[*(?P<scene>[^()\]]{1,80}?)\]*\s*\)", re.IGNORECASE)
_SOFT = re.compile(r"\(\s*(?:soft|may change|flexible)\s*\)", re.IGNORECASE)
_NO_FACTS = frozenset({
    "name", "title", "aliases", "alias", "aka", "type", "kind", "category", "tags", "waive", "constraints",
    "progressions", "hardness",
    "summary", "notes", "topics", "defines", "scope", "image",
})  # fmt: skip


@record
class Entry:
    """One field of a card, with where it stands and when it holds."""

    key: str
    value: str
    line: int
    valid_from: int = 0
    valid_until: int | None = None


class SceneOrder:
    """Finds a scene by whatever a card calls it."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._places: dict[str, int] = {}
        for scene in scenes:
            numbers = [str(scene.number)] if scene.number is not None else []
            for name in (scene.path, slug_of(scene.path), scene.title, scene.slug, *numbers):
                self._places.setdefault(slugged(name), scene.order)

    def of(self, name: str) -> int | None:
        """Its place in the book; None where there is no such scene."""
        plain = slugged(slug_of(name.strip()))
        without = re.sub(r"^(?:scene|chapter|scn)-", "", plain)
        return self._places.get(plain, self._places.get(without))


def card_entries(card: CanonCard, order: SceneOrder) -> Iterator[Entry]:
    """Every field that a card gives, front matter first."""
    yield from _front_entries(card, card.front, order, valid_from=0)
    yield from _body_entries(card, order)


def field_facts(card: CanonCard, order: SceneOrder) -> Iterator[Fact]:
    """The typed facts of a card's fields, each with its line; a later one ends an earlier one."""
    soft_card = str(card.front.get("hardness", "")).casefold() == "soft"
    found: list[Fact] = []
    for entry in card_entries(card, order):
        for attribute, value, hard in read_value(card, entry.key, _bare(entry.value)):
            found.append(
                Fact(
                    subject=card.path, name=card.name, attribute=attribute, value=value, words=_bare(entry.value),
                    path=card.path, line=entry.line, quote=_line(card, entry.line), order=-1, offset=entry.line,
                    hard=hard and not soft_card and not _SOFT.search(entry.value),
                    valid_from=_since(order, entry, attribute),
                    valid_until=entry.valid_until, from_card=True,
                )
            )  # fmt: skip
    yield from _succeeding(found)


def _since(order: SceneOrder, entry: Entry, attribute: str) -> int:
    """`died: SCN-the-storm` holds from that scene on."""
    if attribute != "dead":
        return entry.valid_from
    named = re.sub(r"^(?:in|at|during)\s+|[\[\].]", "", entry.value.strip(), flags=re.IGNORECASE)
    return order.of(named) or entry.valid_from


def constraints_of(card: CanonCard) -> Iterator[tuple[str, int]]:
    """The sentences under `constraints`, each with its line."""
    for text in _texts(card.front.get("constraints")):
        yield text, _line_of(card, text)


def _succeeding(facts: list[Fact]) -> Iterator[Fact]:
    """A fact that holds from a scene on takes the place of the one before it."""
    for fact in facts:
        starts = [
            other.valid_from
            for other in facts
            if other.attribute == fact.attribute and other.valid_from > fact.valid_from
        ]
        ends = [end for end in (fact.valid_until, min(starts, default=None)) if end is not None]
        yield replace(fact, valid_until=min(ends, default=None))


def _front_entries(
    card: CanonCard, fields: Mapping[str, Any], order: SceneOrder, *, valid_from: int
) -> Iterator[Entry]:
    for key, value in fields.items():
        name = str(key).strip()
        if (start := _FROM.match(name)) and isinstance(value, Mapping):
            place = order.of(start.group("scene"))
            if place is not None:
                yield from _front_entries(card, value, order, valid_from=place)
        elif name == "progressions":
            yield from _progressions(card, value, order)
        elif isinstance(value, Mapping):
            yield from _front_entries(card, value, order, valid_from=valid_from)
        elif name.casefold() not in _NO_FACTS:
            for text in _texts(value):
                yield _entry(name, text, order, valid_from, _line_of(card, text, name))


def _progressions(card: CanonCard, value: Any, order: SceneOrder) -> Iterator[Entry]:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if not isinstance(item, Mapping):
            continue
        start = next((str(item[key]) for key in ("from", "scene", "since", "after") if key in item), None)
        place = order.of(start) if start else None
        rest = {key: each for key, each in item.items() if key not in {"from", "scene", "since", "after", "reason"}}
        if place is not None:
            yield from _front_entries(card, rest, order, valid_from=place)
        elif start is None:
            yield from _front_entries(card, rest, order, valid_from=0)


def _body_entries(card: CanonCard, order: SceneOrder) -> Iterator[Entry]:
    valid_from = 0
    for block in blocks_of(card.source.lines, card.body_line):
        text = unmarked(block.text)
        if block.kind == "heading":
            start = _FROM.match(text)
            valid_from = (order.of(start.group("scene")) or 0) if start else 0
        elif block.kind == "row":
            cells = cells_of(block.text)
            if len(cells) > 1 and not is_ruler(cells):
                yield _entry(unmarked(cells[0]), unmarked(cells[1]), order, valid_from, block.line)
        elif found := _FIELD.match(text):
            yield _entry(found.group(1), found.group(2), order, valid_from, block.line)


def _entry(key: str, value: str, order: SceneOrder, valid_from: int, line: int) -> Entry:
    start, end = _FROM_IN_VALUE.search(value), _UNTIL_IN_VALUE.search(value)
    begins = order.of(start.group("scene")) if start else None
    ends = order.of(end.group("scene")) if end else None
    return Entry(key=key, value=value, line=line, valid_from=valid_from if begins is None else begins, valid_until=ends)


def _bare(value: str) -> str:
    for pattern in (_FROM_IN_VALUE, _UNTIL_IN_VALUE, _SOFT):
        value = pattern.sub("", value)
    return value.strip()


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, (str, int, float)):
        return [str(value)]
    return []


def _line_of(card: CanonCard, text: str, key: str = "") -> int:
    """The line of the front matter on which a value stands."""
    lines = card.source.lines[: max(card.body_line - 1, 1)]
    for wanted in ((key, text), ("", text), (key, "")):
        for number, line in enumerate(lines, 1):
            if all(part.casefold() in line.casefold() for part in wanted) and any(wanted):
                return number
    return 1


def _line(card: CanonCard, line: int) -> str:
    return " ".join(card.source.lines[line - 1].split()) if line <= len(card.source.lines) else card.name
