"""Whatever is done to a book, in whatever order, its requests move only as the table says."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tallystick.gate.decide.approvals import LIVE, MOVES, Hold, State, Unmoved
from tallystick.gate.decide.bindings import call_digest, canonical, live_digest
from tallystick.gate.session import Session
from tallystick.settings import parse_settings
from tallystick.storage.approvals import SqlApprovalStore
from tallystick.storage.database import migrate, open_engine
from tests.sizes import size

LIFE = 20
PERSON = {"person": "eve", "channel": "terminal"}
SESSION = Session(session_id="s")
some_args = st.sampled_from([{"to": "ann"}, {"to": "bob"}, {"to": "eve"}])
some_id = st.integers(0, 7).map("apr_{}".format)


def named(args: dict[str, Any]) -> str:
    """The name that the book finds a call by."""
    return live_digest(call_digest("local", "send", args, "p"), SESSION)


class Moves(RuleBasedStateMachine):
    """A book beside a model of it: a dict of states, and the digest each live request stands for."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.engine = open_engine(parse_settings({}), Path(self.folder.name))
        migrate(self.engine)
        self.book = SqlApprovalStore(self.engine)
        self.now = 0
        self.states: dict[str, State] = {}
        self.live: dict[str, str] = {}
        self.expires: dict[str, int] = {}
        self.taken: list[str] = []

    def teardown(self) -> None:
        self.engine.dispose()
        self.folder.cleanup()

    def _move(self, approval_id: str, target: State, answer: Hold | Unmoved) -> bool:
        may = approval_id in self.states and target in MOVES[self.states[approval_id]]
        assert isinstance(answer, Hold) is may
        if may:
            self.states[approval_id] = target
        return may

    def _end(self, approval_id: str, state: State) -> None:
        self.states[approval_id] = state
        self.live = {digest: owner for digest, owner in self.live.items() if owner != approval_id}

    @rule(passed=st.integers(1, LIFE))
    def time_passes(self, passed: int) -> None:
        self.now += passed
        for approval_id, expires in self.expires.items():
            if self.states[approval_id] in LIVE and self.now >= expires:
                self._end(approval_id, State.EXPIRED)

    @rule(args=some_args)
    def a_call_is_held(self, args: dict[str, Any]) -> None:
        digest = named(args)
        wanted = Hold(
            approval_id=f"apr_{len(self.states)}", digest=call_digest("local", "send", args, "p"), live_digest=digest,
            session=SESSION, tool="send", args=canonical(args), shown=canonical(args), policy_digest="p", reason="approval_required",
            created=self.now, expires=self.now + LIFE,
        )  # fmt: skip
        held = self.book.hold(wanted)
        assert held.approval_id == self.live.get(digest, wanted.approval_id)
        if digest not in self.live:
            self.live[digest] = wanted.approval_id
            self.states[wanted.approval_id] = State.HELD
            self.expires[wanted.approval_id] = wanted.expires

    @rule(approval_id=some_id)
    def a_person_grants(self, approval_id: str) -> None:
        self._move(approval_id, State.GRANTED, self.book.grant(approval_id, **PERSON, now=self.now))

    @rule(approval_id=some_id)
    def a_person_refuses(self, approval_id: str) -> None:
        if self._move(approval_id, State.REFUSED, self.book.refuse(approval_id, **PERSON, now=self.now, reason="no")):
            self._end(approval_id, State.REFUSED)

    @rule(approval_id=some_id, args=some_args)
    def a_person_edits(self, approval_id: str, args: dict[str, Any]) -> None:
        digest = named(args)
        wanted = self.book.get(approval_id, self.now)
        edited = Unmoved(why="not_found") if wanted is None else wanted.with_arguments(args, args)
        answer = edited if isinstance(edited, Unmoved) else self.book.edit(edited, **PERSON, now=self.now)
        if self.states.get(approval_id) is State.HELD and self.live.get(digest, approval_id) != approval_id:
            assert isinstance(answer, Unmoved)
            assert answer.why == "same_call_waits"
        elif self._move(approval_id, State.EDITED, answer):
            self._end(approval_id, State.EDITED)
            self.live[digest] = approval_id

    @rule(args=some_args)
    def the_call_is_made_again(self, args: dict[str, Any]) -> None:
        digest = named(args)
        owner = self.live.get(digest)
        grant = self.book.take(digest, self.now)
        if owner is not None and State.TAKEN in MOVES[self.states[owner]]:
            assert grant is not None
            assert grant.approval_id == owner
            assert grant.edited is (self.states[owner] is State.EDITED)
            self.taken.append(owner)
            self._end(owner, State.TAKEN)
        else:
            assert grant is None

    @invariant()
    def the_book_says_what_the_model_says(self) -> None:
        listed = self.book.list(self.now, limit=1000)
        assert {hold.approval_id: hold.state for hold in listed} == self.states
        assert all(bool(hold.args) == (hold.state in LIVE) for hold in listed)
        assert len(self.taken) == len(set(self.taken))


@pytest.mark.promise("decide.approval-states", "decide.approval-once", "decide.approval-edit")
class TestMoves(Moves.TestCase):
    settings = settings(max_examples=size(15, 300), stateful_step_count=25, deadline=None)
