"""How the acts and the points of view weigh against each other, in entries and in words."""

from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.nouns import Outline, Scene
from tallystick.rooms.studio.outline.matching import Match
from tallystick.rooms.studio.outline.structure import Problem
from tallystick.rooms.studio.prose.reading import raw_paragraphs, words_of
from tallystick.rooms.studio.quoting import line_place

UNEVEN = 2.5
"""An act this many times the words of another is worth a look."""
FEWEST = 2
OUTLIER = 3.0
"""A scene this many times as long as the middle one."""


@record
class Weight:
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


def weigh_acts(outline: Outline, matches: Sequence[Match], words: dict[str, int]) -> list[Weight]:
    """The acts in their order; `words` by path."""
    names = list(outline.acts) or []
    if any(beat.act is None for beat in outline.beats):
        names = ["", *names]
    return [_weight(name, outline, matches, words) for name in names]


def weigh_povs(scenes: Sequence[Scene], matches: Sequence[Match], words: dict[str, int]) -> list[Weight]:
    """The points of view, the weightiest first: the scene's own, else its entry's."""
    planned = {match.scene.path: match.beat.pov for match in matches}
    held: dict[str, list[Scene]] = {}
    for scene in scenes:
        held.setdefault(scene.pov or planned.get(scene.path) or "", []).append(scene)
    total = sum(words.values()) or 1
    beats = [match.beat.pov for match in matches]
    made = [
        Weight(
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
    outline: Outline, acts: Sequence[Weight], scenes: Sequence[Scene], words: dict[str, int]
) -> Iterator[Problem]:
    """Acts that outweigh others, and scenes far longer or shorter than most."""
    told = [act for act in acts if act.words]
    if len(told) >= FEWEST:
        heavy, light = max(told, key=lambda act: act.words), min(told, key=lambda act: act.words)
        if heavy.words >= UNEVEN * light.words:
            message = f"“{heavy.name}” has {heavy.words} words, “{light.name}” {light.words}."
            line = next((n for n, text in enumerate(outline.source.lines, 1) if heavy.name and heavy.name in text), 1)
            yield Problem(code="act_uneven", message=message, path=outline.path, place=line_place(outline.source, line))
    lengths = sorted(words[scene.path] for scene in scenes)
    middle = lengths[len(lengths) // 2] if lengths else 0
    for scene in scenes:
        count = words[scene.path]
        if middle and (count > OUTLIER * middle or count * OUTLIER < middle):
            kind = "long" if count > middle else "short"
            message = f"“{scene.title}” has {count} words; the middle scene has {middle}."
            yield Problem(
                code=f"scene_{kind}", message=message, path=scene.path,
                place=line_place(scene.source, scene.body_line),
            )  # fmt: skip


def _weight(name: str, outline: Outline, matches: Sequence[Match], words: dict[str, int]) -> Weight:
    own = [match for match in matches if (match.beat.act or "") == name]
    counted = sum(words[match.scene.path] for match in own)
    return Weight(
        name=name,
        beats=sum((beat.act or "") == name for beat in outline.beats),
        scenes=len(own),
        words=counted,
        share=counted / (sum(words.values()) or 1),
    )
