"""The tables are in the order of the log; by an id its rows are found, wherever the id's place lies."""

from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project import record_cache
from tallystick.rooms.memory.project.fold import fold
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.store import rows as rows_of
from tallystick.rooms.memory.store import statements
from tallystick.rooms.memory.store.rows import Store
from tallystick.rooms.memory.store.tables import EDGES, RECENT_ROWS, ROW_INDEX
from tallystick.settings import Settings
from tallystick.storage.database import open_engine, schema_version, writing
from tests.databases import make_shared_database
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Notebook, export_bytes

A_BATCH = 7


def a_life(facts: int) -> Notebook:
    book = Notebook()
    for at in range(facts):
        name = book.propose(f"guest{at} stayed_in Lisbon", *book.sources(f"guest {at} stayed in Lisbon", 2))
        if at % 3 == 0:
            book.contradict(name, *book.sources(f"guest {at} never came to Lisbon", 1, "human"))
        if at % 5 == 4:
            # What was written long ago gets something new.
            first = book.propose("guest0 stayed_in Lisbon", *book.sources(f"guest 0 stayed in Lisbon, {at}", 1))
            assert book.state.propositions.get(first) is not None
    return book


def write(book: Notebook, engine: Engine, start: int = 0) -> Store:
    """Fold all events into the tables, a few at a time."""
    store = Store(engine)
    state = StoredState(Policy(), store)
    for number, event in enumerate(book.events[start:], 1):
        fold(state, event)
        state.scanned = event.seq
        if number % A_BATCH == 0:
            state.flush()
    state.flush()
    return store


def same(book: Notebook, engine: Engine) -> None:
    """Everything is found by its id, by one who has nothing at hand, and all of it is what it should be."""
    known = book.state
    state = StoredState(Policy(), Store(engine))
    names = sorted(known.observations.held)
    assert state.observations.some(names) == known.observations.some(names)
    for name in names:
        fresh = StoredState(Policy(), state.store)
        assert fresh.observations.get(name) == known.observations.get(name)
    for name in sorted(known.propositions.held):
        assert state.propositions.get(name) == known.propositions.get(name)
        assert state.edges_of(name) == known.edges_of(name)
        assert state.transitions_of(name) == known.transitions_of(name)
    assert export_bytes(state) == export_bytes(known)


def rows(engine: Engine, table: sa.Table) -> int:
    with engine.connect() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


@pytest.mark.promise("memory.places")
def test_what_is_written_is_found_before_and_after_its_place_has_moved(engine: Engine) -> None:
    book = a_life(30)
    store = write(book, engine)
    assert rows(engine, RECENT_ROWS) > 0
    assert rows(engine, ROW_INDEX) > 0
    same(book, engine)
    with writing(engine) as connection:
        for _ in range(statements.SLICES):
            store._mover.put(connection, ())
    assert rows(engine, RECENT_ROWS) == 0
    same(book, engine)


@pytest.mark.promise("memory.places")
def test_a_place_that_is_noted_twice_is_one(engine: Engine) -> None:
    noted = [(statements.key_of("obs_" + "1" * 32, statements.OBSERVATION), 5)]
    mover = Store(engine)._mover
    with writing(engine) as connection:
        for _ in range(3 * statements.SLICES):
            mover.put(connection, noted)
    assert rows(engine, ROW_INDEX) == 1
    assert rows(engine, RECENT_ROWS) <= 1


@pytest.mark.promise("memory.places")
def test_ids_that_share_a_number_are_told_apart(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (statements, record_cache, rows_of):
        monkeypatch.setattr(module, "number_in", lambda name: int(name[-1:], 16) % 3)
    book = a_life(12)
    write(book, engine)
    same(book, engine)


@pytest.mark.promise("memory.places")
@pytest.mark.parametrize("name", ["", "obs_", "nobody", "obs_" + "g" * 32, "obs_\x00", "obs_" + "-" * 15, "١" * 15])
def test_what_is_no_id_is_nowhere(engine: Engine, name: str) -> None:
    book = a_life(2)
    write(book, engine)
    state = StoredState(Policy(), Store(engine))
    assert state.observations.get(name) is None
    assert state.observations.some([name, name + "1"]) == {}
    assert state.propositions.get(name) is None
    assert state.edges_of(name) == []
    assert state.transitions_of(name) == []


@pytest.mark.promise("memory.places")
def test_an_edge_that_took_the_place_of_another_is_there_once(engine: Engine) -> None:
    book = Notebook()
    seen = book.observe("Ada lives in Rome.", "letter")
    other = book.observe("Ada has lived in Rome for years.", "diary")
    args = {"subject": "Ada", "predicate": "lives_in", "object": "Rome", "observation_ids": [seen, other]}
    book.tell("propose_proposition", agent="scribe", **args)
    name = next(iter(book.state.propositions.held))
    first = write(book, engine).edges([name], book.events[-1].seq)
    at = len(book.events)
    # A person says the same of the one, and the opposite of the other: both in place of the agent's word.
    book.support(name, seen)
    book.contradict(name, other)
    write(book, engine, at)
    same(book, engine)
    assert len(first) == 2
    with engine.connect() as connection:
        found = connection.execute(sa.select(EDGES.c.observation_id, EDGES.c.stance)).all()
    assert sorted(map(tuple, found)) == sorted([(seen, "support"), (other, "support"), (other, "contradiction")])


@pytest.mark.promise("memory.places")
def test_tables_in_the_order_of_ids_are_made_anew_and_built_from_the_log(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    name = memory.propose(memory.observe())
    known = memory.bytes()
    memory.close()
    path = tmp_path / "work" / ".control-room" / "tallystick.db"
    for old in path.parent.glob("tallystick.db*"):
        old.unlink()
    engine = open_engine(Settings(), tmp_path / "work")
    make_shared_database(engine, "memory", at="0007")
    with writing(engine) as connection:
        connection.exec_driver_sql("INSERT INTO tally_memory_head VALUES (1, 1, x'7b7d')")
        connection.exec_driver_sql("INSERT INTO tally_memory_observations VALUES ('obs_1', 1, x'7b7d')")
    assert schema_version(engine) == "0007"
    engine.dispose()
    again = open_memory()
    assert again.status(name) == "provisional"
    assert again.bytes() == known
