"""What memory knows about a question: facts with their present standing, and the texts that most likely answer it.

A budget bounds both together. Nothing is summed up or worded anew: facts are shown as they were proposed, with a label
that says how far they may be relied on, and texts are shown word for word.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.about import About, read_about
from tallystick.rooms.memory.catalogue import Catalogue
from tallystick.rooms.memory.entities import names_of
from tallystick.rooms.memory.excerpts import tokens_of
from tallystick.rooms.memory.facts import Fact, in_succession, place_of
from tallystick.rooms.memory.naming import name_key, predicate_key
from tallystick.rooms.memory.nouns import Proposition
from tallystick.rooms.memory.passages import Passage, choose_passages
from tallystick.rooms.memory.question import Question, content_words, read_question
from tallystick.rooms.memory.ranking import rank
from tallystick.rooms.memory.slices import Log, replayed
from tallystick.rooms.memory.standing import holds_at, prepare, standing
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.stems import stem

ITEMS, TOKENS = 10, 1000
"""The usual budget."""
MAX_ITEMS, MAX_TOKENS = 50, 8000
SPARE = 20
"""Texts that are looked at beyond those wanted: many may say the same."""
EVIDENCE = 3
"""Texts that an accepted fact is shown with; `explain` shows all."""
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
    about, owners = read_about(question) if wanted.entity is None else About(), state.policy.owners
    asked = _by_name(wanted, about, catalogue, owners)
    found = _facts(state, log, catalogue, asked, read_question(asked.query), now)
    facts = in_succession([fact for fact in found if _fits(fact.one, about, owners)])
    ranking = rank(catalogue.observations, question, limit=wanted.limit, spare=SPARE, as_of_seq=wanted.as_of_seq)
    shown, spent = _within(facts, wanted.limit // 2 if question.words else wanted.limit, wanted.tokens // 2)
    passages: list[Passage] = []
    if wanted.entity is None:
        passages, spent = choose_passages(
            state, ranking, _evidence(shown), about, limit=wanted.limit - len(shown), tokens=wanted.tokens, spent=spent
        )
    missed = bool(found) or all(about.passes_by(each.text, each.seen.source_id, owners) for each in passages)
    doubt = _doubt(ranking.doubt, question, shown, passages, missed=missed)
    return Recollection(
        facts=tuple(shown), passages=tuple(passages), doubt=doubt, tokens=spent, complete=ranking.complete
    )


def _by_name(wanted: Wanted, about: About, catalogue: Catalogue, owners: Iterable[str]) -> Wanted:
    """The same with the names of whoever asks of himself: facts are kept by name."""
    named = [name for name in owners if about.of_asker and catalogue.propositions.is_speaker(stem(name))]
    return replace(wanted, query=" ".join((*named, wanted.query))) if named else wanted


def _doubt(
    said: str | None, question: Question, facts: Sequence[Fact], passages: Sequence[Passage], *, missed: bool
) -> str | None:
    """Why there may be no answer.

    Args:
        said: What speaks against the texts that were found.
        question: What is asked.
        facts: What is shown.
        passages: The texts that are shown.
        missed: What was found is about somebody else.
    """
    if not facts:
        return "nothing_found" if not passages else said or ("said_of_another" if missed else None)
    # Whoever names only an entity asked for all that is known of it; there are no words it could miss.
    if not question.words or said == "nothing_found" or any(fact.stands.status == "accepted" for fact in facts):
        return None
    return said


def _fits(one: Proposition, about: About, owners: Collection[str]) -> bool:
    return about.fits(one.subject, one.predicate, one.object, owners)


def _evidence(facts: Iterable[Fact]) -> list[str]:
    """What the accepted ones rest on, the strongest of each."""
    return [
        name for fact in facts if fact.stands.status == "accepted" for name in fact.stands.evidence_ids[:EVIDENCE]
    ]  # fmt: skip


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
    found: list[tuple[tuple[int, bool], float, Fact]] = []
    candidates = _candidates(state, catalogue, wanted, question)
    if wanted.as_of_seq is None:
        prepare(state, (one for one, _ in candidates))
    for one, score in candidates:
        fact = _weighed(state, log, one, wanted.as_of_seq, now if then is None else then)
        if fact is not None:
            found.append((place_of(fact.stands), -score, fact))
    return [fact for *_, fact in sorted(found, key=lambda each: (each[0], each[1], each[2].one.id))]


def _candidates(
    state: State, catalogue: Catalogue, wanted: Wanted, question: Question
) -> list[tuple[Proposition, float]]:
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
    known = state.propositions.some(ranked.entry.id for ranked in ranking.best)
    for ranked in ranking.best:
        one = known.get(ranked.entry.id)
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
