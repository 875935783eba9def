"""Scene files (title, number, point of view) and the order in which the scenes are read.

Reading order:

1. The outline's order, where it names scenes. A scene it does not name follows the scene that precedes it anyway.
2. The position in the front matter (`order`, `chapter` and `scene`, `number`).
3. The number in the file name, folder by folder; then the name.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.blocks import Block, blocks_of
from tallystick.rooms.studio.book.front_matter import Fields, read_front_matter, text_of
from tallystick.rooms.studio.book.model import Beat, Outline, Scene
from tallystick.rooms.studio.book.numbers import natural, read_number
from tallystick.rooms.studio.book.outline_entries import Entry, read_entry, read_field
from tallystick.rooms.studio.book.paths import slug_of, slugged, spoken, without_number

_REFERENCE = re.compile(r"\ASCN-[0-9]{1,4}\b[\s:.–—-]*", re.IGNORECASE)  # noqa: RUF001
"""The number of a scene's file before its title: `SCN-03 The Mill`."""
_TOP = 12
"""Blocks at the top of a scene that may hold metadata."""
_IN_NAME = re.compile(
    r"\A[-_ ]?([0-9]{1,4})(?=\Z|[-_. ])|(?:\A|[-_ ])(?:scene|sc|chapter|ch)[-_ ]?([0-9]{1,4})(?=\Z|[-_. ])",
    re.IGNORECASE,
)


def parse_scene(source: Source, order: int = 0) -> Scene:
    """Read a scene. Any file content is a valid scene."""
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


def front_matter_position(front: Fields) -> tuple[float, float] | None:
    """The position given by front matter: `order`, or `chapter` and `scene`, or `number`."""
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


_NAMED = 2
"""One named scene is no order."""


def in_reading_order(scenes: Sequence[Scene], outline: Outline | None) -> list[Scene]:
    """The scenes as a reader meets them."""
    plain = sorted(scenes, key=_own_place)
    if outline is None:
        return plain
    named = named_scenes(outline.beats, plain)
    places: dict[str, int] = {}
    for at, scene in enumerate(named):
        if scene is not None:
            places.setdefault(scene.path, at)
    if len(places) < _NAMED:
        return plain
    return _merged(plain, places)


def named_scenes(beats: Sequence[Beat], scenes: Sequence[Scene]) -> list[Scene | None]:
    """For each entry the scene it names by link or title, or None."""
    by_name: dict[str, Scene | None] = {}
    for scene in scenes:
        for name in {slugged(scene.slug), without_number(slugged(scene.slug)), slugged(scene.title)}:
            # A name that two scenes have names neither.
            by_name[name] = None if name in by_name and by_name[name] is not scene else scene
    by_name.pop("", None)
    # `SCN-14` is the file of that name before a scene that calls itself the fourteenth.
    told = _numbered((scene.number, scene) for scene in scenes)
    numbered = told | _numbered((number_in_name(scene.slug), scene) for scene in scenes)
    return [_named(beat, by_name, numbered) for beat in beats]


def without_reference(title: str) -> str:
    """A title without the scene's file that an author put before it: `SCN-03 The Mill` is `The Mill`."""
    return _REFERENCE.sub("", title)


def scenes_called(name: str, scenes: Sequence[Scene]) -> list[Scene]:
    """The scenes that a name such as `SCN-14` may mean, by file name or number."""
    slug = slugged(slug_of(name))
    number = int(slug) if slug.isdigit() else None
    return [
        scene
        for scene in scenes
        if slug in {slugged(scene.slug), without_number(slugged(scene.slug))}
        or (number is not None and number in {scene.number, number_in_name(scene.slug)})
    ]


def _numbered(pairs: Iterable[tuple[int | None, Scene]]) -> dict[int, Scene | None]:
    """Number → its scene; a number that two scenes have is neither's."""
    numbered: dict[int, Scene | None] = {}
    for number, scene in pairs:
        if number is not None:
            numbered[number] = None if number in numbered else scene
    return numbered


def _named(beat: Beat, by_name: dict[str, Scene | None], numbered: dict[int, Scene | None]) -> Scene | None:
    if beat.scene is not None:
        slug = slugged(slug_of(beat.scene))
        if found := by_name.get(slug) or (numbered.get(int(slug)) if slug.isdigit() else None):
            return found
    return by_name.get(slugged(without_reference(beat.title))) or by_name.get(slugged(beat.title))


def _merged(plain: list[Scene], places: dict[str, int]) -> list[Scene]:
    named = sorted((scene for scene in plain if scene.path in places), key=lambda scene: places[scene.path])
    after: dict[str | None, list[Scene]] = {}
    before: str | None = None
    for scene in plain:
        if scene.path in places:
            before = scene.path
        else:
            after.setdefault(before, []).append(scene)
    merged = list(after.get(None, []))
    for scene in named:
        merged += [scene, *after.get(scene.path, [])]
    return merged


def _own_place(scene: Scene) -> tuple[object, ...]:
    given = front_matter_position(scene.front)
    if given is not None:
        return (0, *given, natural(scene.path))
    folder, _, _ = scene.path.rpartition("/")
    number = number_in_name(scene.slug)
    return (1, natural(folder), number is None, number or 0, natural(scene.slug), scene.path)
