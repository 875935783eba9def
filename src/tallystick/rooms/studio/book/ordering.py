"""The order in which a book is read.

1. The outline's, where it names scenes. A scene that it does not name stays behind the one it would follow anyway.
2. The place that front matter gives (`order`, `chapter` and `scene`, `number`).
3. The number in the file's name, folder by folder; then the name.
"""

from collections.abc import Sequence

from tallystick.rooms.studio.book.naming import slug_of, slugged, without_number
from tallystick.rooms.studio.book.nouns import Beat, Outline, Scene
from tallystick.rooms.studio.book.numbers import natural
from tallystick.rooms.studio.book.scenes import number_in_name, place_given

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
    """For each entry the scene that it names itself, by link or by its very title; None where it names none."""
    by_name: dict[str, Scene | None] = {}
    for scene in scenes:
        for name in {slugged(scene.slug), without_number(slugged(scene.slug)), slugged(scene.title)}:
            # A name that two scenes have names neither.
            by_name[name] = None if name in by_name and by_name[name] is not scene else scene
    by_name.pop("", None)
    return [_named(beat, by_name) for beat in beats]


def _named(beat: Beat, by_name: dict[str, Scene | None]) -> Scene | None:
    if beat.scene is not None and (found := by_name.get(slugged(slug_of(beat.scene)))):
        return found
    return by_name.get(slugged(beat.title))


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
    given = place_given(scene.front)
    if given is not None:
        return (0, *given, natural(scene.path))
    folder, _, _ = scene.path.rpartition("/")
    number = number_in_name(scene.slug)
    return (1, natural(folder), number is None, number or 0, natural(scene.slug), scene.path)
