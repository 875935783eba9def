"""Which texts answer a question: BM25 first, then what conversations are like.

- What was said right after a question or a mention belongs to it, so a text gets part of its neighbours' scores.
- Who is named in the question is likely the one who said it.
- A question that asks for a time wants a text that names one; a question that names a time wants a text of then.
- A question is seldom the evidence for an answer.

The numbers were set on six long conversations, and rounded: each helps on every one of them.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from tallystick.records import record
from tallystick.rooms.memory.recall.postings import best_of
from tallystick.rooms.memory.recall.question import Question, coverage
from tallystick.rooms.memory.recall.said_of_another import is_said_of_another
from tallystick.rooms.memory.recall.text_index import SearchScores, TextIndex, speaker_words
from tallystick.storage.text_segments import NONE, SegmentEntry

SPREADING, SPREADING_BOUNDED = 80, 40
"""How many of the best texts give part of their scores to their neighbours; fewer where so many texts hold the words
that only some were looked at, since each is read from the disk."""
TO_NEXT, TO_SECOND, TO_PREVIOUS = 0.45, 0.15, 0.25
ANSWERED = 1.6
"""The text after a question is likely its answer."""
NAME_WEIGHT = 0.3
"""Of a speaker's name among the words: it stands in every greeting, and says nothing of the matter."""
SPEAKER, SPEAKER_SHARE = 1.15, 0.1
"""Texts of a named speaker: times this, and a share of the best score besides."""
OF_THEN, OF_THAT_DAY = 2.0, 2.0
NAMES_TIME = 1.3
QUESTION = 0.8
HARDLY, HARDLY_NAMED = 0.2, 0.12
"""Below this share of a question's words, no text speaks of it; less where a speaker is named: that is judged apart."""


class Ranked(NamedTuple):
    """One text that may answer."""

    entry: SegmentEntry
    score: float
    covers: float
    """The share of the question's worth that the text's own words meet."""


@record
class Ranking:
    """The best texts, and what speaks against there being an answer."""

    best: tuple[Ranked, ...]
    doubt: str | None
    """nothing_found, hardly_related, said_of_another; None: no reason for doubt."""
    worth: Mapping[str, float]
    """Word → what one mention is worth."""
    complete: bool


def rank(index: TextIndex, question: Question, *, limit: int, spare: int = 0, as_of_seq: int | None = None) -> Ranking:
    """The texts that most likely answer a question.

    Args:
        index: Where they are looked for.
        question: What is asked.
        limit: How many are wanted; whether there is an answer is judged by these.
        spare: How many more are given, for whoever leaves some out.
        as_of_seq: Only texts up to this place of the log.
    """
    names = frozenset(word for word in question.words if index.is_speaker(word))
    words = {word: NAME_WEIGHT if word in names else 1.0 for word in question.words}
    before = None if as_of_seq is None else index.upto(as_of_seq)
    found = index.search(words, before=before)
    plain, entries = _spread(index, found, index.size if before is None else before)
    fitting = {number: plain[number] * _fits(entry, question) for number, entry in entries.items()}
    share = SPEAKER_SHARE * max(fitting.values(), default=0.0)
    scores = {
        number: fitting[number] * SPEAKER + share if _speaks(entry, names) else fitting[number]
        for number, entry in entries.items()
    }
    order = best_of(scores, limit + spare)
    held = index.words(order)
    asked = tuple(word for word in question.words if word not in names) or question.words
    best = tuple(
        Ranked(entry=entries[number], score=scores[number], covers=coverage(held[number], found.worth, asked))
        for number in order
    )
    doubt = _doubt(best[:limit], HARDLY_NAMED if len(names) == 1 else HARDLY)
    if doubt is None and len(names) == 1:
        own = {number: score for number, score in fitting.items() if _speaks(entries[number], names)}
        others = {number: score for number, score in fitting.items() if number not in own}
        doubt = "said_of_another" if is_said_of_another(index, question, asked, found, (own, others)) else None
    return Ranking(best=best, doubt=doubt, worth=found.worth, complete=found.complete)


def _spread(index: TextIndex, found: SearchScores, cut: int) -> tuple[dict[int, float], dict[int, SegmentEntry]]:
    """Give the neighbours of the best texts part of their scores."""
    best = best_of(found.scores, SPREADING if found.complete else SPREADING_BOUNDED)
    entries = index.entries(best)
    around = {n for entry in entries.values() for n in (entry.before, entry.after) if n != NONE and n < cut}
    entries |= index.entries(around - entries.keys())
    second = {entry.after for number, entry in entries.items() if entry.after != NONE and entry.after < cut}
    entries |= index.entries(second - entries.keys())
    scores = {number: found.scores.get(number, 0.0) for number in entries}
    for number in best:
        entry = entries.get(number)
        if entry is None:
            continue
        score = found.scores[number]
        following = entries.get(entry.after)
        if following is not None:
            scores[following.number] += score * TO_NEXT * (ANSWERED if entry.asks else 1.0)
            if following.after in entries:
                scores[following.after] += score * TO_SECOND
        if entry.before in entries:
            scores[entry.before] += score * TO_PREVIOUS
    return scores, entries


def _fits(entry: SegmentEntry, question: Question) -> float:
    """How well a text fits what is asked for, whoever said it."""
    factor = QUESTION if entry.asks else 1.0
    if question.asks_when and entry.timed:
        factor *= NAMES_TIME
    return factor * _fits_time(entry.at, question) if question.months else factor


def _fits_time(at: int, question: Question) -> float:
    moment = datetime.fromtimestamp(at, UTC)
    if moment.month not in question.months or (question.years and moment.year not in question.years):
        return 1.0
    near = any(abs(moment.day - day) <= 1 for day in question.days)
    return OF_THEN * OF_THAT_DAY if near else OF_THEN


def _speaks(entry: SegmentEntry, names: frozenset[str]) -> bool:
    return not names.isdisjoint(speaker_words(entry.speaker))


def _doubt(best: tuple[Ranked, ...], least: float) -> str | None:
    """Why the question may have no answer here, whoever it is about."""
    if not best:
        return "nothing_found"
    return "hardly_related" if max(ranked.covers for ranked in best) < least else None
