"""Everything that can be asked of memory in an open workspace. Nothing here changes anything."""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.rooms.memory.ids import name_key, predicate_key
from tallystick.rooms.memory.model import Event, Observation, Proposition
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.rooms.memory.project.exports import json_ld
from tallystick.rooms.memory.project.projection import Ledger, Projection
from tallystick.rooms.memory.project.receipts import event_of
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.propose.claims import ClaimReader
from tallystick.rooms.memory.recall.answers import RecallAnswer, RecallRequest, recall
from tallystick.rooms.memory.recall.counterfactuals import minimal_supports, what_if
from tallystick.rooms.memory.recall.explanation import explain_proposition
from tallystick.rooms.memory.recall.facts import KnownProposition, known_proposition
from tallystick.rooms.memory.recall.indexes import MemoryIndexes
from tallystick.rooms.memory.recall.inquiry import Inquiry, InquiryReader
from tallystick.rooms.memory.recall.listings import diff
from tallystick.rooms.memory.recall.own_words import Meaning, OwnAnswer, OwnWords
from tallystick.rooms.memory.recall.question import MAX_QUERY, read_question
from tallystick.rooms.memory.recall.ranking import rank
from tallystick.rooms.memory.recall.reply import MemoryReply, ReplyWriter
from tallystick.rooms.memory.recall.talk import Talk
from tallystick.rooms.memory.record_json import reviver
from tallystick.rooms.memory.times import seconds

if TYPE_CHECKING:
    from tallystick.reading.parser import Parser

NEARBY = 16
"""Records before a position that are searched for one of memory's, which has the log time."""

CANDIDATES = 40
"""Propositions with words of the question that are looked at for a subject which is named in part."""
RANKED, NEWEST = 60, 400
"""Observations with words of the question, and newest ones, among which the owner's own words are looked for."""
MOST_VECTORS = 20_000
"""Vectors of texts that are kept between questions."""
COMPARED_BY = "minilm"
"""The model whose likenesses the marks of `own_words` were learnt on."""
MOST_KNOWN = 1_000
"""Propositions of one subject and predicate that are read."""


