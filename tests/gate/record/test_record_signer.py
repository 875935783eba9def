from itertools import count
from types import MappingProxyType
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import LedgerError
from tallystick.gate.codes import CallCode
from tallystick.gate.record.clock import ClockMonitor
from tallystick.gate.record.journal import ZERO, Place
from tallystick.gate.record.payload import SALT, flat_line, read_receipt
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.record_signer import RESERVED, RecordSigner, seq_of
from tallystick.gate.record.signing import HmacKey
from tallystick.gate.record.tree import leaf_hash
from tallystick.gate.session import Caller, Session
from tests.ledgers import draft

KEY = HmacKey(bytes(range(32)))
SEVENTH: Place = (7, ZERO)


class StillClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.wall = 1_700_000_000_000_000_000
        self.monotonic = 5_000_000_000

    def wall_ns(self) -> int:
        return self.wall

    def monotonic_ns(self) -> int:
        return self.monotonic

    def go(self, seconds: float, *, wall: float | None = None) -> None:
        self.monotonic += int(seconds * 1e9)
        self.wall += int((seconds if wall is None else wall) * 1e9)


class OneKey:
    """Keys of which there is one."""

    def active(self) -> HmacKey:
        return KEY

    def find(self, key_id: str) -> HmacKey | None:
        return KEY if key_id == KEY.key_id else None


def sealer(*, inline: int = 65_536) -> RecordSigner:
    numbers = count(1)
    return RecordSigner(
        OneKey(),
        ClockMonitor(StillClock()),
        lambda length: bytes(next(numbers) % 256 for _ in range(length)),
        inline=inline,
    )  # type: ignore[arg-type]


def seal(made: Draft, *, place: Place = SEVENTH, inline: int = 65_536) -> tuple[dict[str, Any], Any]:
    header, seals = sealer(inline=inline).prepare(made)
    return header, seals(place)


def plain_keys(value: Any) -> bool:
    if isinstance(value, dict):
        return all(key.isascii() and plain_keys(inner) for key, inner in value.items())
    return all(map(plain_keys, value)) if isinstance(value, list) else True


texts = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
maybe = st.none() | texts
objects = st.dictionaries(
    st.text(st.characters(max_codepoint=127), max_size=8), json_values.filter(plain_keys), max_size=4
)


drafts = st.builds(
    Draft,
    kind=st.sampled_from(["outcome", "started", "held", "approval"]),
    session=st.builds(
        Session,
        session_id=st.sampled_from(["s1", "A.b-c_9"]),
        caller=st.builds(Caller, subject=texts, roles=st.frozensets(texts, max_size=3), channel=texts),
        agent_id=maybe,
        turn_id=maybe,
        ticket_id=maybe,
        task_id=maybe,
        extra=st.dictionaries(st.sampled_from(["zone", "desk_id", "unit"]), texts, max_size=2),
    ),
    tool_id=maybe,
    tool_version=maybe,
    outcome=st.none() | objects,
    approval=st.none() | objects,
    context=st.none() | objects,
    audit=st.none() | objects,
    links=st.dictionaries(st.sampled_from(["started", "held", "prev", "signature_alg"]), texts, max_size=2),
    file_refs=st.lists(st.fixed_dictionaries({"path": texts, "sha256": texts}), max_size=2).map(tuple),
    policy_digest=maybe,
    duration_us=st.integers(0, 2**40),
    inputs=st.none() | json_values.map(orjson.dumps),
    outputs=st.none() | json_values.map(orjson.dumps),
)


@pytest.mark.promise("record.header", "record.canonical")
@given(drafts, st.integers(0, 2**40))
def test_any_draft_becomes_a_signed_canonical_header(made: Draft, seq: int) -> None:
    header, sealed = seal(made, place=(seq, leaf_hash(b"before")))
    assert sealed.header == rfc8785.dumps(header)
    assert KEY.signed(sealed.header)
    assert sealed.leaf == leaf_hash(sealed.header)
    assert header["prev"] == leaf_hash(b"before").hex()
    assert seq_of(header["receipt_id"]) == header["seq"] == seq
    assert None not in header.values()


@pytest.mark.promise("record.flat-view")
@given(drafts, st.sampled_from([0, 5, 65_536]), st.none() | st.integers(0, 30))
def test_the_view_line_is_what_the_receipt_shows(made: Draft, inline: int, cut: int | None) -> None:
    made = Draft(**{name: getattr(made, name) for name in Draft.__slots__} | {"excerpt_bytes": cut})
    header, sealed = seal(made, inline=inline)
    receipt = read_receipt(sealed[:3], header, dict(sealed.blobs).get)
    assert receipt is not None
    shown = orjson.loads(sealed.flat)
    assert sealed.flat.endswith(b"\n")
    assert b"\n" not in sealed.flat[:-1]
    assert shown == receipt.flat()
    if made.inputs is not None:
        assert receipt.inputs == orjson.loads(made.inputs)
    if made.outputs is not None:
        assert receipt.outputs == orjson.loads(made.outputs)
        assert header["full_size"] == len(made.outputs)


@pytest.mark.promise("record.payload-exact")
@pytest.mark.parametrize("payload", [b'{\n  "a": 1\n}', b'{"a":\t1}', b"[1,\r\n2]", b'"' + b"x" * 70_000 + b'"'])
def test_a_payload_that_does_not_fit_on_a_line_is_kept_beside_it_exactly(payload: bytes) -> None:
    header, sealed = seal(draft(outputs=payload, inputs=None))
    assert dict(sealed.blobs)[header["outputs_digest"]][SALT:] == payload
    assert not {b"\t", b"\n", b"\r"} & {sealed.outputs[at : at + 1] for at in range(len(sealed.outputs))}
    flat = orjson.loads(sealed.flat)
    assert payload.decode().startswith(flat["excerpt"])
    assert flat["full_size"] == len(payload)
    assert "outputs" not in flat


