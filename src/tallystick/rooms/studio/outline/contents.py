"""Matches by content: an entry and the scene that tells what the entry says, where no name or number joins them."""

from collections.abc import Sequence

from tallystick.rooms.studio.book.model import Beat, CanonCard, Outline, Scene
from tallystick.rooms.studio.outline.coverage import COVERED, check_coverage
from tallystick.rooms.studio.outline.matches import Match, Same, match_book, names_of, pov_differs, same_person
from tallystick.rooms.studio.prose.paragraphs import read_prose

MARGIN = 0.15
"""By how much a match must be better than the next for its entry and for its scene."""
MAX_PAIRS = 1_000
"""Entries times scenes that are compared; more is an outline of another book."""


def match_outline(outline: Outline, scenes: Sequence[Scene], cards: Sequence[CanonCard]) -> list[Match]:
    """Every match of the book, in the outline's order: by name, point of view and number, then by content."""
    same = same_person(names_of(cards))
    matches = match_book(outline.beats, scenes, same)
    matched, taken = {match.beat.line for match in matches}, {match.scene.path for match in matches}
    beats = [beat for beat in outline.beats if beat.line not in matched and beat.text and beat.scene is None]
    free = [scene for scene in scenes if scene.path not in taken]
    if 0 < len(beats) * len(free) <= MAX_PAIRS:
        matches += _by_content(outline, beats, free, cards, same)
    return sorted(matches, key=lambda match: match.beat.line)


def content_score(beat: Beat, outline: Outline, scene: Scene, cards: Sequence[CanonCard]) -> float:
    """How much of an entry a scene tells, from 0 to 1."""
    covered = check_coverage(beat, outline.source, read_prose(scene.source, scene.body_line), cards)
    return sum(one.score for one in covered) / len(covered)


def _by_content(
    outline: Outline, beats: Sequence[Beat], scenes: Sequence[Scene], cards: Sequence[CanonCard], same: Same
) -> list[Match]:
    scores = {
        (beat.line, scene.path): 0.0 if pov_differs(beat, scene, same) else content_score(beat, outline, scene, cards)
        for beat in beats
        for scene in scenes
    }
    made: list[Match] = []
    for beat in beats:
        for scene in scenes:
            score = scores[beat.line, scene.path]
            rivals = [
                other
                for (line, path), other in scores.items()
                if (line == beat.line) != (path == scene.path) and other > score - MARGIN
            ]
            if score >= COVERED and not rivals:
                made.append(Match(beat=beat, scene=scene, by="content"))
    return made
