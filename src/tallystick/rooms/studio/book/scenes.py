"""A scene's file, read: its title, its number, whose eyes it is seen through."""

import re
from itertools import islice

from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.blocks import Block, blocks_of
from tallystick.rooms.studio.book.entry import Entry, read_entry, read_field
from tallystick.rooms.studio.book.front_matter import Fields, read_front_matter, text_of
from tallystick.rooms.studio.book.naming import slug_of, slugged, spoken, without_number
from tallystick.rooms.studio.book.nouns import Scene
from tallystick.rooms.studio.book.numbers import read_number

_TOP = 12
"""Blocks at the top of a scene that may say something about it rather than tell it."""
_IN_NAME = re.compile(
    r"\A[-_ ]?([0-9]{1,4})(?=\Z|[-_. ])|(?:\A|[-_ ])(?:scene|sc|chapter|ch)[-_ ]?([0-9]{1,4})(?=\Z|[-_. ])",
    re.IGNORECASE,
)


def parse_scene(source: Source, order: int = 0) -> Scene:
    """Read a scene; whatever stands in the file, it is one."""
    front = read_front_matter(source)
    top = list(islice(blocks_of(source.lines, front.body_line), _TOP))
    heading = _heading(top)
    slug = slug_of(source.path)
    title = text_of(front.fields.get("title")) or text_of(front.fields.get("name"))
    return Scene(
        source=source,
        title=title or (heading.title if heading else "") or spoken(without_number(slugged(slug))) or slug,
        slug=slug,
        order=order,
        number=_number(front.fields, slug, heading),
        pov=_pov(front.fields, heading, top),
        front=front.fields,
        body_line=front.body_line,
    )


def place_given(front: Fields) -> tuple[float, float] | None:
    """The place in the book that front matter gives: `order`, or `chapter` and `scene`, or `number`."""
    order = _figure(front.get("order"))
    if order is not None:
        return (order, 0)
    chapter = _figure(front.get("chapter"))
    number = _figure(front.get("scene")) if "scene" in front else None
    number = number if number is not None else _figure(front.get("number"))
    if chapter is not None:
        return (chapter, number or 0)
    return None if number is None else (number, 0)


def number_in_name(slug: str) -> int | None:
    """The number that a file's name holds."""
    found = _IN_NAME.search(slug)
    return int(found.group(1) or found.group(2)) if found else None


def _heading(top: list[Block]) -> Entry | None:
    first = next((block for block in top if block.kind == "heading"), None)
    return read_entry(first.text, sentence=False) if first else None


def _number(front: Fields, slug: str, heading: Entry | None) -> int | None:
    for field in ("number", "scene", "scene_number", "scene number", "order"):
        given = _figure(front.get(field))
        if given is not None:
            return int(given)
    if heading and heading.number is not None:
        return heading.number
    return number_in_name(slug)


def _pov(front: Fields, heading: Entry | None, top: list[Block]) -> str | None:
    for field in ("pov", "viewpoint", "point of view", "point_of_view", "pov character", "pov_character", "narrator"):
        if named := text_of(front.get(field)):
            return named
    if heading and heading.pov:
        return heading.pov
    fields = (read_field(block.text) for block in top if block.kind != "heading" and len(block.text) <= _SHORT)
    return next((field[1] for field in fields if field and field[0] == "pov"), None)


_SHORT = 80


def _figure(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    counted = read_number(value) if isinstance(value, str) else None
    return None if counted is None else float(counted)