@pytest.mark.promise("record.excerpt")
def test_an_output_that_was_cut_is_kept_whole_and_shown_as_an_excerpt() -> None:
    whole = orjson.dumps({"text": "é" * 100})
    header, sealed = seal(draft(outputs=whole, excerpt_bytes=12))
    flat = orjson.loads(sealed.flat)
    assert flat["excerpt"] == '{"text":"é'  # no half letter
    assert flat["full_size"] == len(whole)
    assert flat["sha256"] == read_receipt(sealed[:3], header, dict(sealed.blobs).get).sha256
    assert sealed.outputs[SALT:] == whole


@pytest.mark.promise("record.salted")
def test_the_same_payload_has_another_digest_in_every_receipt() -> None:
    made = sealer()
    first, second = made.prepare(draft())[0], made.prepare(draft())[0]
    assert first["inputs_digest"] != second["inputs_digest"]
    assert first["outputs_digest"] != second["outputs_digest"]


@pytest.mark.promise("record.no-floats")
@pytest.mark.parametrize(
    "wrong",
    [
        {"context": {"elapsed": 1.5}},
        {"outcome": {"status": "accepted", "deep": [{"x": 0.1}]}},
        {"audit": {"metadata": {"n": float("nan")}}},
        {"approval": {"at": 1.0}},
        {"links": {"weight": 2.0}},
        {"file_refs": ({"path": "a", "lines": [1.0, 2]},)},
        {"duration_us": 1.0},
        {"context": {"ключ": 1}},
        {"context": {1: 2}},
        {"context": {"n": 2**53}},
        {"context": {"when": object()}},
        {"session": Session(session_id="s", extra={"seq": "1"})},
        {"session": Session(session_id="s", extra={"zöne": "1"})},
        {"session": Session(session_id="s", extra={"signature2": "1"})},
        {"session": Session(session_id="s", extra={"signature_alga": "1"})},
        {"session": Session(session_id="s", extra={"zone": 1})},  # type: ignore[dict-item]
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_what_a_header_cannot_hold_is_an_error_of_the_caller(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        seal(draft(**wrong))


@pytest.mark.parametrize("session_id", ["", ".", "..", "a/b", "/etc", "a\x00", "ä", "-x", "x" * 129, "a b", "a\n"])
def test_a_session_id_that_could_mean_something_to_a_file_system_is_refused(session_id: str) -> None:
    with pytest.raises(LedgerError) as error:
        seal(draft(session=session_id))
    assert error.value.code == "session_id_invalid"


def test_other_mappings_and_enumerated_text_are_taken_too() -> None:
    header, sealed = seal(draft(outcome=MappingProxyType({"status": "rejected", "call_code": CallCode.MULTIPLE})))
    assert orjson.loads(sealed.header)["outcome"]["call_code"] == "tool_call_multiple"
    assert sealed.header == rfc8785.dumps(
        {**header, "outcome": {"call_code": "tool_call_multiple", "status": "rejected"}}
    )


def test_every_field_of_a_header_is_reserved() -> None:
    header, _ = seal(
        draft(
            approval={"id": "a"}, audit={"subject": "x"}, links={"a": "b"}, file_refs=({"path": "p"},), excerpt_bytes=1,
            session=Session(
                session_id="s", agent_id="a", turn_id="t", round_id="r", conference_id="c", task_id="k", run_id="u",
                ticket_id="i",
            ),
        )
    )  # fmt: skip
    assert header.keys() <= RESERVED


@pytest.mark.promise("record.receipt-id")
def test_receipt_ids_sort_as_they_were_made() -> None:
    made = sealer()
    ids = []
    for seq in (0, 1, 9, 10, 255, 256, 70_000, 2**40):
        header, seals = made.prepare(draft())
        seals((seq, ZERO))
        ids.append(header["receipt_id"])
    assert ids == sorted(ids)
    assert [seq_of(receipt) for receipt in ids] == [0, 1, 9, 10, 255, 256, 70_000, 2**40]


@pytest.mark.parametrize(
    "text",
    ["", "rcpt_", "rcpt_" + "0" * 23, "rcpt_" + "G" * 24, "xcpt_" + "0" * 24, "rcpt_" + "0" * 25, "rcpt_" + "A" * 24],
)
def test_what_is_not_the_form_of_a_receipt_id_names_no_place(text: str) -> None:
    assert seq_of(text) is None


def test_an_erased_payload_shows_as_erased() -> None:
    header, sealed = seal(draft())
    blank = b"~".ljust(len(sealed.inputs))
    assert orjson.loads(flat_line(sealed.header, blank, sealed.outputs, None))["erased"] is True
    receipt = read_receipt((sealed.header, blank, sealed.outputs), header, lambda _: None)
    assert receipt is not None
    assert receipt.erased
    assert receipt.flat()["erased"] is True


@pytest.mark.parametrize("change", ["inputs", "outputs", "no inputs", "no blob"])
def test_a_payload_that_does_not_fit_makes_no_receipt(change: str) -> None:
    header, sealed = seal(draft(), inline=0 if change == "no blob" else 65_536)
    inputs = {"inputs": sealed.inputs + b" ", "no inputs": b""}.get(change, sealed.inputs)
    outputs = sealed.outputs.replace(b"hello", b"hullo") if change == "outputs" else sealed.outputs
    assert read_receipt((sealed.header, inputs, outputs), header, lambda _: None) is None
