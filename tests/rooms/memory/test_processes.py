"""Several processes on one workspace: nobody is refused because others propose, write or rebuild as well."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tallystick.gate.admit.arguments import admit_call
from tallystick.gate.admit.names import Catalogue
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.session import Session
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.room import PROPOSALS
from tallystick.rooms.memory.store.rows import Store
from tallystick.rooms.memory.weigh.proposal_rule import CLOCK_SLACK_S, Snapshot, check
from tallystick.rooms.memory.weigh.state import State
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import START, Notebook, stamp_of
from tests.rooms.memory.test_replay import from_nothing
from tests.sizes import size

HERE = Path(__file__).parents[3]
AUDITOR = Session(session_id="audit")
MANY = 100_000
"""More than anybody proposes here before it is told to stop."""


@contextmanager
def proposing(workspace: Path, database: str, who: str, number: int) -> "Iterator[subprocess.Popen[str]]":
    stop = workspace.parent / "stop"
    command = [
        sys.executable,
        "-m",
        "tests.rooms.memory.proposer",
        str(workspace),
        database,
        who,
        str(number),
        str(stop),
    ]
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE, stdout=subprocess.PIPE, text=True
    ) as started:
        try:
            yield started
        finally:
            stop.touch()


@pytest.mark.promise("memory.processes", "memory.databases")
def test_a_process_that_is_always_overtaken_is_not_refused(open_memory: Open, database: str) -> None:
    memory = open_memory(storage={"database_url": database})
    memory.projection.ask(lambda state: state.seq)
    number = size(3, 40)
    with ExitStack() as stack:
        slow, *hasty = (
            stack.enter_context(proposing(memory.workspace, database, who, many))
            for who, many in (("slow", number), ("hasty", MANY), ("hastier", MANY))
        )
        told: list[dict[str, int]] = [json.loads(slow.communicate(timeout=600)[0])]
        (memory.workspace.parent / "stop").touch()
        told += [json.loads(one.communicate(timeout=600)[0]) for one in hasty]
    assert told[0] == {"ok": number}
    assert all(one.keys() == {"ok"} for one in told), told
    held = memory.projection.ask(lambda state: state.store.counts(), written=True)
    assert held["observations"] == sum(one["ok"] for one in told)
    assert memory.bytes() == from_nothing(memory)


@pytest.mark.promise("memory.processes")
def test_a_proposal_that_had_to_wait_for_the_log_is_judged_by_the_clock_of_then() -> None:
    clock, book = [START], Notebook()

    def ask(question: Callable[[State], Decision]) -> Decision:
        # While it waits, another process records something.
        clock[0] += 10 * CLOCK_SLACK_S
        book.now = clock[0]
        book.observe("Something else.", "elsewhere")
        return question(book.state)

    snapshot = Snapshot(digest="", policy=Policy(), ask=ask, now=lambda: clock[0])
    catalogue = Catalogue()
    catalogue.add(PROPOSALS[0](snapshot).card)
    proposal = admit_call(
        catalogue, "record_observation",
        {"text": "Ada lives here.", "source": {"id": "a", "class": "human"}, "observed_at": stamp_of(START)},
    )  # fmt: skip
    assert isinstance(proposal, Proposal)
    assert check(proposal, snapshot).verdict == "allow"


@pytest.mark.promise("memory.processes")
def test_a_proposal_that_is_judged_again_is_judged_as_it_came() -> None:
    """What memory makes of the arguments at one stand must not be taken for what was proposed at the next."""
    book = Notebook()
    note = book.observe("Ada lives here.", "a model", "model_inference")
    assessment = [book.state, State(Policy())]

    def ask(question: Callable[[State], Decision]) -> Decision:
        return [question(state) for state in assessment][-1]

    snapshot = Snapshot(digest="", policy=Policy(), ask=ask, now=lambda: START)
    catalogue = Catalogue()
    catalogue.add(PROPOSALS[0](snapshot).card)
    given = {"text": "Ada lives here.", "source": {"id": "a", "class": "document"}, "observed_at": stamp_of(START)}
    proposal = admit_call(catalogue, "record_observation", given)
    assert isinstance(proposal, Proposal)
    assessment.reverse()
    assert (check(proposal, snapshot).args or {})["derived_from"] == [note]
    assessment.reverse()  # it was erased meanwhile
    assert check(proposal, snapshot) == Decision(verdict="allow")


@pytest.mark.promise("memory.erasure", "memory.processes")
def test_what_a_process_wrote_that_knew_of_no_erasure_yet_is_not_taken_over(open_memory: Open, database: str) -> None:
    one, other = (open_memory(storage={"database_url": database}) for _ in range(2))
    said = one.call(
        "record_observation", text="hunter22", source={"id": "a", "class": "human"}, observed_at="2024-01-01"
    )
    assert other.projection.ask(lambda state: state.observations.get(said.result["observation_id"])) is not None
    one.gate.ledger.erase(said.receipt_id, session=AUDITOR, reason="asked for")
    assert one.projection.ask(lambda state: state.observations.get(said.result["observation_id"])) is None
    other.projection.close()  # writes what it has at hand, and reads nothing before
    assert b"hunter22" not in one.bytes()
    assert one.bytes() == from_nothing(one)
    assert open_memory(storage={"database_url": database}).bytes() == one.bytes()


@pytest.mark.promise("memory.erasure", "memory.processes")
def test_of_several_processes_one_builds_memory_again_and_the_others_take_that_over(
    open_memory: Open, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memories = [open_memory(storage={"database_url": database}) for _ in range(3)]
    said = memories[0].call(
        "record_observation", text="hunter22", source={"id": "a", "class": "human"}, observed_at="2024-01-01"
    )
    assert len({memory.bytes() for memory in memories}) == 1
    wiped: list[Store] = []
    wipe = Store.wipe
    monkeypatch.setattr(Store, "wipe", lambda store: (wiped.append(store), wipe(store)))
    memories[0].gate.ledger.erase(said.receipt_id, session=AUDITOR, reason="asked for")
    assert {memory.bytes() for memory in memories} == {from_nothing(memories[0])}
    assert len(wiped) == 1
