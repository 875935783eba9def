"""How fast a scene goes: how long its paragraphs are, and how much of it is spoken."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, pstdev

from tallystick.rooms.studio.prose.findings import Finding, places_of
from tallystick.rooms.studio.prose.reading import Paragraph, Prose

LONG_PARAGRAPH = 200
QUIET_WORDS = 600
"""Words without speech after which a reader of most novels has turned two pages."""
TALK_PARAGRAPHS = 20
"""Spoken paragraphs in a row with hardly a word of narration between them."""


def pacing_figures(prose: Prose) -> dict[str, float]:
    """The measures of pace; empty without words."""
    words = prose.word_count
    if not words:
        return {}
    lengths = [paragraph.word_count for paragraph in prose.paragraphs]
    return {
        "words": float(words),
        "paragraphs": float(len(lengths)),
        "words_per_paragraph": fmean(lengths),
        "paragraph_spread": pstdev(lengths),
        "dialogue_ratio": sum(paragraph.spoken_count for paragraph in prose.paragraphs) / words,
        "longest_without_dialogue": float(max((_words(run) for run in _quiet_runs(prose)), default=0)),
    }


def pacing_findings(prose: Prose) -> Iterator[Finding]:
    """Long paragraphs, long stretches without speech, and talk without a world around it."""
    long = sorted(
        (paragraph for paragraph in prose.paragraphs if paragraph.word_count >= LONG_PARAGRAPH),
        key=lambda paragraph: -paragraph.word_count,
    )
    if long:
        message = f"Paragraphs of {LONG_PARAGRAPH} words and more; the longest has {long[0].word_count}."
        yield _finding(prose, "long_paragraph", message, long)
    quiet = [run for run in _quiet_runs(prose) if _words(run) >= QUIET_WORDS]
    if quiet and any(paragraph.spoken_count for paragraph in prose.paragraphs):
        message = (
            f"Stretches of {QUIET_WORDS} words and more without speech; the longest has {max(map(_words, quiet))}."
        )
        yield _finding(prose, "no_dialogue", message, [run[0] for run in quiet])
    talk = [run for run in _talk_runs(prose) if len(run) >= TALK_PARAGRAPHS]
    if talk:
        message = f"{TALK_PARAGRAPHS} or more paragraphs of speech in a row with hardly any narration."
        yield _finding(prose, "only_dialogue", message, [run[0] for run in talk])


def _finding(prose: Prose, kind: str, message: str, paragraphs: Sequence[Paragraph]) -> Finding:
    marks = ((paragraph.line, paragraph.sentences[0].text) for paragraph in paragraphs)
    return Finding(
        kind=kind, focus="pacing", message=message, count=len(paragraphs), places=places_of(prose.source, marks)
    )


def _quiet_runs(prose: Prose) -> list[list[Paragraph]]:
    return _runs(prose, lambda paragraph: not paragraph.spoken_count)


def _talk_runs(prose: Prose) -> list[list[Paragraph]]:
    return _runs(prose, lambda paragraph: paragraph.spoken_count >= 0.9 * paragraph.word_count)


def _runs(prose: Prose, fits: Callable[[Paragraph], bool]) -> list[list[Paragraph]]:
    runs: list[list[Paragraph]] = [[]]
    for paragraph in prose.paragraphs:
        if fits(paragraph):
            runs[-1].append(paragraph)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _words(run: Sequence[Paragraph]) -> int:
    return sum(paragraph.word_count for paragraph in run)