class LedgerLog:
    """The ledger as an event log."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def event(self, receipt_id: str) -> Event | None:
        """The event of a receipt; None: it was erased, or never was one."""
        found = self._ledger.find(receipt_id)
        return None if found is None else event_of(found)

    def time_at(self, seq: int) -> int | None:
        """The log time at a place; None: the log is not that long."""
        if not 0 <= seq < self._ledger.size():
            return None
        told: int | None = None
        written: int | None = None
        for receipt in self._ledger.read(max(seq - NEARBY, 0)):
            event = event_of(receipt)
            if event is not None:
                # After a clock was set back, log time stands still.
                told = event.at if told is None else max(told, event.at)
            written = seconds(receipt.header["timestamp"])
            if receipt.seq >= seq:
                break
        return written if told is None else told


class MemoryQueries:
    """Answers from the projection, which catches up first."""

    def __init__(
        self,
        projection: Projection,
        ledger: Ledger,
        folder: Path | None,
        clock: Callable[[], int] = lambda: int(time.time()),
    ) -> None:
        """Join what is read.

        Args:
            projection: Memory.
            ledger: Its log.
            folder: Where the indexes are kept.
            clock: The present, in seconds.
        """
        self._projection = projection
        self._ledger = ledger
        self._log = LedgerLog(ledger)
        self._folder = folder
        self._clock = clock
        self._indexes: MemoryIndexes | None = None
        self._state: StoredState | None = None
        """The state that the indexes were last compared with."""
        self._scanned = -1
        self._meaning: Meaning | None = None

    def recall(self, wanted: RecallRequest, *, now: int | None = None) -> RecallAnswer:
        """What memory knows about a question."""
        moment = self._now(now)

        def answer(state: StoredState) -> RecallAnswer:
            return recall(state, self._log, self._indexed(state), wanted, now=moment)

        return self._projection.ask(answer, written=True)

    def ask(self, *, valid_at: int | None = None, now: int | None = None, **wanted: Any) -> RecallAnswer:
        """The same in words: `ask(query="…")`; the other words are those of `Wanted`."""
        return self.recall(RecallRequest(valid_at=valid_at, **wanted), now=now)

    def reply(
        self,
        question: str,
        parser: "Parser | None",
        lexicon: Lexicon,
        *,
        as_of_seq: int | None = None,
        now: int | None = None,
    ) -> MemoryReply:
        """Answer a question in a sentence: by a fact, or by what the owner said."""
        moment, question = self._now(now), question[:MAX_QUERY]
        parsed = None if parser is None else next(parser.parse([question]))
        wanted = RecallRequest(query=question, as_of_seq=as_of_seq)

        def answer(state: StoredState) -> MemoryReply:
            indexes = self._indexed(state)
            owners = state.policy.owners
            inquiry = Inquiry(text=question) if parsed is None else InquiryReader(lexicon, owners[0]).read(parsed)
            found = recall(state, self._log, indexes, wanted, now=moment)
            ranking = rank(indexes.propositions, read_question(question), limit=CANDIDATES)
            candidates = state.propositions.some(each.entry.id for each in ranking.best).values()
            writer = ReplyWriter(
                state, lexicon, now=moment, owners=owners, candidates=candidates, reader=ClaimReader(parser, lexicon)
            )
            own = self._own_words(state, indexes, lexicon, wanted)
            return writer.reply(inquiry, found.passages, own)

        return self._projection.ask(answer, written=True)

    def _own_words(
        self, state: StoredState, indexes: MemoryIndexes, lexicon: Lexicon, wanted: RecallRequest
    ) -> OwnAnswer | None:
        """Return what the owner said in answer; None without the model that texts are compared by."""
        embedder = lexicon.embedder
        if embedder is None or not embedder.name.startswith(COMPARED_BY):
            return None
        if self._meaning is None or self._meaning.size > MOST_VECTORS:
            self._meaning = Meaning(embedder)
        ranking = rank(indexes.observations, read_question(wanted.query), limit=RANKED, as_of_seq=wanted.as_of_seq)
        bodies, _ = state.store.latest_observations(NEWEST, 0)
        seen = {one.id: one for one in map(_observation, bodies)}
        seen |= state.observations.some(each.entry.id for each in ranking.best)
        last = wanted.as_of_seq
        said = [one for one in seen.values() if one.owner and (last is None or one.seq <= last)]
        return OwnWords(Talk(said, lexicon.ontology), self._meaning, lexicon.ontology).answer(wanted.query)

    def known(self, subject: str, predicate: str | None, thing: str | None = None) -> list[KnownProposition]:
        """The propositions of a subject and a predicate, whatever their valid time; only with this object, if named."""

        def find(state: StoredState) -> list[KnownProposition]:
            key = None if predicate is None else predicate_key(predicate)
            about = state.about(name_key(subject), key, upto=None, most=MOST_KNOWN)
            wanted = (one for one in about if thing is None or name_key(one.object) == name_key(thing))
            return sorted((known_proposition(state, one) for one in wanted), key=lambda one: one.id)

        return self._projection.ask(find, written=True)

    def replaced_by(self, proposition_id: str) -> tuple[KnownProposition | None, tuple[KnownProposition, ...]]:
        """Return a proposition, and those of its subject and predicate that it replaced; None: there is none."""

        def find(state: StoredState) -> tuple[KnownProposition | None, tuple[KnownProposition, ...]]:
            one = state.propositions.get(proposition_id)
            if one is None:
                return None, ()
            about = state.about(name_key(one.subject), one.predicate, upto=None, most=MOST_KNOWN)
            older = [each for each in about if each.id in one.supersedes or each.superseded_by == one.id]
            return known_proposition(state, one), tuple(known_proposition(state, each) for each in older)

        return self._projection.ask(find, written=True)

    def explain(
        self, proposition_id: str, *, as_of_seq: int | None = None, now: int | None = None
    ) -> dict[str, Any] | None:
        """Why a proposition stands as it does; None: there is none (or was none then)."""
        moment = self._now(now)
        return self._projection.ask(
            lambda state: explain_proposition(state, self._log, proposition_id, now=moment, as_of_seq=as_of_seq)
        )

    def what_if(
        self, proposition_id: str, *, without: str, also: Collection[str] = (), now: int | None = None
    ) -> dict[str, Any] | None:
        """How it would stand had a source, or several, never spoken."""
        moment = self._now(now)
        return self._projection.ask(
            lambda state: what_if(state, self._log, proposition_id, without=without, also=also, now=moment)
        )

    def minimal_supports(self, proposition_id: str, *, now: int | None = None) -> dict[str, Any] | None:
        """The fewest observations its status rests on."""
        moment = self._now(now)
        return self._projection.ask(lambda state: minimal_supports(state, proposition_id, now=moment))

    def diff(self, first: int, last: int | None = None) -> dict[str, Any]:
        """What changed between two places of the log; to its end, if no second one is given."""
        end = self._ledger.size() - 1 if last is None else last
        return self._projection.ask(lambda state: diff(state, first, end), written=True)

    def json_ld(self, *, now: int | None = None) -> list[bytes]:
        """All of memory as JSON-LD, in pieces; all of one moment, so nothing is given out before the last is there."""
        moment = self._now(now)
        return self._projection.ask(lambda state: list(json_ld(state, now=moment)), written=True)

    def close(self) -> None:
        """Let go of the indexes."""
        if self._indexes is not None:
            self._indexes.close()
            self._indexes = None

    def _indexed(self, state: StoredState) -> MemoryIndexes:
        """The indexes, at the end of the log. The projection's lock is held here."""
        if self._indexes is None:
            self._indexes = MemoryIndexes(self._folder)
        indexes = self._indexes
        if self._state is not state:
            _fill(state, indexes)
            held = state.store.counts()
            if (indexes.observations.size, indexes.propositions.size) != (
                held["observations"],
                held["propositions"],
            ):
                # They contain what memory no longer holds: something was erased, or it is another log.
                indexes.clear()
                self._meaning = None
                _fill(state, indexes)
            self._state = state
        elif self._scanned != state.scanned:
            _fill(state, indexes)
        self._scanned = state.scanned
        return indexes

    def _now(self, now: int | None) -> int:
        return self._clock() if now is None else now


def _fill(state: StoredState, indexes: MemoryIndexes) -> None:
    indexes.fill(
        state.observations_after(indexes.observations.last_seq),
        map(_proposition, state.store.bodies("propositions", "seq", between=(indexes.propositions.last_seq, None))),
    )


_proposition = reviver(Proposition)
_observation = reviver(Observation)
