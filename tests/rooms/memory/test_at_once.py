"""What is read at once is what would be read one by one, in a number of statements that does not grow with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.fold import fold
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.recall.answers import RecallRequest, recall
from tallystick.rooms.memory.recall.indexes import MemoryIndexes
from tallystick.rooms.memory.store import rows
from tallystick.rooms.memory.store.rows import Store
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.state import State
from tests.rooms.memory.remembering import DAY, Notebook


class NoLog:
    """Nobody asks about other times here."""

    def event(self, receipt_id: str) -> None:
        del receipt_id

    def time_at(self, seq: int) -> None:
        del seq


def told(number: int) -> Notebook:
    """So many propositions about one town, with supports, contradictions and tests."""
    book = Notebook()
    for at in range(number):
        book.now += DAY // 4
        seen = book.sources(f"guest {at} stayed in Lisbon", 2 + at % 2)
        # Of the one predicate somebody may have many objects, of the other one alone.
        name = book.propose(f"guest{at} {('stayed_in', 'lives_in')[at % 2]} Lisbon", *seen)
        if at % 3 == 0:
            book.contradict(name, *book.sources(f"guest {at} never came to Lisbon", 1 + at % 2, "human"))
        if at % 4 == 0:
            book.result(book.test(name), "failed" if at % 8 else "passed", f"looked for {at}")
    return book


def written(book: Notebook, engine: Engine) -> None:
    state = StoredState(Policy(), Store(engine))
    for event in book.events:
        fold(state, event)
        state.scanned = event.seq
    state.flush()


@contextmanager
def counted(engine: Engine) -> Iterator[list[str]]:
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT"):
            asked.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield asked
    sa.event.remove(engine, "before_cursor_execute", note)


def catalogue_of(state: State) -> MemoryIndexes:
    indexes = MemoryIndexes(None)
    indexes.fill(
        sorted(state.observations.ordered(), key=lambda seen: seen.seq),
        sorted(state.propositions.ordered(), key=lambda one: one.seq),
    )
    return indexes


@pytest.mark.promise("reading.recall")
def test_evidence_that_is_gathered_at_once_weighs_what_it_weighs_in_memory(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "AT_ONCE", 3)
    book = told(12)
    written(book, engine)
    stored, names = StoredState(Policy(), Store(engine)), sorted(book.state.propositions.held)
    stored.load_evidence([*names, *names, "prop_none"])
    for name in names:
        assert assess(stored, book[name], book.now) == assess(book.state, book[name], book.now)
        assert stored.evidence(name).trials == book.state.evidence(name).trials
        assert stored.evidence(name).known == book.state.evidence(name).known


@pytest.mark.promise("reading.recall")
def test_several_are_read_in_the_order_they_are_asked_for_and_what_is_missing_is_left_out(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "AT_ONCE", 3)
    book = told(5)
    written(book, engine)
    names = sorted(book.state.observations.held, reverse=True)
    asked = [*names, "obs_none", *names]
    for state in (book.state, StoredState(Policy(), Store(engine))):
        found = state.observations.some(asked)
        assert list(found) == names
        assert found == book.state.observations.held
        assert state.observations.some([]) == {}


@pytest.mark.promise("reading.recall")
def test_an_answer_from_the_tables_is_the_same_as_from_memory_and_takes_no_more_statements_when_more_is_found(
    engine: Engine,
) -> None:
    numbers = []
    for size in (4, 30):
        book = told(size)
        Store(engine).wipe()
        written(book, engine)
        indexes, wanted = catalogue_of(book.state), RecallRequest(query="lives or stayed in Lisbon", limit=50)
        with counted(engine) as asked:
            state = StoredState(Policy(), Store(engine))
            found = recall(state, NoLog(), indexes, wanted, now=book.now)
        assert len(found.facts) >= min(size, 20)
        assert any(fact.one.predicate == "lives_in" and fact.assessment.status == "accepted" for fact in found.facts)
        assert found == recall(book.state, NoLog(), indexes, wanted, now=book.now)
        numbers.append(len(asked))
    assert numbers[1] <= numbers[0]
