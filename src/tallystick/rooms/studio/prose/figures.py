"""All figures of a scene, compared with the author's other scenes.

The baseline is a sample spread evenly over the book, so that a long book does not make the first request slow; the
result says what the sample contains. Figures are cached by the content they were computed from.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, pstdev
from threading import Lock
from typing import TypeVar

from tallystick.records import record
from tallystick.rooms.studio.book.model import Scene
from tallystick.rooms.studio.prose.findings import Focus
from tallystick.rooms.studio.prose.paragraphs import Prose, plain_form, read_prose, words_of
from tallystick.rooms.studio.prose.rhythm import pacing_figures, rhythm_figures
from tallystick.rooms.studio.prose.voice import voice_figures

SAMPLE_SCENES = 16
SAMPLE_WORDS = 2_000
"""Of each scene of the sample."""
FEWEST_SCENES = 3
"""Below this there is no usual."""
UNUSUAL = 2.0
"""Standard deviations from the author's mean."""
_KEPT = 2_000

Figures = Mapping[str, float]
Kept = TypeVar("Kept")


@record
class Measure:
    """One figure, and how it compares."""

    name: str
    focus: Focus
    value: float
    usual: float | None
    """The mean of the author's other scenes; None: too few of them."""
    spread: float | None
    verdict: str
    """`usual`, `higher`, `lower`, or `no_baseline`."""

    def shown(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "name": self.name,
            "focus": self.focus,
            "value": round(self.value, 3),
            "usual": None if self.usual is None else round(self.usual, 3),
            "verdict": self.verdict,
        }


@record
class Baseline:
    """The author's baseline."""

    figures: tuple[Figures, ...]
    """Of each scene of the sample."""
    words: int
    """Of the sample."""
    vocabulary: Mapping[str, int]
    """How often the other scenes have each word: all of them, not only the sample."""


class Measures:
    """Measures of scenes, kept by content."""

    def __init__(self) -> None:
        self._figures: OrderedDict[tuple[str, int], Figures] = OrderedDict()
        self._counts: OrderedDict[tuple[str, int], Counter[str]] = OrderedDict()
        self._lock = Lock()

    def baseline(self, scene: Scene, scenes: Sequence[Scene]) -> Baseline:
        """The baseline of the book's other scenes."""
        others = [other for other in scenes if other.path != scene.path]
        sample = _spread(others)
        figures = [self._sampled(other) for other in sample]
        vocabulary: Counter[str] = Counter()
        for other in others:
            vocabulary.update(self._counted(other))
        kept = tuple(one for one in figures if one)
        return Baseline(figures=kept, words=int(sum(one["words"] for one in kept)), vocabulary=vocabulary)

    def _sampled(self, scene: Scene) -> Figures:
        key = (scene.source.sha256, scene.body_line)
        with self._lock:
            held = self._figures.get(key)
        if held is None:
            prose = read_prose(scene.source, scene.body_line, max_words=SAMPLE_WORDS)
            held = {name: value for name, (_, value) in figures_of(prose).items()}
            with self._lock:
                _keep(self._figures, key, held)
        return held

    def _counted(self, scene: Scene) -> Counter[str]:
        key = (scene.source.sha256, scene.body_line)
        with self._lock:
            held = self._counts.get(key)
        if held is None:
            lines = scene.source.lines[scene.body_line - 1 :]
            held = Counter(plain_form(word) for word in words_of("\n".join(lines)))
            with self._lock:
                _keep(self._counts, key, held)
        return held


def figures_of(prose: Prose) -> dict[str, tuple[Focus, float]]:
    """Every measure of a scene, by name."""
    made: dict[str, tuple[Focus, float]] = {}
    for focus, figures in _GROUPS:
        made |= {name: (focus, value) for name, value in figures(prose).items()}
    return made


def compared(prose: Prose, baseline: Baseline) -> list[Measure]:
    """The measures of a scene beside the usual."""
    return [_measure(name, focus, value, baseline) for name, (focus, value) in figures_of(prose).items()]


def _measure(name: str, focus: Focus, value: float, baseline: Baseline) -> Measure:
    usual = [figures[name] for figures in baseline.figures if name in figures]
    # How long the scenes of the sample are says nothing: they were cut.
    if len(usual) < FEWEST_SCENES or name in _CUT:
        return Measure(name=name, focus=focus, value=value, usual=None, spread=None, verdict="no_baseline")
    mean, spread = fmean(usual), pstdev(usual)
    verdict = "usual"
    if abs(value - mean) > UNUSUAL * max(spread, 0.01 * abs(mean)):
        verdict = "higher" if value > mean else "lower"
    return Measure(name=name, focus=focus, value=value, usual=mean, spread=spread, verdict=verdict)


def _spread(scenes: Sequence[Scene]) -> list[Scene]:
    """A few scenes from all over the book."""
    count = min(len(scenes), SAMPLE_SCENES)
    return [scenes[at * len(scenes) // count] for at in range(count)]


def _keep(kept: OrderedDict[tuple[str, int], Kept], key: tuple[str, int], value: Kept) -> None:
    kept[key] = value
    while len(kept) > _KEPT:
        kept.popitem(last=False)


_GROUPS: tuple[tuple[Focus, Callable[[Prose], dict[str, float]]], ...] = (
    ("pacing", pacing_figures),
    ("rhythm", rhythm_figures),
    ("voice", voice_figures),
)
_CUT = frozenset({"words", "paragraphs"})
