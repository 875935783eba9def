"""Memory through an open gate, and memory from plain events, each in one word."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tallystick import Gate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.rooms.memory.ids import observation_id, proposition_id, trial_id
from tallystick.rooms.memory.model import Canonical, Event, Proposition, Transition
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.exports import export
from tallystick.rooms.memory.project.fold import fold
from tallystick.rooms.memory.project.projection import Projection
from tallystick.rooms.memory.propose.speakers import Speaker
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.times import seconds, stamp_of
from tallystick.rooms.memory.weigh.state import State
from tests.gates import open_gate

DAY = 86_400
START = seconds("2024-01-01T00:00:00Z") or 0


def export_bytes(state: State) -> bytes:
    """The canonical document of a state."""
    return b"".join(export(state))


class Notebook:
    """A state that events are folded into as a test makes them up."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.state = State(policy or Policy())
        self.events: list[Event] = []
        self.now = START

    def tell(self, tool: str, *, agent: str | None = None, by_owner: bool = True, **args: Any) -> None:
        seq = 2 * len(self.events) + 1
        event = Event(
            seq=seq, receipt_id=f"rcpt_{seq:024x}", at=self.now, tool=tool, args=args, agent=agent, by_owner=by_owner
        )
        self.events.append(event)
        fold(self.state, event)

    def observe(
        self,
        text: str,
        source: str,
        kind: str = "document",
        *,
        group: str | None = None,
        age: int = 0,
        derived_from: Iterable[str] = (),
        agent: str | None = None,
        by_owner: bool = True,
        **more: Any,
    ) -> str:
        seen, parents = self.now - age, sorted(derived_from)
        where = {"id": source, "class": kind, "group": group or source}
        args = {"text": text, "source": where, "observed_at": stamp_of(seen), **more}
        if parents:
            args["derived_from"] = parents
        self.tell("record_observation", agent=agent, by_owner=by_owner, **args)
        return observation_id(
            text,
            source,
            kind,
            group or source,
            seen,
            parents,
            Speaker(agent=agent, subject=None if by_owner else "anonymous", is_person=by_owner).mark,
        )

    def propose(self, fact: str, *observations: str, **more: Any) -> str:
        subject, predicate, value = fact.split(" ", 2)
        args = {
            "subject": subject, "predicate": predicate, "object": value, "observation_ids": sorted(observations), **more,
        }  # fmt: skip
        self.tell("propose_proposition", **args)
        return proposition_id(args)

    def support(self, name: str, *observations: str) -> None:
        for one in observations:
            self.tell("attach_support", proposition_id=name, observation_id=one)

    def contradict(self, name: str, *observations: str) -> None:
        for one in observations:
            self.tell("attach_contradiction", proposition_id=name, observation_id=one)

    def test(self, name: str, method: str = "look", *, discriminating: bool = True, agent: str | None = None) -> str:
        args: dict[str, Any] = {"proposition_id": name, "method": method, "expectation": "it is seen"}
        self.tell("propose_test", agent=agent, **args, discriminating=discriminating)
        return trial_id(name, method, "it is seen")

    def result(self, test: str, result: str, report: str = "done", *, agent: str | None = None) -> None:
        self.tell(
            "execute_test_result_ingest", agent=agent, test_id=test, result=result, report=report,
            observed_at=stamp_of(self.now),
        )  # fmt: skip

    def consolidate(self, **args: Any) -> None:
        self.tell("request_consolidation", **args)

    def sources(self, word: str, number: int, kind: str = "document") -> list[str]:
        """So many independent sources that say the same, each in its own words."""
        return [self.observe(f"{word}, says number {at}", f"{word}-{kind}-{at}", kind) for at in range(number)]

    def __getitem__(self, name: str) -> Proposition:
        found = self.state.propositions.get(name)
        assert found is not None
        return found

    def history(self, name: str) -> list[Transition]:
        return self.state.transitions_of(name)

    def canonicals(self) -> list[Canonical]:
        return [one for one in self.state.canonicals.ordered() if one.retired_at is None]


class Remembering:
    """Memory behind a gate."""

    def __init__(self, workspace: Path, **sections: Any) -> None:
        self.workspace = workspace
        self.gate: Gate = open_gate(workspace, **sections)
        self.now = START

    @property
    def room(self) -> Memory:
        room = self.gate.room("memory")
        assert isinstance(room, Memory)
        return room

    @property
    def projection(self) -> Projection:
        return self.room.projection

    def call(self, tool: str, *, agent: str | None = None, timed: bool = True, **args: Any) -> Outcome:
        if timed:
            args.setdefault("at", stamp_of(self.now))
        return self.gate.call_sync(tool, args, session=Session(session_id="s1", agent_id=agent))

    def code(self, tool: str, **args: Any) -> str | None:
        """The boundary's code for a proposal; None if it was not refused."""
        refused = self.call(tool, **args).rejection
        return None if refused is None else str(refused.code)

    def observe(
        self, text: str = "Ada lives in Lisbon.", source: str = "letters", kind: str = "document", **more: Any
    ) -> str:
        given = {"text": text, "source": {"id": source, "class": kind, "group": source}, **more}
        given.setdefault("observed_at", stamp_of(self.now))
        name: str = self.call("record_observation", **given).unwrap()["observation_id"]
        return name

    def propose(self, *observations: str, fact: str = "Ada lives_in Lisbon", **more: Any) -> str:
        subject, predicate, value = fact.split(" ", 2)
        given = {"subject": subject, "predicate": predicate, "object": value, **more}
        name: str = self.call("propose_proposition", observation_ids=sorted(observations), **given).unwrap()[
            "proposition_id"
        ]
        return name

    def status(self, name: str) -> str | None:
        return self.projection.ask(lambda state: getattr(state.propositions.get(name), "status", None))

    def bytes(self) -> bytes:
        """All that memory holds."""
        return self.projection.ask(export_bytes, written=True)

    def close(self) -> None:
        self.gate.close()
