"""Matches scenes with entries of the outline.

Passes over the whole book, each over what the last one left:

    title_slug     the entry names the scene's file, or the titles are equal, or one contains the other
    pov_name       both have the same point of view, and no others left do; a shared number decides between several
    scene_number   both have the same number, and not two points of view
    content        the scene tells what the entry says; see `contents`

A match is one to one. What a pass finds twice is left to the next pass.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from tallystick.records import record
from tallystick.rooms.studio.book.model import Beat, CanonCard, Scene
from tallystick.rooms.studio.book.paths import slugged, without_number
from tallystick.rooms.studio.book.scenes import named_scenes, without_reference


def names_of(cards: Sequence[CanonCard]) -> dict[str, str]:
    """Every name and alias in small letters → the path of its card; also first names that only one person has."""
    names: dict[str, str] = {}
    for card in cards:
        for name in (card.name, *card.aliases):
            names.setdefault(name.casefold(), card.path)
    firsts = Counter(card.name.casefold().split()[0] for card in cards if card.kind == "character")
    for card in cards:
        first = card.name.casefold().split()[0]
        if card.kind == "character" and firsts[first] == 1:
            names.setdefault(first, card.path)
    return names


def card_of(cards: Sequence[CanonCard], name: str) -> CanonCard | None:
    """The card of a person: by name or alias, else by a first or last name that only one has."""
    wanted = name.casefold().strip()
    people = [card for card in cards if card.kind == "character"] or list(cards)
    for card in (*people, *cards):
        if wanted in {one.casefold() for one in (card.name, *card.aliases)}:
            return card
    partly = [
        card for card in people if wanted in card.name.casefold().split() or card.name.casefold() in wanted.split()
    ]
    return partly[0] if len(partly) == 1 else None


Pass = Literal["title_slug", "pov_name", "scene_number", "content"]
_SHORTEST = 2
"""Words of a title that another may hold: `the-letter` in `the-letter-from-senn`."""
_LABELS = frozenset({"", "scene", "chapter"})
"""Words of an entry that is called by its number alone."""
_ARTICLES = re.compile(r"\A(?:the|a|an)-")


@record
class Match:
    """One entry and its scene."""

    beat: Beat
    scene: Scene
    by: Pass


Same = Callable[[str, str], bool]
"""Whether two names are one person's."""


def match_book(beats: Sequence[Beat], scenes: Sequence[Scene], same: Same) -> list[Match]:
    """Every match of the book, in the outline's order."""
    matches: dict[int, Match] = {}
    for by, find in (
        ("title_slug", _by_name),
        ("title_slug", _by_title),
        ("pov_name", _by_pov),
        ("scene_number", _by_number),
    ):
        taken = {match.scene.path for match in matches.values()}
        left = [(at, beat) for at, beat in enumerate(beats) if at not in matches]
        free = [scene for scene in scenes if scene.path not in taken]
        for at, scene in _only_once(find(left, free, same)):
            matches[at] = Match(beat=beats[at], scene=scene, by=by)  # type: ignore[arg-type]
    return [matches[at] for at in sorted(matches)]


def candidates(beats: Sequence[Beat], scene: Scene, same: Same) -> list[Beat]:
    """Entries that might be meant, for a scene without a match: same person or same number."""
    return [
        beat
        for beat in beats
        if (beat.pov and scene.pov and same(beat.pov, scene.pov))
        or (beat.number is not None and beat.number == scene.number)
    ]


def same_person(names: Mapping[str, str]) -> Same:
    """Compares names through the cards: `names` leads each name and alias to its card."""

    def same(one: str, other: str) -> bool:
        plain, against = one.casefold().strip(), other.casefold().strip()
        if plain == against or names.get(plain, plain) == names.get(against, against):
            return True
        # `Mara` is `Mara Voss`; two that share only a family name are not one.
        return plain.split()[:1] == against.split()[:1] and 1 in {len(plain.split()), len(against.split())}

    return same


Found = Iterable[tuple[int, Scene]]


def _by_name(left: Sequence[tuple[int, Beat]], free: Sequence[Scene], _: Same) -> Found:
    named = named_scenes([beat for _, beat in left], free)
    return [(at, scene) for (at, _), scene in zip(left, named, strict=True) if scene is not None]


def _by_title(left: Sequence[tuple[int, Beat]], free: Sequence[Scene], _: Same) -> Found:
    named = [(scene, {_bare(scene.title), _bare(without_number(slugged(scene.slug)))}) for scene in free]
    titles = [(at, _bare(beat.title)) for at, beat in left]
    return [
        (at, scene)
        for at, title in titles
        for scene, names in named
        if any(_one_holds_other(title, name) for name in names)
    ]


def _by_pov(left: Sequence[tuple[int, Beat]], free: Sequence[Scene], same: Same) -> Found:
    pairs = [(at, beat, scene) for at, beat in left for scene in free if _one_pov(beat, scene, same)]
    of_beat = Counter(at for at, _, _ in pairs)
    of_scene = Counter(scene.path for _, _, scene in pairs)
    return [
        (at, scene)
        for at, beat, scene in pairs
        if _numbers_agree(beat, scene)
        or (of_beat[at] == of_scene[scene.path] == 1 and None in (beat.number, scene.number))
    ]


def _by_number(left: Sequence[tuple[int, Beat]], free: Sequence[Scene], same: Same) -> Found:
    return [
        (at, scene)
        for at, beat in left
        for scene in free
        if _numbers_agree(beat, scene) and not pov_differs(beat, scene, same)
    ]


def _only_once(found: Found) -> list[tuple[int, Scene]]:
    pairs = list(found)
    of_beat = Counter(at for at, _ in pairs)
    of_scene = Counter(scene.path for _, scene in pairs)
    return [(at, scene) for at, scene in pairs if of_beat[at] == of_scene[scene.path] == 1]


def _one_pov(beat: Beat, scene: Scene, same: Same) -> bool:
    return bool(beat.pov and scene.pov and same(beat.pov, scene.pov))


def _numbers_agree(beat: Beat, scene: Scene) -> bool:
    return beat.number is not None and beat.number == scene.number


def pov_differs(beat: Beat, scene: Scene, same: Same) -> bool:
    """Whether both name a point of view, and not the same."""
    return bool(beat.pov and scene.pov and not same(beat.pov, scene.pov))


def titles_differ(beat: Beat, scene: Scene) -> bool:
    """Whether entry and scene have titles that share no word."""
    own = {word for word in _bare(without_reference(beat.title)).split("-") if not word.isdigit()} - _LABELS
    names = {*_bare(scene.title).split("-"), *_bare(without_number(slugged(scene.slug))).split("-")} - {""}
    return bool(own and names and not own & names)


def _bare(title: str) -> str:
    return _ARTICLES.sub("", slugged(title))


def _one_holds_other(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if not shorter:
        return False
    if shorter == longer:
        return True
    return shorter.count("-") + 1 >= _SHORTEST and f"-{shorter}-" in f"-{longer}-"
