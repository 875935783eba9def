"""What was observed may lie in any past, also before the moment from which machines count."""

import pytest

from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Remembering
from tests.rooms.memory.test_replay import from_nothing

MOMENTS = ("1970-01-01T00:00:01Z", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1850-06-01T00:00:00Z",
           "0001-01-01T00:00:00Z")  # fmt: skip


def pump_under_test(memory: Remembering, when: str) -> tuple[str, str]:
    name = memory.propose(
        memory.observe("The pump is blue.", "a manual", observed_at=when), fact="pump colour blue", volatility="static"
    )
    given = {"proposition_id": name, "method": "look", "expectation": "it is blue", "discriminating": True}
    return name, memory.call("propose_test", **given).unwrap()["test_id"]


def result(memory: Remembering, test: str, found: str, when: str, agent: str | None = None) -> None:
    given = {"test_id": test, "result": found, "report": f"{found} then", "observed_at": when}
    memory.call("execute_test_result_ingest", agent=agent, **given).unwrap()


@pytest.mark.promise("memory.tests")
@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("agent", [None, "somebody's agent"])
@pytest.mark.parametrize("found", ["passed", "failed", "inconclusive"])
def test_a_result_counts_whenever_it_was_observed_until_a_newer_one_comes(
    open_memory: Open, when: str, agent: str | None, found: str
) -> None:
    memory = open_memory()
    name, test = pump_under_test(memory, when)
    result(memory, test, found, when, agent)
    explained = memory.room.queries.explain(name, now=memory.now)
    assert explained is not None
    assert [one["result"] for one in explained["tests"]] == [found]
    if agent is None and found == "failed":
        assert memory.status(name) == "rejected"
    later = "passed" if found == "failed" else "failed"
    result(memory, test, later, "1970-01-01T00:00:02Z")
    trial = memory.projection.ask(lambda state: state.trials.get(test))
    assert trial is not None
    assert (trial.result, len(trial.result_ids)) == (later, 2)
    assert (memory.status(name) == "rejected") == (later == "failed")


@pytest.mark.promise("memory.tests", "memory.replay")
@pytest.mark.parametrize("when", MOMENTS)
def test_what_was_observed_long_ago_is_kept_aged_and_told_as_such(open_memory: Open, when: str) -> None:
    memory = open_memory()
    name, test = pump_under_test(memory, when)
    result(memory, test, "inconclusive", when)
    changing = memory.propose(
        memory.observe("The pump runs.", "a log", observed_at=when), fact="pump is_running yes", volatility="high"
    )
    memory.call("request_consolidation").unwrap()
    reading = memory.room.queries
    facts = {fact.one.id: fact for fact in reading.ask(query="What colour is the pump? Is it running?").facts}
    assert facts[name].assessment.status == "provisional"
    assert facts[changing].assessment.figures.freshness == 0
    assert when in {one["observed_at"] for one in reading.ask(query="pump blue").as_dict()["passages"]}
    assert any(when.encode() in piece for piece in reading.json_ld())
    before = memory.bytes()
    assert before == from_nothing(memory)
    memory.projection.rebuild()
    assert memory.bytes() == before
