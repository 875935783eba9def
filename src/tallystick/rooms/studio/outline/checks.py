"""Problems of an outline: its structure, its coverage by scenes, and the balance of acts and points of view."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.model import Beat, CanonCard, Outline, Scene
from tallystick.rooms.studio.book.scenes import scenes_called
from tallystick.rooms.studio.outline.contents import content_score
from tallystick.rooms.studio.outline.coverage import PARTLY
from tallystick.rooms.studio.outline.matches import Match, Same, names_of, pov_differs, same_person, titles_differ
from tallystick.rooms.studio.prose.paragraphs import raw_paragraphs, words_of
from tallystick.rooms.studio.quotes import Place, line_place


@record
class OutlineProblem:
    """A problem of the outline."""

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


def structure_problems(outline: Outline) -> Iterator[OutlineProblem]:
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


def coverage_problems(
    outline: Outline, scenes: Sequence[Scene], matches: Sequence[Match], cards: Sequence[CanonCard] = ()
) -> Iterator[OutlineProblem]:
    """Entries without a scene, scenes without an entry, matches that do not agree, and scenes out of their order."""
    matched = {match.beat.line for match in matches}
    met = {match.scene.path for match in matches}
    for beat in outline.beats:
        if beat.line in matched:
            continue
        called = scenes_called(beat.scene, scenes) if beat.scene else []
        if called:
            met |= {scene.path for scene in called}
            files = ", ".join(scene.path for scene in called)
            message = f"“{beat.title}” names {beat.scene}, and it is not certain which scene that is: {files}."
            yield _of(outline, beat, "scene_unclear", message)
            continue
        yield _of(outline, beat, "beat_without_scene", f"No scene tells “{beat.title}”.")
        if beat.scene is not None:
            message = f"“{beat.title}” names {beat.scene}, which is not there."
            yield _of(outline, beat, "scene_missing", message)
    for scene in scenes:
        if scene.path not in met:
            message = f"“{scene.title}” is not in the outline."
            yield OutlineProblem(code="scene_without_beat", message=message, path=scene.path, place=_first_line(scene))
    same = same_person(names_of(cards))
    for match in matches:
        yield from match_problems(outline, match, cards, same)
    yield from _order(outline, matches)


def match_problems(outline: Outline, match: Match, cards: Sequence[CanonCard], same: Same) -> Iterator[OutlineProblem]:
    """Where an entry and its scene do not agree: another point of view, or only the number in common."""
    beat, scene = match.beat, match.scene
    if pov_differs(beat, scene, same):
        message = f"“{scene.title}” is {scene.pov}'s, its entry “{beat.title}” {beat.pov}'s."
        yield _of(outline, beat, "pov_differs", message)
    if match.by == "content" or not titles_differ(beat, scene):
        return
    if beat.text and content_score(beat, outline, scene, cards) < PARTLY:
        message = f"“{scene.title}” has the place of “{beat.title}” and tells nothing of what that entry says."
        yield _of(outline, beat, "beat_differs", message)


def _order(outline: Outline, matches: Sequence[Match]) -> Iterator[OutlineProblem]:
    highest = -1
    for match in matches:
        number = match.scene.number
        if number is None:
            continue
        if number < highest:
            message = f"“{match.scene.title}” has the number {number} but stands after {highest} in the outline."
            yield _of(outline, match.beat, "out_of_order", message)
        highest = max(highest, number)


def _numbers(outline: Outline) -> Iterator[OutlineProblem]:
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
                yield _of(outline, beat, "number_repeated", f"The number {number} occurs twice.")
            elif last is not None and number > last + 1:
                gap = f"{last + 1}" if number == last + 2 else f"{last + 1} to {number - 1}"
                yield _of(outline, beat, "number_gap", f"Number {gap} is missing before {number}.")
            seen[number] = beat
            last = number


def _begins_anew(beats: Sequence[Beat]) -> bool:
    firsts = [beat for beat in beats if beat.number == 1]
    return len({beat.act for beat in firsts}) > 1


def _of(outline: Outline, beat: Beat, code: str, message: str) -> OutlineProblem:
    return _problem(outline, beat.line, code, message)


def _problem(outline: Outline, line: int, code: str, message: str) -> OutlineProblem:
    return OutlineProblem(code=code, message=message, path=outline.path, place=line_place(outline.source, line))


def _act_line(outline: Outline, act: str) -> int:
    return next((number for number, line in enumerate(outline.source.lines, 1) if act in line), 1)


def _first_line(scene: Scene) -> Place | None:
    lines = range(scene.body_line, len(scene.source.lines) + 1)
    return next((found for found in (line_place(scene.source, line) for line in lines[:20]) if found), None)


UNEVEN = 2.5
"""An act this many times as long as another is reported."""
FEWEST = 2
OUTLIER = 3.0
"""A scene this many times as long as the middle one."""


@record
class Share:
    """One act, or one person's share."""

    name: str
    beats: int
    scenes: int
    words: int
    share: float
    """Of all words that are told."""

    def shown(self) -> dict[str, object]:
        """As tools give it."""
        return {
            "name": self.name,
            "beats": self.beats,
            "scenes": self.scenes,
            "words": self.words,
            "share": round(self.share, 3),
        }


