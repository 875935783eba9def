"""What is wrong with the shape of an outline, and what it and the scenes do not have in common."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.nouns import Beat, Outline, Scene
from tallystick.rooms.studio.outline.matching import Match
from tallystick.rooms.studio.quoting import Place, line_place


@record
class Problem:
    """Something for the author to look at."""

    code: str
    """Fixed, e.g. `number_gap`, `beat_without_scene`."""
    message: str
    path: str
    place: Place | None

    def shown(self) -> dict[str, object]:
        """As tools give it."""
        return {
            "code": self.code,
            "message": self.message,
            "path": self.path,
            "place": None if self.place is None else self.place.shown(),
        }


PROBLEM_SCHEMA = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "path": {"type": "string"},
        "place": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {
                        "line": {"type": "integer"},
                        "end_line": {"type": "integer"},
                        "quote": {"type": "string"},
                    },
                    "required": ["line", "end_line", "quote"],
                    "additionalProperties": False,
                },
                {"type": "null"},
            ]
        },
    },
    "required": ["code", "message", "path", "place"],
    "additionalProperties": False,
}


def structure_problems(outline: Outline) -> Iterator[Problem]:
    """Gaps and repeats of numbers, entries without words or point of view, acts without entries."""
    beats = outline.beats
    if not beats:
        yield _problem(outline, 1, "outline_empty", "The outline names no scenes. Give each a heading or a list entry.")
        return
    yield from _numbers(outline)
    titles = Counter(beat.title.casefold() for beat in beats)
    has_povs = any(beat.pov for beat in beats)
    says_more = any(beat.text for beat in beats)
    for beat in beats:
        if titles[beat.title.casefold()] > 1:
            yield _of(outline, beat, "title_repeated", f"Several entries are called “{beat.title}”.")
        if has_povs and beat.pov is None:
            yield _of(outline, beat, "pov_missing", f"“{beat.title}” has no point of view; others have.")
        if says_more and not beat.text:
            yield _of(outline, beat, "beat_empty", f"“{beat.title}” does not say what happens.")
    used = {beat.act for beat in beats}
    for act in outline.acts:
        if act not in used:
            yield _problem(outline, _act_line(outline, act), "act_empty", f"“{act}” has no scenes.")


def coverage_problems(outline: Outline, scenes: Sequence[Scene], matches: Sequence[Match]) -> Iterator[Problem]:
    """Entries without a scene, scenes without an entry, and scenes out of their order."""
    by_beat = {match.beat.line: match.scene for match in matches}
    by_scene = {match.scene.path for match in matches}
    for beat in outline.beats:
        if beat.line not in by_beat:
            yield _of(outline, beat, "beat_without_scene", f"No scene tells “{beat.title}”.")
        if beat.scene is not None and beat.line not in by_beat:
            message = f"“{beat.title}” names {beat.scene}, which is not there."
            yield _of(outline, beat, "scene_missing", message)
    for scene in scenes:
        if scene.path not in by_scene:
            message = f"“{scene.title}” stands nowhere in the outline."
            yield Problem(code="scene_without_beat", message=message, path=scene.path, place=_first_line(scene))
    yield from _order(outline, matches)


def _order(outline: Outline, matches: Sequence[Match]) -> Iterator[Problem]:
    highest = -1
    for match in matches:
        number = match.scene.number
        if number is None:
            continue
        if number < highest:
            message = f"“{match.scene.title}” has the number {number} but stands after {highest} in the outline."
            yield _of(outline, match.beat, "out_of_order", message)
        highest = max(highest, number)


def _numbers(outline: Outline) -> Iterator[Problem]:
    numbered = [beat for beat in outline.beats if beat.number is not None]
    # Lists that begin anew with every act count from 1 each time.
    groups: dict[str | None, list[Beat]] = {}
    for beat in numbered:
        groups.setdefault(beat.act if _begins_anew(numbered) else None, []).append(beat)
    for group in groups.values():
        seen: dict[int, Beat] = {}
        last: int | None = None
        for beat in group:
            number = beat.number if beat.number is not None else 0
            if number in seen:
                yield _of(outline, beat, "number_repeated", f"The number {number} is given twice.")
            elif last is not None and number > last + 1:
                gap = f"{last + 1}" if number == last + 2 else f"{last + 1} to {number - 1}"
                yield _of(outline, beat, "number_gap", f"Number {gap} is missing before {number}.")
            seen[number] = beat
            last = number


def _begins_anew(beats: Sequence[Beat]) -> bool:
    firsts = [beat for beat in beats if beat.number == 1]
    return len({beat.act for beat in firsts}) > 1


def _of(outline: Outline, beat: Beat, code: str, message: str) -> Problem:
    return _problem(outline, beat.line, code, message)


def _problem(outline: Outline, line: int, code: str, message: str) -> Problem:
    return Problem(code=code, message=message, path=outline.path, place=line_place(outline.source, line))


def _act_line(outline: Outline, act: str) -> int:
    return next((number for number, line in enumerate(outline.source.lines, 1) if act in line), 1)


def _first_line(scene: Scene) -> Place | None:
    lines = range(scene.body_line, len(scene.source.lines) + 1)
    return next((found for found in (line_place(scene.source, line) for line in lines[:20]) if found), None)
