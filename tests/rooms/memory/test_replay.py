"""State is the fold of the log: live, rebuilt, in memory, elsewhere, after erasing; the same bytes."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Session
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project import projection, record_cache, stored_state
from tallystick.rooms.memory.project.exports import digest
from tallystick.rooms.memory.project.fold import replay
from tallystick.rooms.memory.project.receipts import events_in
from tallystick.rooms.memory.project.stored_state import StoredState
from tallystick.rooms.memory.recall import listings
from tallystick.rooms.memory.store import StaleSnapshot
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Remembering, export_bytes, stamp_of
from tests.sizes import size

AUDITOR = Session(session_id="audit")
PEOPLE, TOWNS = ("Ada", "Ben", "Cleo"), ("Lisbon", "Porto", "Faro", "Évora")


def live_a_little(memory: Remembering, rounds: int, seed: int = 7) -> None:
    """All nine proposals, many refused among them, with time passing."""
    draw = random.Random(seed)
    seen: list[str] = []
    facts: list[str] = []
    for at in range(rounds):
        memory.now += draw.choice((0, 60, 3600, 40_000))
        who, town = draw.choice(PEOPLE), draw.choice(TOWNS)
        kind = draw.choice(("human", "document", "tool_external", "model_inference"))
        parents = {"derived_from": [draw.choice(seen)]} if seen and draw.random() < 0.2 else {}
        episode = {"episode_id": f"trip {seed}"} if at < rounds // 2 and draw.random() < 0.3 else {}
        text = f"{who} lives in {town}. Note {draw.randrange(rounds)}."
        seen.append(memory.observe(text, f"source {draw.randrange(9)}", kind, **parents, **episode))
        made = memory.call(
            "propose_proposition", subject=who, predicate=draw.choice(("lives in", "likes")), object=town,
            observation_ids=[seen[-1]], **draw.choice(({}, {"volatility": "high"}, {"valid_from": "2023-01-01"})),
        )  # fmt: skip
        if made.result:
            facts.append(made.result["proposition_id"])
        tool = draw.choice(("attach_support", "attach_contradiction"))
        memory.call(tool, proposition_id=draw.choice(facts), observation_id=draw.choice(seen), quote="lives in")
        if at % 7 == 3:
            test = memory.call(
                "propose_test", proposition_id=draw.choice(facts), method="ask", expectation="yes"
            ).result
            if test:
                memory.call(
                    "execute_test_result_ingest", **test, result=draw.choice(("passed", "failed")), report=f"asked {at}",
                    observed_at=stamp_of(memory.now),
                )  # fmt: skip
            memory.call("create_or_link_entity_candidate", name=who, kind="person", observation_ids=[seen[-1]])
            memory.call("request_consolidation")
        if at == rounds // 2:
            memory.call("archive_episode", episode_id=f"trip {seed}")


def from_nothing(memory: Remembering) -> bytes:
    return export_bytes(replay(events_in(memory.gate.ledger.read()), memory.room.policy))


@pytest.mark.promise("memory.replay", "memory.databases")
def test_live_and_rebuilt_and_in_memory_are_the_same_bytes_on_every_database(
    open_memory: Open, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small batches, and little at hand: whatever is written and fetched again must not differ.
    monkeypatch.setattr(projection, "BATCH", 7)
    monkeypatch.setattr(record_cache, "HELD", 3)
    memory = open_memory(storage={"database_url": database})
    live_a_little(memory, size(40, 400))
    live = memory.bytes()
    assert live == from_nothing(memory)
    memory.projection.rebuild()
    assert memory.bytes() == live
    counts = memory.projection.ask(lambda state: state.store.counts(), written=True)
    assert counts["observations"] > 20
    assert {"provisional", "tentative"} <= counts.keys()


@pytest.mark.promise("memory.replay")
def test_a_process_that_comes_later_goes_on_where_the_last_one_stopped(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    live_a_little(memory, 15)
    live = memory.bytes()
    memory.close()
    again = open_memory()
    again.now = memory.now
    assert again.bytes() == live
    live_a_little(again, 15, seed=8)
    assert again.bytes() == from_nothing(again)


SCRIPT = """
import sys
from tallystick import Gate
from tallystick.rooms.memory.project.receipts import events_in
from tallystick.rooms.memory.project.exports import digest
from tallystick.rooms.memory.project.fold import replay
with Gate.open(sys.argv[1], rooms=["memory"]) as gate:
    room = gate.room("memory")
    room.projection.rebuild()
    print(room.projection.ask(digest, written=True), digest(replay(events_in(gate.ledger.read()), room.policy)))
