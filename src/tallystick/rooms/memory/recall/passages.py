"""Which texts are shown beside the facts: the evidence of accepted facts first, then the best match, each once.

Of a long text whole sentences are shown, word for word, around what was asked for.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, text_key
from tallystick.rooms.memory.model import Observation
from tallystick.rooms.memory.recall.question import Topic, content_words
from tallystick.rooms.memory.recall.ranking import Ranking
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.state import State
from tallystick.text.sentences import sentence_spans
from tallystick.text.spans import Span
from tallystick.text.stems import stems

_WORD_TOKENS = 13
"""Tokens in ten words, as tokenisers cut English prose."""


def tokens_of(text: str) -> int:
    """About how many tokens a text is; rather too many than too few."""
    return max((len(text) + 3) // 4, (len(text.split()) * _WORD_TOKENS + 9) // 10)


def excerpt(text: str, worth: Mapping[str, float], tokens: int) -> str:
    """The part of a text, no longer than this, that holds most of what was asked for.

    Args:
        text: All of it.
        worth: Word → what a mention is worth.
        tokens: The most it may have.
    """
    if tokens_of(text) <= tokens:
        return text
    spans = sentence_spans(text, wrapped=False)
    if not spans:
        return _cut(text.strip(), tokens)
    scores = [sum(worth.get(word, 0.0) for word in set(content_words(text[start:end]))) for start, end in spans]
    first = last = max(range(len(spans)), key=lambda at: (scores[at], -at))
    while True:
        grown = _grown(text, spans, first, last, tokens)
        if grown is None:
            break
        first, last = grown
    return _cut(text[spans[first][0] : spans[last][1]].strip(), tokens)


def _grown(text: str, spans: Sequence[Span], first: int, last: int, tokens: int) -> tuple[int, int] | None:
    """One sentence more, after or else before; None when there is no room."""
    for a, b in ((first, last + 1), (first - 1, last)):
        if a >= 0 and b < len(spans) and tokens_of(text[spans[a][0] : spans[b][1]]) <= tokens:
            return a, b
    return None


def _cut(text: str, tokens: int) -> str:
    """A single sentence may still be too long; it is cut after a word."""
    while tokens_of(text) > tokens:
        shorter = text[: max(len(text) * tokens // tokens_of(text) - 1, 0)]
        text = shorter.rsplit(None, 1)[0] if len(shorter.split()) > 1 else shorter
    return text


ITEM_TOKENS = 200
"""Of one text; longer ones are shown in part."""


@record
class Passage:
    """A text that may answer the question."""

    seen: Observation
    text: str
    score: int
    """In hundredths; only to compare within one answer."""
    times: int = 1
    """How often sources of its kind said these very words, among the texts that were looked at."""
    sources: int = 1
    """How many of them there are: who says it twice is one."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "observation_id": self.seen.id,
            "text": self.text,
            "whole": self.text == self.seen.text,
            "source_id": self.seen.source_id,
            "class": self.seen.weighed_as,
            "observed_at": stamp_of(self.seen.observed_at),
            "episode_id": self.seen.episode_id,
            "receipt_id": self.seen.receipt_id,
            "seq": self.seen.seq,
            "score": self.score,
            "times": self.times,
            "sources": self.sources,
        }


def choose_passages(
    state: State,
    ranking: Ranking,
    evidence: Iterable[str],
    about: Topic,
    *,
    limit: int,
    tokens: int,
    spent: int,
) -> tuple[list[Passage], int]:
    """The texts to show, and the tokens that are spent then.

    Args:
        state: Memory.
        ranking: The texts that fit.
        evidence: Observations that accepted facts rest on; they come first.
        about: Whom the question is about.
        limit: Texts at most.
        tokens: Tokens at most, in all.
        spent: Tokens that the facts took.
    """
    chosen: list[Passage] = []
    for seen, score, (times, sources) in _each_once(state, ranking, evidence):
        if len(chosen) >= limit:
            break
        if speaks_of_another(seen, about, state.policy.owners):
            continue
        text = excerpt(seen.text, ranking.worth, min(ITEM_TOKENS, tokens))
        if spent + tokens_of(text) <= tokens:
            spent += tokens_of(text)
            chosen.append(Passage(seen=seen, text=text, score=round(score * 100), times=times, sources=sources))
    return chosen, spent


def speaks_of_another(seen: Observation, about: Topic, owners: Collection[str]) -> bool:
    """Return whether a text of the owner names none of the others that are asked about."""
    if not (about.things or about.of_other) or about.mentions(seen.text):
        return False
    return about.of_other and name_key(seen.source_id) in owners and about.names.isdisjoint(stems(seen.text))


def _each_once(
    state: State, ranking: Ranking, evidence: Iterable[str]
) -> Iterator[tuple[Observation, float, tuple[int, int]]]:
    """Texts in the order they are shown; the same words from the same kind of source stand for all of them.

    With each: how often they were said, and by how many.
    """
    scores = {ranked.entry.id: ranked.score for ranked in ranking.best}
    same: dict[str, list[Observation]] = {}
    for seen in state.observations.some((*evidence, *scores)).values():
        same.setdefault(f"{seen.weighed_as} {text_key(seen.text)}", []).append(seen)
    for said in same.values():
        speakers = {name_key(seen.source_id) for seen in said}
        yield said[0], scores.get(said[0].id, 0.0), (len(said), len(speakers))
