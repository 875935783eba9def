"""The short way of a plain record makes the bytes of the general way, or none."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.record.clock import ClockMonitor
from tallystick.gate.record.header_templates import TemplateSigner
from tallystick.gate.record.journal import Place, RecordFactory, SignedRecord
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.record_signer import RecordSigner
from tallystick.gate.record.signing import HmacKey
from tallystick.gate.session import Caller, Session
from tallystick.gate.tool import Card
from tests.gate.record.test_record_signer import StillClock

DIGEST = "d" * 64
CARD = Card(name="echo", description="Echo.", effect="read", input_schema={"type": "object"})


class Keys:
    def __init__(self) -> None:
        self.key = HmacKey(bytes(range(32)))

    def active(self) -> HmacKey:
        return self.key


def chance() -> Callable[[int], bytes]:
    """Always the same, so that two ways can be compared."""
    return lambda length: bytes(at % 38 for at in range(length))


class Both:
    """One clock and one key ring, and both ways to a record."""

    def __init__(self) -> None:
        self.clock, self.keys = StillClock(), Keys()
        self.short = TemplateSigner(self._signer(), chance(), inline=10_000)
        self.general = self._signer()

    def _signer(self) -> RecordSigner:
        return RecordSigner(self.keys, ClockMonitor(self.clock), chance(), inline=10_000)  # type: ignore[arg-type]

    def seal(
        self, session: Session, inputs: bytes, outputs: bytes, duration_us: int, started: str | None = None,
        snapshot: str | None = None,
    ) -> RecordFactory | None:  # fmt: skip
        seal: RecordFactory | None = None
        for _ in range(2):  # the first time a session is only remembered
            seal = self.short.outcome(session, CARD, DIGEST, inputs, outputs, duration_us, started, snapshot)
        return seal

    def expected(
        self, session: Session, inputs: bytes, outputs: bytes, duration_us: int, place: Place,
        started: str | None = None, snapshot: str | None = None,
    ) -> Any:  # fmt: skip
        draft = Draft(
            kind="outcome", session=session, tool_id="echo", tool_version=CARD.version, outcome={"status": "accepted"},
            policy_digest=DIGEST, duration_us=duration_us, inputs=inputs, outputs=outputs,
            links={} if started is None else {"started": started},
            context=None if snapshot is None else {"snapshot": snapshot},
        )  # fmt: skip
        return self.general.prepare(draft)[1](place)

    def beginning(self, session: Session, inputs: bytes, process: str) -> RecordFactory | None:
        seal: RecordFactory | None = None
        for _ in range(2):
            seal = self.short.started(session, CARD, DIGEST, inputs, process)
        return seal

    def expected_beginning(self, session: Session, inputs: bytes, process: str, place: Place) -> Any:
        draft = Draft(
            kind="started", session=session, tool_id="echo", tool_version=CARD.version, policy_digest=DIGEST,
            inputs=inputs, links={"process": process},
        )  # fmt: skip
        return self.general.prepare(draft)[1](place)


def same(plain: SignedRecord, general: SignedRecord) -> None:
    """The same record; and what is told of it is what its header says."""
    assert plain._replace(summary=None) == general
    assert plain.summary is not None
    said, timestamp = plain.summary
    header = orjson.loads(general.header)
    assert said.items() <= header.items()
    assert header["timestamp"] == timestamp
    # What is left out is the same for all calls: place, digests, and how long it took.
    left = {"prev", "seq", "receipt_id", "timestamp", "signature", "inputs_digest", "outputs_digest", "full_size"}
    assert header.keys() - said.keys() <= left | {"duration_us", "links"}


texts = st.text(st.characters(codec="utf-8"), max_size=30)
sessions = st.builds(
    Session,
    session_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True),
    caller=st.builds(Caller, subject=texts, roles=st.frozensets(texts, max_size=3), channel=texts),
    agent_id=st.none() | texts,
    turn_id=st.none() | texts,
    round_id=st.none() | texts,
    conference_id=st.none() | texts,
    task_id=st.none() | texts,
    run_id=st.none() | texts,
    ticket_id=st.none() | texts,
)
started = st.from_regex(r"rcpt_[0-9a-f]{24}", fullmatch=True)
payloads = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
).map(orjson.dumps)


@pytest.mark.promise("record.plain")
@given(
    sessions, payloads, payloads, st.integers(0, 2**40), st.none() | started, st.integers(0, 2**40),
    st.binary(min_size=32, max_size=32), st.none() | texts,
)  # fmt: skip
def test_a_plain_outcome_has_the_bytes_of_the_general_way(
    session: Session, inputs: bytes, outputs: bytes, duration_us: int, begun: str | None, seq: int, prev: bytes,
    snapshot: str | None,
) -> None:  # fmt: skip
    both = Both()
    seal = both.seal(session, inputs, outputs, duration_us, begun, snapshot)
    assert seal is not None
    same(seal((seq, prev)), both.expected(session, inputs, outputs, duration_us, (seq, prev), begun, snapshot))


def test_what_a_rule_read_this_time_stands_in_the_record_and_not_what_it_read_before() -> None:
    both, session = Both(), Session(session_id="s")
    for snapshot in ("a" * 64, "b" * 64, None, "a" * 64):
        seal = both.seal(session, b"{}", b"{}", 1, None, snapshot)
        assert seal is not None
        context = orjson.loads(seal((0, bytes(32))).header).get("context")
        assert context == (None if snapshot is None else {"snapshot": snapshot})
    # A rule whose world is another each time goes the general way: nothing is made ready for it in vain.
    assert [both.short.outcome(session, CARD, DIGEST, b"{}", b"{}", 1, None, str(at)) for at in range(9)] == [None] * 9


@pytest.mark.promise("record.plain")
@given(sessions, payloads, st.integers(0, 2**40), st.binary(min_size=32, max_size=32))
def test_a_plain_beginning_has_the_bytes_of_the_general_way(
    session: Session, inputs: bytes, seq: int, prev: bytes
) -> None:
    both = Both()
    seal = both.beginning(session, inputs, "0011223344556677")
    assert seal is not None
    same(seal((seq, prev)), both.expected_beginning(session, inputs, "0011223344556677", (seq, prev)))


def test_a_beginning_in_another_process_names_that_one() -> None:
    both = Both()
    session = Session(session_id="s")
    for process in ("before the fork", "behind the fork"):
        seal = both.beginning(session, b"{}", process)
        assert seal is not None
        assert orjson.loads(seal((0, bytes(32))).header)["links"] == {"process": process}


@pytest.mark.parametrize("odd", ["%", "%d %s %%", '"seq":0,', '","signature_alg":"', "é\u2028\U0001f600", "\x00\x1f"])
def test_text_that_looks_like_a_hole_or_a_mark_stays_text(odd: str) -> None:
    both = Both()
    session = Session(session_id="s", agent_id=odd, ticket_id=odd, caller=Caller(subject=odd, roles=frozenset({odd})))
    seal = both.seal(session, b"{}", b"1", 5)
    assert seal is not None
    same(seal((3, bytes(32))), both.expected(session, b"{}", b"1", 5, (3, bytes(32))))


def test_a_changed_key_and_a_moved_clock_go_the_general_way() -> None:
    both = Both()
    session = Session(session_id="s")
    seal = both.seal(session, b"{}", b"1", 5)
    assert seal is not None
    seal((0, bytes(32)))
    both.keys.key = HmacKey(b"another".ljust(32, b"-"))
    assert orjson.loads(seal((1, bytes(32))).header)["key_id"] == both.keys.key.key_id
    both.clock.go(1, wall=-3_600)
    moved = orjson.loads(seal((2, bytes(32))).header)
    assert moved["clock_jump"] == "back"
    assert both.keys.key.signed(seal((3, bytes(32))).header)


def test_a_call_that_began_under_another_key_still_names_its_beginning() -> None:
    both = Both()
    session = Session(session_id="s")
    begins, ends = both.beginning(session, b"{}", "token"), both.seal(session, b"{}", b"1", 5, "rcpt_1")
    assert begins is not None
    assert ends is not None
    both.keys.key = HmacKey(b"another".ljust(32, b"-"))
    begun, ended = orjson.loads(begins((0, bytes(32))).header), orjson.loads(ends((1, bytes(32))).header)
    assert (begun["kind"], begun["links"], begun["duration_us"]) == ("started", {"process": "token"}, 0)
    assert (ended["kind"], ended["links"], ended["duration_us"]) == ("outcome", {"started": "rcpt_1"}, 5)


@pytest.mark.parametrize("payload", [b'"a\nb"', b"[1,\t2]", b"[\r]", b'"' + b"x" * 10_000 + b'"'])
def test_a_payload_that_does_not_stand_in_a_line_needs_a_draft(payload: bytes) -> None:
    assert Both().seal(Session(session_id="s"), b"{}", payload, 5) is None


def test_sessions_with_fields_of_their_own_need_a_draft() -> None:
    assert Both().seal(Session(session_id="s", extra={"room": "desk"}), b"{}", b"1", 5) is None


def test_more_sessions_than_are_remembered_do_no_harm() -> None:
    both = Both()
    for number in range(1_500):
        session = Session(session_id=f"s{number}")
        seal = both.seal(session, b"{}", b"1", 5)
        assert seal is not None
        assert orjson.loads(seal((number, bytes(32))).header)["session_id"] == f"s{number}"
