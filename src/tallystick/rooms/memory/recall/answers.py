"""What memory knows about a question: facts with their present status, and the texts that most likely answer it.

A budget bounds both together. Nothing is summarised or reworded: facts are shown as proposed, with a label saying how
reliable they are, and texts word for word.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, predicate_key
from tallystick.rooms.memory.model import Proposition
from tallystick.rooms.memory.project.entities import names_of
from tallystick.rooms.memory.recall.facts import Fact, in_succession, rank_of
from tallystick.rooms.memory.recall.indexes import MemoryIndexes
from tallystick.rooms.memory.recall.passages import Passage, choose_passages, tokens_of
from tallystick.rooms.memory.recall.question import Question, Topic, content_words, read_question, read_topic
from tallystick.rooms.memory.recall.ranking import rank
from tallystick.rooms.memory.recall.replay import EventLog, replayed
from tallystick.rooms.memory.weigh.assessment import assess, holds_at, preload
from tallystick.rooms.memory.weigh.state import State
from tallystick.text.stems import stem

ITEMS, TOKENS = 10, 1000
"""The default budget."""
MAX_ITEMS, MAX_TOKENS = 50, 8000
SPARE = 20
"""Further texts that are read: many may say the same."""
EVIDENCE = 3
"""Texts shown with an accepted fact; `explain` shows all."""
LOOKED_AT = 40
"""Facts assessed for one question."""
READ = 1000
"""Facts about one subject that are read to find those about a moment."""
FACT_COVERS, FACT_SHARE = 0.34, 0.5
"""A fact is shown if it covers this share of a question's words and reaches this share of the best score."""


@record
class RecallRequest:
    """A request to memory."""

    query: str = ""
    entity: str | None = None
    """Only facts about this subject."""
    predicate: str | None = None
    as_of_seq: int | None = None
    """As of this log position."""
    valid_at: int | None = None
    """Only facts valid at this moment."""
    limit: int = ITEMS
    tokens: int = TOKENS


@record
class RecallAnswer:
    """The answer."""

    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...]
    doubt: str | None
    """Why there may be no answer here: nothing_found, hardly_related, said_of_another."""
    tokens: int
    complete: bool
    """False: the words are so common that only the newest texts with them were searched."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "facts": [fact.as_dict() for fact in self.facts],
            "passages": [passage.as_dict() for passage in self.passages],
            "doubt": self.doubt,
            "tokens": self.tokens,
            "complete": self.complete,
        }


def recall(state: State, log: EventLog, indexes: MemoryIndexes, wanted: RecallRequest, *, now: int) -> RecallAnswer:
    """Return what memory knows.

    Args:
        state: Memory, written and indexed.
        log: Where the events are.
        indexes: The text indexes.
        wanted: The request and its budget.
        now: The moment for which facts are assessed.
    """
    question = read_question(wanted.query)
    about, owners = read_topic(question) if wanted.entity is None else Topic(), state.policy.owners
    asked = _by_name(wanted, about, indexes, owners)
    found = _facts(state, log, indexes, asked, read_question(asked.query), now)
    facts = in_succession([fact for fact in found if _fits(fact.one, about, owners)])
    ranking = rank(indexes.observations, question, limit=wanted.limit, spare=SPARE, as_of_seq=wanted.as_of_seq)
    shown, spent = _within(facts, wanted.limit // 2 if question.words else wanted.limit, wanted.tokens // 2)
    passages: list[Passage] = []
    if wanted.entity is None:
        passages, spent = choose_passages(
            state, ranking, _evidence(shown), about, limit=wanted.limit - len(shown), tokens=wanted.tokens, spent=spent
        )
    missed = bool(found) or all(about.passes_by(each.text, each.seen.source_id, owners) for each in passages)
    doubt = _doubt(ranking.doubt, question, shown, passages, missed=missed)
    return RecallAnswer(
        facts=tuple(shown), passages=tuple(passages), doubt=doubt, tokens=spent, complete=ranking.complete
    )


def _by_name(wanted: RecallRequest, about: Topic, indexes: MemoryIndexes, owners: Iterable[str]) -> RecallRequest:
    """Return the request with the asker's names, if it is about the asker: facts are kept by name."""
    named = [name for name in owners if about.of_asker and indexes.propositions.is_speaker(stem(name_key(name)))]
    return replace(wanted, query=" ".join((*named, wanted.query))) if named else wanted


def _doubt(
    said: str | None, question: Question, facts: Sequence[Fact], passages: Sequence[Passage], *, missed: bool
) -> str | None:
    """Return why there may be no answer.

    Args:
        said: The doubt of the ranking.
        question: What is asked.
        facts: What is shown.
        passages: The texts that are shown.
        missed: Whether everything found is about somebody else.
    """
    if not facts:
        return "nothing_found" if not passages else said or ("said_of_another" if missed else None)
    # A request with an entity alone asks for everything about it; there are no words to miss.
    if not question.words or said == "nothing_found" or any(fact.assessment.status == "accepted" for fact in facts):
        return None
    return said


