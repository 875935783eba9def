"""What memory knows about a question: facts with their present standing, and the texts that most likely answer it.

A budget bounds both together. Nothing is summed up or worded anew: facts are shown as they were proposed, with a label
that says how far they may be relied on, and texts are shown word for word.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.catalogue import Catalogue
from tallystick.rooms.memory.entities import names_of
from tallystick.rooms.memory.excerpts import excerpt, tokens_of
from tallystick.rooms.memory.explain import proposition_dict
from tallystick.rooms.memory.naming import name_key, predicate_key
from tallystick.rooms.memory.nouns import Observation, Proposition
from tallystick.rooms.memory.question import Question, content_words, read_question
from tallystick.rooms.memory.ranking import Ranked, rank
from tallystick.rooms.memory.slices import Log, replayed
from tallystick.rooms.memory.standing import Standing, holds_at, standing
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.states import RELIED_ON
from tallystick.rooms.memory.times import stamp_of

ITEMS, TOKENS = 10, 1000
"""The usual budget."""
MAX_ITEMS, MAX_TOKENS = 50, 8000
ITEM_TOKENS = 200
"""Of one text; longer ones are shown in part."""
LOOKED_AT = 40
"""Facts that are weighed for one question."""
READ = 1000
"""Facts about one subject that are read to find those about a moment."""
FACT_COVERS, FACT_SHARE = 0.34, 0.5
"""A fact is shown when it meets this share of a question's words, and comes to this share of the best one's score."""


@record
class Wanted:
    """What is asked of memory."""

    query: str = ""
    entity: str | None = None
    """Only facts about this subject."""
    predicate: str | None = None
    as_of_seq: int | None = None
    """As it stood at this place of the log."""
    valid_at: int | None = None
    """Only facts that speak of this moment."""
    limit: int = ITEMS
    tokens: int = TOKENS


@record
class Fact:
    """A proposition that bears on the question."""

    one: Proposition
    stands: Standing

    @property
    def words(self) -> str:
        """As it is shown, and counted."""
        return f"{self.one.subject} {self.one.predicate} {self.one.object}"

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        shown = self.stands.as_dict()
        del shown["figures"], shown["evidence_ids"]
        return {**proposition_dict(self.one), **shown, "belief": self.stands.figures.belief}


@record
class Passage:
    """A text that may answer the question."""

    seen: Observation
    text: str
    score: int
    """In hundredths; only to compare within one answer."""

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
        }


@record
class Recollection:
    """The answer."""

    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...]
    doubt: str | None
    """Why there may be no answer here: nothing_found, hardly_related, said_of_another."""
    tokens: int
    complete: bool
    """False: the words are so common that only the newest texts with them were looked at."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "facts": [fact.as_dict() for fact in self.facts],
            "passages": [passage.as_dict() for passage in self.passages],
            "doubt": self.doubt,
            "tokens": self.tokens,
            "complete": self.complete,
        }


