"""Pace and rhythm: paragraph lengths, the share of dialogue, sentence lengths and openings."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from statistics import fmean, pstdev

from tallystick.rooms.studio.prose.findings import Finding, places_of
from tallystick.rooms.studio.prose.paragraphs import Paragraph, Prose, Sentence, plain_form

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
        yield _pace_finding(prose, "long_paragraph", message, long)
    quiet = [run for run in _quiet_runs(prose) if _words(run) >= QUIET_WORDS]
    if quiet and any(paragraph.spoken_count for paragraph in prose.paragraphs):
        message = (
            f"Stretches of {QUIET_WORDS} words and more without speech; the longest has {max(map(_words, quiet))}."
        )
        yield _pace_finding(prose, "no_dialogue", message, [run[0] for run in quiet])
    talk = [run for run in _talk_runs(prose) if len(run) >= TALK_PARAGRAPHS]
    if talk:
        message = f"{TALK_PARAGRAPHS} or more paragraphs of speech in a row with hardly any narration."
        yield _pace_finding(prose, "only_dialogue", message, [run[0] for run in talk])


def _pace_finding(prose: Prose, kind: str, message: str, paragraphs: Sequence[Paragraph]) -> Finding:
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


EVEN_RUN = 6
"""Sentences of nearly one length in a row that a reader hears as a drum."""
EVEN_WITHIN = 2
OPENING_RUN = 3
LONG_SENTENCE = 45
SHORT_SENTENCE = 6


def rhythm_figures(prose: Prose) -> dict[str, float]:
    """The measures of rhythm; empty without sentences."""
    sentences = prose.sentences
    lengths = [len(sentence.words) for sentence in sentences]
    if not lengths:
        return {}
    mean = fmean(lengths)
    openings = [_opening(sentence) for sentence in sentences]
    same = sum(one == other for one, other in pairwise(openings))
    return {
        "words_per_sentence": mean,
        "sentence_spread": pstdev(lengths),
        "sentence_variation": pstdev(lengths) / mean,
        "longest_sentence": float(max(lengths)),
        "short_sentences": sum(length <= SHORT_SENTENCE for length in lengths) / len(lengths),
        "same_openings": same / len(lengths),
        "questions": sum("?" in sentence.text for sentence in sentences) / len(lengths),
        "exclamations": sum("!" in sentence.text for sentence in sentences) / len(lengths),
    }


def rhythm_findings(prose: Prose) -> Iterator[Finding]:
    """Even runs, repeated openings, very long sentences."""
    long = sorted(
        (sentence for sentence in prose.sentences if len(sentence.words) >= LONG_SENTENCE),
        key=lambda sentence: -len(sentence.words),
    )
    if long:
        message = f"Sentences of {LONG_SENTENCE} words and more; the longest has {len(long[0].words)}."
        yield _sentence_finding(prose, "long_sentence", message, long)
    even = _even_runs(prose)
    if even:
        message = f"{EVEN_RUN} or more sentences in a row of nearly the same length."
        yield _sentence_finding(prose, "even_rhythm", message, [run[0] for run in even])
    for opening, run in _same_openings(prose):
        message = f"{len(run)} sentences in a row begin with “{opening}”."
        yield _sentence_finding(prose, "same_opening", message, run)


def _sentence_finding(prose: Prose, kind: str, message: str, sentences: Sequence[Sentence]) -> Finding:
    places = places_of(prose.source, ((sentence.line, sentence.text) for sentence in sentences))
    return Finding(kind=kind, focus="rhythm", message=message, count=len(sentences), places=places)


def _even_runs(prose: Prose) -> list[list[Sentence]]:
    runs: list[list[Sentence]] = []
    run: list[Sentence] = []
    for sentence in prose.sentences:
        if run and abs(len(sentence.words) - len(run[0].words)) > EVEN_WITHIN:
            runs.append(run)
            run = []
        run.append(sentence)
    return [one for one in [*runs, run] if len(one) >= EVEN_RUN]


def _same_openings(prose: Prose) -> Iterator[tuple[str, list[Sentence]]]:
    for opening, grouped in groupby(prose.sentences, key=_opening):
        run = list(grouped)
        if len(run) >= OPENING_RUN and not all(sentence.spoken for sentence in run):
            yield opening, run


def _opening(sentence: Sentence) -> str:
    return plain_form(sentence.words[0])
