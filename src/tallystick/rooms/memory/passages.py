"""Which texts are shown beside the facts: what the accepted ones rest on first, then what fits best, each once."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.about import About
from tallystick.rooms.memory.excerpts import excerpt, tokens_of
from tallystick.rooms.memory.extract import claims_in
from tallystick.rooms.memory.naming import name_key, text_key
from tallystick.rooms.memory.nouns import Observation
from tallystick.rooms.memory.ranking import Ranking
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import stamp_of

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
    state: State, ranking: Ranking, evidence: Iterable[str], about: About, *, limit: int, tokens: int, spent: int
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


def speaks_of_another(seen: Observation, about: About, owners: Collection[str]) -> bool:
    """Whether all that a text states is about another than was asked for."""
    if not (about.things or about.of_other) or about.mentions(seen.text):
        return False
    claims = claims_in(seen.text, speaker=seen.source_id)
    return bool(claims) and all(about.misses(claim.subject, claim.predicate, owners) for claim in claims)


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
