"""How sentences follow each other: their lengths, and how they begin."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import fmean, pstdev

from tallystick.rooms.studio.prose.findings import Finding, places_of
from tallystick.rooms.studio.prose.reading import Prose, Sentence
from tallystick.rooms.studio.prose.wording import plain_form

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
        yield _finding(prose, "long_sentence", message, long)
    even = _even_runs(prose)
    if even:
        message = f"{EVEN_RUN} or more sentences in a row of nearly the same length."
        yield _finding(prose, "even_rhythm", message, [run[0] for run in even])
    for opening, run in _same_openings(prose):
        message = f"{len(run)} sentences in a row begin with “{opening}”."
        yield _finding(prose, "same_opening", message, run)


def _finding(prose: Prose, kind: str, message: str, sentences: Sequence[Sentence]) -> Finding:
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
