"""A memory on which a scenario plays: the room's own rule before every event, and the fold after it. No ledger."""

from __future__ import annotations

from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.session import Session
from tallystick.gate.tool import Card
from tallystick.rooms.memory.ids import observation_id, proposition_id
from tallystick.rooms.memory.model import Event
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.project.fold import HANDLERS, fold
from tallystick.rooms.memory.propose.speakers import Speaker
from tallystick.rooms.memory.times import seconds, stamp_of
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check
from tallystick.rooms.memory.weigh.state import State

BEGIN = 1_750_000_000
HOUR = 3_600
_CARDS = {name: Card(name=name, description="", input_schema={"type": "object"}) for name in HANDLERS}


class Stage:
    """One memory, and a clock that only scenarios move."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.state = State(self.policy)
        self.now = BEGIN
        self.seq = 0
        self.refused: list[str] = []
        self._snapshot = Snapshot(
            digest=self.policy.digest, policy=self.policy, ask=lambda judge: judge(self.state), now=lambda: self.now
        )

    def wait(self, hours: float) -> None:
        self.now += round(hours * HOUR)

    def propose(self, tool: str, args: dict[str, Any], *, agent: str | None = None) -> dict[str, Any] | None:
        """What the fold was given; None: it was refused."""
        args = {**args, "at": stamp_of(self.now)}
        decision = check(
            Proposal(
                card=_CARDS[tool], args=args, proposed_tool=tool, proposed_args=args,
                session=Session(session_id="stage", agent_id=agent),
            ),
            self._snapshot,
        )  # fmt: skip
        if decision.verdict != "allow":
            self.refused.append(str(decision.fault.boundary_code) if decision.fault else "")
            return None
        taken = decision.args or args
        self.seq += 1
        event = Event(
            seq=self.seq, receipt_id=f"rcpt_{self.seq}", at=self.now, tool=tool, args=taken, agent=agent,
            by_owner=True,
        )  # fmt: skip
        fold(self.state, event)
        return dict(taken)

    def observe(
        self, text: str, source: str, kind: str = "document", *, group: str | None = None,
        parents: tuple[str, ...] = (), agent: str | None = None, episode: str | None = None,
    ) -> str | None:  # fmt: skip
        who = {"id": source, "class": kind, "group": group or source}
        args: dict[str, Any] = {"text": text, "source": who, "observed_at": stamp_of(self.now)}
        if parents:
            args["derived_from"] = list(parents)
        if episode is not None:
            args["episode_id"] = episode
        taken = self.propose("record_observation", args, agent=agent)
        if taken is None:
            return None
        bound = taken["source"]
        return observation_id(
            taken["text"], bound["id"], bound["class"], bound["group"], seconds(taken["observed_at"]) or 0,
            taken.get("derived_from", ()), Speaker(agent=agent).mark,
        )  # fmt: skip

    def claim(
        self, fact: tuple[str, str, str], seen: str | None, *, agent: str | None = None, **more: Any
    ) -> str | None:
        """Propose it, or attach to it; the proposition's id."""
        if seen is None:
            return None
        subject, predicate, thing = fact
        args = {"subject": subject, "predicate": predicate, "object": thing, "observation_ids": [seen], **more}
        taken = self.propose("propose_proposition", args, agent=agent)
        return None if taken is None else proposition_id(taken)

    def deny(self, name: str | None, seen: str | None, quote: str, *, agent: str | None = None) -> None:
        if name is not None and seen is not None:
            args = {"proposition_id": name, "observation_id": seen, "quote": quote}
            self.propose("attach_contradiction", args, agent=agent)

    def consolidate(self) -> None:
        self.propose("request_consolidation", {})

    def status(self, name: str | None) -> str | None:
        found = None if name is None else self.state.propositions.get(name)
        return None if found is None else found.status

    def promoted(self, fact: tuple[str, str, str]) -> bool:
        """Whether memory holds this to be so."""
        return any(
            (record.subject, record.predicate, record.object) == fact and record.retired_at is None
            for record in self.state.canonicals.held.values()
        )

    def ever_promoted(self, fact: tuple[str, str, str]) -> bool:
        return any(
            (record.subject, record.predicate, record.object) == fact for record in self.state.canonicals.held.values()
        )
