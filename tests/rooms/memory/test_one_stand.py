"""Whatever another process makes of the tables meanwhile: what one question reads is all of one stand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.rooms.memory.recall import listings
from tallystick.rooms.memory.recall.answers import RecallAnswer
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Remembering

STATEMENTS = 12
"""More than any of these questions puts before its answer is there."""


def stocked(memory: Remembering) -> tuple[str, str]:
    seen = [memory.observe(f"Ada lives in Lisbon, says {who}.", who) for who in ("a letter", "a diary")]
    name = memory.propose(*seen)
    memory.call("request_consolidation").unwrap()
    memory.bytes()
    return seen[0], name


def begin_again(memory: Remembering) -> None:
    """As far as a rebuild has come when it has just begun; whoever does it may die then."""
    with memory.projection._turn:
        memory.projection._begin_again()


def recalled(memory: Remembering) -> RecallAnswer:
    return memory.room.queries.ask(query="Where does Ada live?", now=memory.now)


QUESTIONS: dict[str, Callable[[Remembering], Any]] = {
    "status": lambda memory: listings.status(memory.projection, memory.now),
    "propositions": lambda memory: listings.propositions(
        memory.projection, status=None, subject="Ada", limit=9, offset=0, now=memory.now
    ),
    "observations": lambda memory: listings.observations(memory.projection, limit=9, offset=0),
    "sources": lambda memory: listings.records(memory.projection, "sources", limit=9, offset=0),
    "history": lambda memory: listings.history(memory.projection, None, 9),
    "known": lambda memory: memory.room.queries.known("Ada", "lives_in"),
    "recall": lambda memory: (recalled(memory).facts, recalled(memory).passages),
    "export": Remembering.bytes,
    "linked data": lambda memory: memory.room.queries.json_ld(now=memory.now),
}


@contextmanager
def disturbed(memory: Remembering, after: int, act: Callable[[], object]) -> Iterator[list[str]]:
    """Let something happen right after the process's so many-th reading of memory's tables."""
    read: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().startswith("SELECT") and "tally_memory" in statement:
            read.append(statement)
            # In its own turn nobody else would get to write.
            if len(read) == after and not memory.projection._turn.taken:
                act()

    engine = memory.gate._parts.engine
    sa.event.listen(engine, "after_cursor_execute", note)
    yield read
    sa.event.remove(engine, "after_cursor_execute", note)


@pytest.mark.promise("memory.one-stand", "memory.databases")
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_reader_never_sees_tables_that_are_only_being_built(open_memory: Open, database: str, question: str) -> None:
    reader, other = (open_memory(storage={"database_url": database}) for _ in range(2))
    stocked(other)
    ask = QUESTIONS[question]
    before = ask(reader)
    begin_again(other)
    assert ask(reader) == before


@pytest.mark.promise("memory.one-stand")
def test_a_proposal_is_not_refused_for_tables_that_are_only_being_built(open_memory: Open, database: str) -> None:
    one, other = (open_memory(storage={"database_url": database}) for _ in range(2))
    seen, name = stocked(other)
    # A process that has just come, and has nothing at hand yet but how far the tables go.
    assert one.projection.ask(lambda state: state.scanned) > 0
    begin_again(other)
    assert one.code("attach_support", proposition_id=name, observation_id=seen, quote="Ada") == "POLICY_VIOLATION"
    assert one.propose(seen, fact="Ada was_in Lisbon")
    assert one.bytes() == other.bytes()


@pytest.mark.promise("memory.one-stand", "memory.databases")
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_that_of_before_or_of_after_whenever_another_writes(
    open_memory: Open, database: str, question: str
) -> None:
    reader, other = (open_memory(storage={"database_url": database}) for _ in range(2))
    stocked(other)
    ask = QUESTIONS[question]
    for after in range(1, STATEMENTS):
        before = ask(reader)

        def write(after: int = after) -> None:
            other.propose(other.observe(f"Ada likes number {after}.", f"s{after}"), fact=f"Ada likes {after}")
            other.bytes()

        with disturbed(reader, after, write) as read:
            told = ask(reader)
        assert told in (before, ask(reader)), f"another wrote after {read[after - 1]}"


def held(memory: Remembering, *names: str) -> tuple[bool, bool]:
    seen, name = names
    return memory.projection.ask(
        lambda state: (state.observations.get(seen) is not None, state.propositions.get(name) is not None)
    )


@pytest.mark.promise("memory.one-stand", "memory.databases")
@pytest.mark.parametrize("after", range(1, 5))
@pytest.mark.parametrize("ends", [False, True])
def test_what_is_read_while_a_rebuild_begins_or_ends_is_not_missing(
    open_memory: Open, database: str, after: int, *, ends: bool
) -> None:
    reader, other = (open_memory(storage={"database_url": database}) for _ in range(2))
    seen, name = stocked(other)
    # It has nothing at hand yet, but knows what there is.
    reader.projection.ask(lambda state: (state.observations.may_hold(seen), state.propositions.may_hold(name)))
    act: Callable[[], object] = partial(begin_again, other)
    if ends:
        # Nothing is there when it is read; when that is compared, the tables go just as far as before.
        act()
        act = other.bytes
    with disturbed(reader, after, act):
        assert held(reader, seen, name) == (True, True)