def _fits(one: Proposition, about: Topic, owners: Collection[str]) -> bool:
    return about.fits(one.subject, one.predicate, one.object, owners)


def _evidence(facts: Iterable[Fact]) -> list[str]:
    """Return the strongest evidence of each accepted fact."""
    return [
        name
        for fact in facts
        if fact.assessment.status == "accepted"
        for name in fact.assessment.evidence_ids[:EVIDENCE]
    ]


def _within(facts: Iterable[Fact], limit: int, tokens: int) -> tuple[list[Fact], int]:
    shown: list[Fact] = []
    spent = 0
    for fact in facts:
        cost = tokens_of(fact.words)
        if len(shown) < limit and spent + cost <= tokens:
            shown.append(fact)
            spent += cost
    return shown, spent


def _facts(
    state: State, log: EventLog, indexes: MemoryIndexes, wanted: RecallRequest, question: Question, now: int
) -> list[Fact]:
    """Return the facts that match the question, the most reliable first."""
    then = now if wanted.as_of_seq is None else log.time_at(wanted.as_of_seq)
    found: list[tuple[tuple[int, bool], float, Fact]] = []
    candidates = _candidates(state, indexes, wanted, question)
    if wanted.as_of_seq is None:
        preload(state, (one for one, _ in candidates))
    for one, score in candidates:
        fact = _weighed(state, log, one, wanted.as_of_seq, now if then is None else then)
        if fact is not None:
            found.append((rank_of(fact.assessment), -score, fact))
    return [fact for *_, fact in sorted(found, key=lambda each: (each[0], each[1], each[2].one.id))]


def _candidates(
    state: State, indexes: MemoryIndexes, wanted: RecallRequest, question: Question
) -> list[tuple[Proposition, float]]:
    """Return propositions that may answer: by their words, and by subject and predicate."""
    predicate = None if wanted.predicate is None else predicate_key(wanted.predicate)
    subjects = [] if wanted.entity is None else names_of(state, wanted.entity, wanted.as_of_seq)
    found: dict[str, tuple[Proposition, float]] = {}
    if question.words:
        for one, score in _by_words(state, indexes, wanted, question, predicate):
            if not subjects or name_key(one.subject) in subjects:
                found[one.id] = one, score
    most = max(min(2 * wanted.limit, LOOKED_AT), wanted.limit, len(found))
    if subjects or (predicate is not None and not question.words):
        # Valid times are known only after reading.
        read = most if wanted.valid_at is None else READ
        for place, subject in enumerate(subjects or [None]):
            # Facts under another name of the entity come last.
            score = -1.0 if place else 0.0
            for one in state.about(subject, predicate, upto=wanted.as_of_seq, most=read):
                found.setdefault(one.id, (one, score))
    about = (each for each in found.values() if wanted.valid_at is None or holds_at(each[0], wanted.valid_at))
    return list(islice(about, most))


def _by_words(
    state: State, indexes: MemoryIndexes, wanted: RecallRequest, question: Question, predicate: str | None
) -> Iterable[tuple[Proposition, float]]:
    """Yield propositions that share words with the question, the best first."""
    named = (wanted.entity or "", (predicate or "").replace("_", " "))
    asked = read_question(" ".join((*named, wanted.query)))
    ranking = rank(indexes.propositions, asked, limit=LOOKED_AT, as_of_seq=wanted.as_of_seq)
    known = state.propositions.some(ranked.entry.id for ranked in ranking.best)
    for ranked in ranking.best:
        one = known.get(ranked.entry.id)
        if one is None or (predicate is not None and one.predicate != predicate):
            continue
        fits = ranked.covers >= FACT_COVERS and ranked.score >= ranking.best[0].score * FACT_SHARE
        if wanted.entity is not None or (fits and _meets(one, question)):
            yield one, ranked.score


def _meets(one: Proposition, question: Question) -> bool:
    """Return whether it contains a word of the question itself."""
    said = {*content_words(f"{one.subject} {one.predicate.replace('_', ' ')} {one.object}")}
    return not said.isdisjoint(question.words)


def _weighed(state: State, log: EventLog, one: Proposition, as_of_seq: int | None, now: int) -> Fact | None:
    if as_of_seq is None:
        return Fact(one=one, assessment=assess(state, one, now))
    past = replayed(state, log, one, now=now, upto=as_of_seq)
    then = past.propositions.get(one.id)
    return None if then is None else Fact(one=then, assessment=assess(past, then, now))