def word_count(scene: Scene) -> int:
    """Words of a scene's prose."""
    return sum(len(words_of(text)) for _, text in raw_paragraphs(scene.source, scene.body_line))


def act_shares(outline: Outline, matches: Sequence[Match], words: dict[str, int]) -> list[Share]:
    """The acts in their order; `words` by path."""
    names = list(outline.acts) or []
    if any(beat.act is None for beat in outline.beats):
        names = ["", *names]
    return [_weight(name, outline, matches, words) for name in names]


def pov_shares(scenes: Sequence[Scene], matches: Sequence[Match], words: dict[str, int]) -> list[Share]:
    """The points of view, the weightiest first: the scene's own, else its entry's."""
    planned = {match.scene.path: match.beat.pov for match in matches}
    held: dict[str, list[Scene]] = {}
    for scene in scenes:
        held.setdefault(scene.pov or planned.get(scene.path) or "", []).append(scene)
    total = sum(words.values()) or 1
    beats = [match.beat.pov for match in matches]
    made = [
        Share(
            name=name,
            beats=beats.count(name or None),
            scenes=len(own),
            words=sum(words[scene.path] for scene in own),
            share=sum(words[scene.path] for scene in own) / total,
        )
        for name, own in held.items()
    ]
    return sorted(made, key=lambda weight: (-weight.words, weight.name))


def balance_problems(
    outline: Outline, acts: Sequence[Share], scenes: Sequence[Scene], words: dict[str, int]
) -> Iterator[OutlineProblem]:
    """Acts that outweigh others, and scenes far longer or shorter than most."""
    told = [act for act in acts if act.words]
    if len(told) >= FEWEST:
        heavy, light = max(told, key=lambda act: act.words), min(told, key=lambda act: act.words)
        if heavy.words >= UNEVEN * light.words:
            message = f"“{heavy.name}” has {heavy.words} words, “{light.name}” {light.words}."
            line = next((n for n, text in enumerate(outline.source.lines, 1) if heavy.name and heavy.name in text), 1)
            yield OutlineProblem(
                code="act_uneven", message=message, path=outline.path, place=line_place(outline.source, line)
            )
    lengths = sorted(words[scene.path] for scene in scenes)
    middle = lengths[len(lengths) // 2] if lengths else 0
    for scene in scenes:
        count = words[scene.path]
        if middle and (count > OUTLIER * middle or count * OUTLIER < middle):
            kind = "long" if count > middle else "short"
            message = f"“{scene.title}” has {count} words; the middle scene has {middle}."
            yield OutlineProblem(
                code=f"scene_{kind}", message=message, path=scene.path, place=line_place(scene.source, scene.body_line)
            )


def _weight(name: str, outline: Outline, matches: Sequence[Match], words: dict[str, int]) -> Share:
    own = [match for match in matches if (match.beat.act or "") == name]
    counted = sum(words[match.scene.path] for match in own)
    return Share(
        name=name,
        beats=sum((beat.act or "") == name for beat in outline.beats),
        scenes=len(own),
        words=counted,
        share=counted / (sum(words.values()) or 1),
    )