"""


@pytest.mark.promise("memory.replay")
def test_every_hash_seed_gives_the_same_digest(memory: Remembering) -> None:
    live_a_little(memory, 25)
    known = memory.projection.ask(digest, written=True)
    memory.close()
    for seed in ("0", "1", "4242"):
        told = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(memory.workspace)], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert told.stdout.split() == [known, known]


@pytest.mark.promise("memory.erasure")
def test_an_erased_observation_supports_nothing_as_if_it_had_never_been(open_memory: Open) -> None:
    memory = open_memory()
    seen = [memory.observe(f"Ada lives in Lisbon, says {who}.", who) for who in ("diary", "letters")]
    name = memory.propose(*seen)
    memory.call("request_consolidation").unwrap()
    assert memory.status(name) == "accepted"
    first = memory.projection.ask(lambda state: state.observations.get(seen[0]))
    assert first is not None
    memory.gate.ledger.erase(first.receipt_id, session=AUDITOR, reason="asked for")
    after = memory.bytes()
    assert b"says diary" not in after
    assert memory.status(name) == "provisional"
    canonicals = memory.projection.ask(lambda state: list(state.canonicals.ordered()), written=True)
    assert canonicals == []
    assert after == from_nothing(memory)
    memory.projection.rebuild()
    assert memory.bytes() == after
    memory.close()
    assert open_memory().bytes() == after


def erase(memory: Remembering, observation_id: str) -> None:
    seen = memory.projection.ask(lambda state: state.observations.get(observation_id))
    assert seen is not None
    memory.gate.ledger.erase(seen.receipt_id, session=AUDITOR, reason="asked for")


@pytest.mark.promise("memory.founded", "memory.erasure")
def test_a_proposition_goes_with_the_last_observation_that_says_it(open_memory: Open) -> None:
    memory = open_memory()
    other = open_memory()
    seen = memory.observe("My password is hunter22.", "owner", "human")
    name = memory.propose(seen, fact="Ada password hunter22")
    memory.call("create_or_link_entity_candidate", name="hunter22", observation_ids=[seen]).unwrap()
    memory.call("propose_test", proposition_id=name, method="log in", expectation="it opens").unwrap()
    assert (memory.status(name), other.status(name)) == ("provisional", "provisional")
    erase(memory, seen)
    for each in (memory, other):
        assert each.status(name) is None
        assert b"hunter22" not in each.bytes()
        assert each.bytes() == from_nothing(memory)
        assert not each.room.queries.ask(query="What is my password?").facts
        assert not any(b"hunter22" in piece for piece in each.room.queries.json_ld())
    memory.projection.rebuild()
    assert memory.bytes() == from_nothing(memory)
    refused = memory.code("attach_support", proposition_id=name, observation_id=memory.observe(), quote="Ada")
    assert refused == "MISSING_PROVENANCE"


@pytest.mark.promise("memory.founded", "memory.erasure")
def test_what_another_observation_says_as_well_stays_with_all_that_speaks_against_it(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "BATCH", 1)
    monkeypatch.setattr(record_cache, "HELD", 0)
    monkeypatch.setattr(stored_state, "HELD", 0)
    memory = open_memory()
    first, denial, again = (
        memory.observe(f"Ada lives in Lisbon, {how}.", how) for how in ("a letter", "a rumour", "a diary")
    )
    name = memory.propose(first)
    for tool, seen in (("attach_contradiction", denial), ("attach_support", again)):
        memory.call(tool, proposition_id=name, observation_id=seen, quote="Ada lives in Lisbon").unwrap()
    erase(memory, first)
    assert memory.bytes() == from_nothing(memory)
    explained = memory.room.queries.explain(name, now=memory.now)
    assert explained is not None
    assert {edge["observation"]["id"]: edge["stance"] for edge in explained["edges"]} == {
        denial: "contradiction",
        again: "support",
    }
    assert explained["standing"]["figures"]["contradiction"] == explained["standing"]["figures"]["support"] > 0
    assert [fact.one.id for fact in memory.room.queries.ask(query="Ada Lisbon").facts] == [name]
    without = memory.room.queries.what_if(name, without="a diary", now=memory.now)
    assert without is not None
    assert without["then"] is None
    erase(memory, again)
    assert memory.status(name) is None
    anew = memory.propose(memory.observe("She does live in Lisbon.", "a postcard"))
    assert anew == name
    assert memory.bytes() == from_nothing(memory)
    assert memory.projection.ask(lambda state: len(state.edges_of(name))) == 2


@pytest.mark.promise("memory.erasure", "memory.tests")
def test_a_failed_test_outlives_the_dispute_that_gave_rise_to_it(memory: Remembering) -> None:
    told = {
        city: [memory.observe(f"Ida lives in {city}, says {who}.", f"{who} of {city}") for who in ("a", "b")]
        for city in ("Rome", "Oslo")
    }
    rome, _ = (memory.propose(*seen, fact=f"Ida lives_in {city}") for city, seen in told.items())
    (test,) = memory.projection.ask(lambda state: list(state.evidence(rome).trials))
    memory.call(
        "execute_test_result_ingest", test_id=test, result="failed", report="Nobody of that name.",
        observed_at=stamp_of(memory.now),
    ).unwrap()  # fmt: skip
    assert memory.status(rome) == "rejected"
    for name in told["Oslo"]:
        seen = memory.projection.ask(lambda state, name=name: state.observations.get(name))
        assert seen is not None
        memory.gate.ledger.erase(seen.receipt_id, session=AUDITOR, reason="asked for")
    assert memory.status(rome) == "rejected"
    explained = memory.room.queries.explain(rome, now=memory.now)
    assert explained is not None
    assert [(one["id"], one["result"]) for one in explained["tests"]] == [(test, "failed")]
    assert memory.bytes() == from_nothing(memory)


@pytest.mark.promise("memory.replay")
def test_tables_of_an_older_form_are_built_again(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        for module in (projection, stored_state):
            older.setattr(module, "FORM", 0)
        memory = open_memory()
        name = memory.propose(memory.observe())
        known = memory.bytes()
        memory.close()
    again = open_memory()
    store = again.projection._store
    with store._engine.begin() as connection:
        connection.execute(sa.text("UPDATE tally_memory_propositions SET body = '{}'"))
    assert again.status(name) == "provisional"
    assert again.bytes() == known


@pytest.mark.promise("memory.erasure")
def test_an_erasure_that_was_ordered_counts_before_it_is_carried_out(memory: Remembering) -> None:
    """A crash between the order and the erasing leaves the payload; memory must not use it."""
    seen = memory.observe()
    kept = memory.projection.ask(lambda state: state.observations.get(seen))
    assert kept is not None
    order = Draft(kind="erasure", session=AUDITOR, links={"erased": kept.receipt_id}, context={"reason": "asked"})
    memory.gate.ledger.record_sync(order)
    assert memory.projection.ask(lambda state: state.observations.get(seen)) is None


@pytest.mark.promise("memory.processes", "memory.databases")
def test_two_gates_on_one_workspace_see_each_others_proposals(open_memory: Open, database: str) -> None:
    one, two = (open_memory(storage={"database_url": database}) for _ in range(2))
    seen = one.observe()
    name = two.propose(seen)
    assert one.status(name) == "provisional"
    more = two.observe("Ada lives in Lisbon, says the diary.", "diary")
    one.call("attach_support", proposition_id=name, observation_id=more, quote="Ada lives in Lisbon").unwrap()
    assert (one.status(name), two.status(name)) == ("accepted", "accepted")
    # Both write; the one that comes second takes over what the first wrote.
    for at in range(10):
        (one, two)[at % 2].observe(f"Something else, number {at}.", f"s{at}")
        assert one.bytes() == two.bytes()
    assert one.bytes() == from_nothing(two)


@pytest.mark.promise("memory.processes")
def test_tables_that_another_wrote_further_are_taken_over(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = open_memory(), open_memory()
    seen = one.observe()
    assert one.bytes() == two.bytes()
    monkeypatch.setattr(record_cache, "HELD", 0)
    for at in range(5):
        one.observe(f"Number {at}.", f"s{at}")
    one.bytes()
    one.projection.rebuild()
    # What the other has at hand is of an older stand; it asks for more, and finds that out.
    assert two.projection.ask(lambda state: state.observations.get(seen)) is not None
    assert two.status(two.propose(seen)) == "provisional"
    assert one.bytes() == two.bytes()


@pytest.mark.promise("memory.processes")
def test_a_question_is_put_again_when_somebody_writes_meanwhile(memory: Remembering) -> None:
    seen, asked = memory.observe(), []

    def question(state: StoredState) -> bool:
        asked.append(state)
        if len(asked) == 1:
            raise StaleSnapshot
        return state.observations.get(seen) is not None

    assert memory.projection.ask(question)
    assert asked[0] is not asked[1]

    def hopeless(_state: StoredState) -> None:
        raise StaleSnapshot

    with pytest.raises(RuntimeError, match="follow the log"):
        memory.projection.ask(hopeless)


@pytest.mark.promise("memory.policy", "memory.replay")
def test_another_policy_builds_memory_again(open_memory: Open) -> None:
    memory = open_memory()
    name = memory.propose(*(memory.observe(f"Ada lives in Lisbon, {who}.", who) for who in ("a", "b")))
    assert memory.status(name) == "accepted"
    memory.close()
    strict = open_memory(rooms={"memory": {"states": {"accepted_groups": 3}}})
    assert strict.status(name) == "provisional"
    assert strict.room.policy.digest != Policy().digest
    assert strict.bytes() == from_nothing(strict)
    strict.observe("Ada lives in Lisbon, c.", "c")
    receipt = list(strict.gate.ledger.read())[-1]
    assert receipt.header["context"]["snapshot"] == strict.room.policy.digest


@pytest.mark.promise("memory.policy", "memory.processes")
def test_tables_built_again_under_another_policy_are_never_mixed(open_memory: Open, database: str) -> None:
    storage = {"database_url": database}
    memory = open_memory(storage=storage)
    name = memory.propose(*(memory.observe(f"Ada lives in Lisbon, {who}.", who) for who in ("a", "b")))
    memory.bytes()
    # As far as the tables went, and no further: only what stands beside the place tells them apart.
    strict = open_memory(storage=storage, rooms={"memory": {"states": {"accepted_groups": 3}}})
    strict.bytes()
    assert strict.status(name) == "provisional"
    memory.observe("Something else.", "c")
    assert memory.bytes() == from_nothing(memory)
    assert (memory.status(name), strict.status(name)) == ("accepted", "provisional")


@pytest.mark.promise("memory.databases", "memory.bad-input")
def test_names_of_any_length_and_any_sign_can_be_kept_and_asked_for(open_memory: Open, database: str) -> None:
    memory = open_memory(storage={"database_url": database})
    # Letters of four bytes, and no two alike: nothing makes them shorter.
    subject, predicate = (
        "".join(chr(first + at) for at in range(number)) for first, number in ((0x20000, 500), (0x21000, 200))
    )
    name = memory.propose(memory.observe(), fact=f"{subject} {predicate} there")
    assert memory.bytes() == from_nothing(memory)
    reading = memory.room.queries
    assert [one.id for one in reading.known(subject, predicate)] == [name]
    assert reading.known(subject[:-1], predicate) == []
    for nobody in ("\x00", "a\x00b"):
        asked = ({"entity": nobody}, {"predicate": nobody}, {"query": nobody, "entity": nobody})
        assert [reading.ask(now=memory.now, **one).facts for one in asked] == [(), (), ()]
        assert listings.propositions(
            memory.projection, status=None, subject=nobody, limit=5, offset=0, now=memory.now
        ) == ([], 0)  # fmt: skip
        assert listings.proposition(memory.projection, nobody, memory.now) is None


@pytest.mark.promise("memory.replay")
def test_tables_of_another_log_are_not_believed(open_memory: Open, tmp_path: Path) -> None:
    shared: dict[str, Any] = {"storage": {"database_url": f"sqlite:///{tmp_path / 'shared.db'}"}}
    one = open_memory("one", **shared)
    seen = one.observe()
    one.bytes()
    one.close()
    two = open_memory("two", **shared)
    assert two.projection.ask(lambda state: state.observations.get(seen)) is None
    two.observe("Something else.", "else")
    assert two.bytes() == from_nothing(two)


@pytest.mark.promise("memory.replay")
def test_what_was_changed_in_the_tables_is_put_right_by_a_rebuild(memory: Remembering) -> None:
    live_a_little(memory, 10)
    before = memory.bytes()
    engine = memory.gate._parts.engine
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE tally_memory_propositions SET body = CAST('{}' AS BLOB)")
        connection.exec_driver_sql("DELETE FROM tally_memory_edges")
    assert memory.bytes() != before
    memory.projection.rebuild()
    assert memory.bytes() == before


@pytest.mark.promise("memory.bounded")
def test_what_is_at_hand_is_bounded(memory: Remembering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "BATCH", 20)
    monkeypatch.setattr(record_cache, "HELD", 10)
    names = [
        memory.propose(memory.observe(f"Ada lives in {at}.", f"s{at}"), fact=f"Ada likes {at}") for at in range(60)
    ]
    held = memory.projection.ask(lambda state: (len(state.observations.held), len(state.propositions.held)))
    assert max(held) <= 40
    assert all(memory.status(name) == "provisional" for name in names)