def recall(state: State, log: Log, catalogue: Catalogue, wanted: Wanted, *, now: int) -> Recollection:
    """Ask memory.

    Args:
        state: Memory, written and indexed.
        log: Where the events are.
        catalogue: The indexes.
        wanted: What is asked, and the budget.
        now: The moment that facts are weighed at.
    """
    question = read_question(wanted.query)
    facts = _facts(state, log, catalogue, wanted, question, now)
    ranking = rank(catalogue.observations, question, limit=wanted.limit, as_of_seq=wanted.as_of_seq)
    shown, spent = _within(facts, wanted.limit // 2 if question.words else wanted.limit, wanted.tokens // 2)
    passages: list[Passage] = []
    for ranked in ranking.best if wanted.entity is None else ():
        seen = state.observations.get(ranked.entry.id)
        if seen is not None and len(shown) + len(passages) < wanted.limit:
            text = excerpt(seen.text, ranking.worth, min(ITEM_TOKENS, wanted.tokens))
            if spent + tokens_of(text) <= wanted.tokens:
                spent += tokens_of(text)
                passages.append(_passage(ranked, seen, text))
    accepted = any(fact.stands.status == "accepted" for fact in shown)
    # Whoever names only an entity asked for all that is known of it; there are no words it could miss.
    doubt = None if accepted or (shown and not question.words) else ranking.doubt
    if not shown and not passages:
        doubt = "nothing_found"
    return Recollection(
        facts=tuple(shown), passages=tuple(passages), doubt=doubt, tokens=spent, complete=ranking.complete
    )


def _passage(ranked: Ranked, seen: Observation, text: str) -> Passage:
    return Passage(seen=seen, text=text, score=round(ranked.score * 100))


def _within(facts: Iterable[Fact], limit: int, tokens: int) -> tuple[list[Fact], int]:
    shown: list[Fact] = []
    spent = 0
    for fact in facts:
        cost = tokens_of(fact.words)
        if len(shown) < limit and spent + cost <= tokens:
            shown.append(fact)
            spent += cost
    return shown, spent


def _facts(state: State, log: Log, catalogue: Catalogue, wanted: Wanted, question: Question, now: int) -> list[Fact]:
    """Facts that bear on the question, those to rely on first."""
    then = now if wanted.as_of_seq is None else log.time_at(wanted.as_of_seq)
    found: list[tuple[int, float, Fact]] = []
    for one, score in _candidates(state, catalogue, wanted, question):
        fact = _weighed(state, log, one, wanted.as_of_seq, now if then is None else then)
        if fact is not None:
            found.append((RELIED_ON[fact.stands.status], -score, fact))
    return [fact for *_, fact in sorted(found, key=lambda each: (each[0], each[1], each[2].one.id))]


def _candidates(
    state: State, catalogue: Catalogue, wanted: Wanted, question: Question
) -> Iterable[tuple[Proposition, float]]:
    """Propositions that may answer: by their words, and by subject and predicate as the tables have them."""
    predicate = None if wanted.predicate is None else predicate_key(wanted.predicate)
    subjects = [] if wanted.entity is None else names_of(state, wanted.entity, wanted.as_of_seq)
    found: dict[str, tuple[Proposition, float]] = {}
    if question.words:
        for one, score in _by_words(state, catalogue, wanted, question, predicate):
            if not subjects or name_key(one.subject) in subjects:
                found[one.id] = one, score
    most = max(min(2 * wanted.limit, LOOKED_AT), wanted.limit, len(found))
    if subjects or (predicate is not None and not question.words):
        # Which of them speak of a moment is only seen when they are read.
        read = most if wanted.valid_at is None else READ
        for place, subject in enumerate(subjects or [None]):
            # What is called otherwise comes after what is called so.
            score = -1.0 if place else 0.0
            for one in state.about(subject, predicate, upto=wanted.as_of_seq, most=read):
                found.setdefault(one.id, (one, score))
    about = (each for each in found.values() if wanted.valid_at is None or holds_at(each[0], wanted.valid_at))
    return list(islice(about, most))


def _by_words(
    state: State, catalogue: Catalogue, wanted: Wanted, question: Question, predicate: str | None
) -> Iterable[tuple[Proposition, float]]:
    """Propositions whose words meet the question's, the best first."""
    named = (wanted.entity or "", (predicate or "").replace("_", " "))
    asked = read_question(" ".join((*named, wanted.query)))
    ranking = rank(catalogue.propositions, asked, limit=LOOKED_AT, as_of_seq=wanted.as_of_seq)
    for ranked in ranking.best:
        one = state.propositions.get(ranked.entry.id)
        if one is None or (predicate is not None and one.predicate != predicate):
            continue
        fits = ranked.covers >= FACT_COVERS and ranked.score >= ranking.best[0].score * FACT_SHARE
        if wanted.entity is not None or (fits and _meets(one, question)):
            yield one, ranked.score


def _meets(one: Proposition, question: Question) -> bool:
    """Whether it holds one of the words that were asked, besides a predicate that was named apart."""
    said = {*content_words(f"{one.subject} {one.predicate.replace('_', ' ')} {one.object}")}
    return not said.isdisjoint(question.words)


def _weighed(state: State, log: Log, one: Proposition, as_of_seq: int | None, now: int) -> Fact | None:
    if as_of_seq is None:
        return Fact(one=one, stands=standing(state, one, now))
    past = replayed(state, log, one, now=now, upto=as_of_seq)
    then = past.propositions.get(one.id)
    return None if then is None else Fact(one=then, stands=standing(past, then, now))
