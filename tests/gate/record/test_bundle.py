import base64
import random
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import LedgerError
from tallystick.gate.record.bundle import check_bundle, make_bundle
from tallystick.gate.record.canonical import canonical
from tallystick.gate.record.checkpoint import Checkpoint, NoteSigner, NoteVerifier
from tallystick.gate.record.evidence import excerpts_of
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.portable_receipt import BundleInvalid
from tallystick.gate.record.receipt import Draft
from tallystick.gate.record.tree import leaf_hash, node_hash
from tallystick.gate.session import Session
from tests.ledgers import AUDITOR, Workspace, draft, fill
from tests.sizes import size

WHERE = Session(session_id="s1", agent_id="critic")
EXCERPT = "It was the best of times, it was\nthe worst of times, it was the age of wisdom,"
QUOTE = "it was the worst of times"
LINE = f'Evidence: "{QUOTE}" Story/one.md:L1-L2; receipt RECEIPT'


def record_check(ledger: Ledger, cited: str, *, text: str | None = None, **changes: Any) -> tuple[str, str]:
    """A reply and the receipt of its check, in the form that the reply check writes."""
    line = LINE.replace("RECEIPT", cited)
    reply = text or f"The opening sets two moods against each other.\n\n{line}"
    payload = {
        "reply_sha256": digest(reply), "form": "line", "ok": True, "code": None, "fault": None, "abstained": False,
        "request": None, "line": line, "receipts": [cited],
        "items": [
            CONTENT,
            {"kind": "tool_result", "source": f"receipt {cited}", "ok": True},
        ],
    }  # fmt: skip
    fields: dict[str, Any] = {
        "kind": "reply_check", "session": WHERE, "outcome": {"status": "accepted"}, "file_refs": (REF,),
        "links": {"cites_0": cited},
    }  # fmt: skip
    for name, value in changes.items():
        (fields if name in {"outcome", "file_refs", "links", "kind", "session"} else payload)[name] = value
    receipt = ledger.record_sync(Draft(**fields, outputs=orjson.dumps(payload)))
    return reply, receipt.receipt_id


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


REF = {"path": "Story/one.md", "sha256": "e" * 64, "lines": [1, 2], "excerpt_sha256": digest(EXCERPT)}
CONTENT = {"kind": "content", "source": "Story/one.md:L1-L2", "ok": True, **REF, "quote": QUOTE, "excerpt": EXCERPT}


@pytest.fixture
def made(workspace: Workspace) -> tuple[bytes, NoteVerifier]:
    """A bundle, and the key of its log."""
    with workspace.opened() as ledger:
        fill(ledger, 5)
        cited = ledger.record_sync(draft(session=WHERE)).receipt_id
        reply, check = record_check(ledger, cited)
        fill(ledger, 20)
        return make_bundle(ledger, reply, check), ledger.keys.log_signer().verifier


@pytest.mark.promise("record.bundle")
def test_a_bundle_is_checked_on_nothing_but_its_bytes(made: tuple[bytes, NoteVerifier]) -> None:
    data, key = made
    report = check_bundle(data, key)
    assert (report.status, report.reason) == ("valid", "valid")
    assert (report.receipts, report.quotes) == (2, 1)
    assert report.origin == key.name
    assert report.as_dict()["status"] == "valid"


@pytest.mark.promise("record.bundle-signer")
def test_without_a_key_from_outside_it_is_never_called_valid(made: tuple[bytes, NoteVerifier]) -> None:
    report = check_bundle(made[0])
    assert report.ok
    assert (report.status, report.reason) == ("consistent", "consistent, signer unknown")


@pytest.mark.promise("record.bundle-signer")
def test_a_bundle_of_another_log_is_refused(made: tuple[bytes, NoteVerifier], tmp_path: Path) -> None:
    with Workspace(tmp_path / "other").opened() as other:
        report = check_bundle(made[0], other.keys.log_signer().verifier)
    assert report.status == "broken"
    assert "key" in report.reason


@pytest.mark.promise("record.bundle-tamper")
@pytest.mark.parametrize("key", ["given", "not given"])
def test_any_changed_byte_breaks_it(made: tuple[bytes, NoteVerifier], key: str) -> None:
    data, given = made
    chance = random.Random(7)
    places = range(len(data)) if size(0, 1) else sorted(chance.sample(range(len(data)), 700))
    for at in places:
        changed = bytearray(data)
        changed[at] ^= chance.choice([1, 2, 4, 8, 16, 32, 64, 128])
        report = check_bundle(bytes(changed), given if key == "given" else None)
        assert report.status == "broken", (at, data[at - 30 : at + 30])
        assert report.reason


@pytest.mark.promise("record.bundle-tamper")
@pytest.mark.parametrize(
    "change",
    [
        lambda d: d + b"\n",
        lambda d: b" " + d,
        lambda d: d[:-1],
        lambda d: d[:-1] + b',"x":1}',
        lambda d: b"",
        lambda d: b"[]",
        lambda d: b"null",
        lambda d: b"\xff",
        lambda d: b"[" * 100_000,
    ],
)
def test_bytes_added_or_taken_break_it(made: tuple[bytes, NoteVerifier], change: Callable[[bytes], bytes]) -> None:
    assert check_bundle(change(made[0])).status == "broken"


@pytest.mark.promise("record.bundle-tamper")
def test_every_part_is_held_against_the_others(made: tuple[bytes, NoteVerifier]) -> None:
    """Changes that keep the file canonical, so that only what it says can give it away."""
    whole = orjson.loads(made[0])

    def broken(change: Callable[[dict[str, Any]], object]) -> str:
        bundle = orjson.loads(made[0])
        change(bundle)
        assert bundle != whole
        report = check_bundle(canonical(bundle))
        assert report.status == "broken"
        return report.reason

    assert "reply is not the one" in broken(lambda b: b.update(reply=b["reply"] + "!"))
    assert "Evidence line" in broken(lambda b: b.update(evidence="Evidence: none"))
    assert "excerpts" in broken(lambda b: b["excerpts"][0].update(excerpt="something else"))
    assert "excerpts" in broken(lambda b: b["excerpts"].clear())
    assert "reply check" in broken(lambda b: b.update(check="rcpt_000000000000000000000000"))
    assert "receipts" in broken(lambda b: b["receipts"].pop(0))
    assert "order" in broken(lambda b: b["receipts"].reverse())
    assert "no receipts" in broken(lambda b: b.update(receipts=[]))
    assert "no receipts" in broken(lambda b: b.update(receipts="x"))
    assert "malformed" in broken(lambda b: b["receipts"].append(1))
    assert "malformed" in broken(lambda b: b["receipts"][0].update(path="x"))
    assert "malformed" in broken(lambda b: b["receipts"][0].update(path=["*"]))
    assert "malformed" in broken(lambda b: b["receipts"][0].update(inputs=1))
    assert "malformed" in broken(lambda b: b["receipts"][0].update(header="{}"))
    assert "digest" in broken(lambda b: b["receipts"][0].update(inputs=b["receipts"][0]["inputs"] + " "))
    assert "digest" in broken(lambda b: b["receipts"][0].update(inputs=""))
    assert "proof" in broken(lambda b: b["receipts"][0]["path"].pop())
    assert "proof" in broken(lambda b: b["receipts"][0].update(path=b["receipts"][1]["path"]))
    assert "proof" in broken(
        lambda b: b["receipts"][0].update(header=b["receipts"][0]["header"].replace("word_count", "word_mount"))
    )
    assert "signature" in broken(lambda b: b.update(checkpoint=b["checkpoint"].replace("\n27\n", "\n28\n")))
    assert "key is malformed" in broken(lambda b: b.update(log_key="x"))
    assert "not a bundle" in broken(lambda b: b.update(format="other"))
    assert "not a bundle" in broken(lambda b: b.update(more=1))
    assert "not a bundle" in broken(lambda b: b.pop("check"))
    assert "not text" in broken(lambda b: b.update(reply=1))


@pytest.mark.promise("record.bundle")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ok": False}, "did not pass"),
        ({"outcome": {"status": "rejected", "code": "quote_not_found"}}, "did not pass"),
        ({"items": [{"kind": "content", "source": "x", "ok": False}]}, "failed the check"),
        ({"items": [{"kind": "content", "source": "x", "ok": True, "path": "Story/one.md", "sha256": "e" * 64, "lines": [1, 2], "excerpt_sha256": digest(EXCERPT), "excerpt": EXCERPT, "quote": "it was the age of foolishness"}]}, "is not in"),
        ({"items": [{"kind": "content", "source": "x", "ok": True, "path": "Story/one.md", "excerpt_sha256": "0" * 64, "excerpt": EXCERPT, "quote": QUOTE}]}, "hash"),
        ({"file_refs": ()}, "does not name the excerpt"),
        ({"links": {}}, "does not name the receipts"),
        ({"items": "none"}, "malformed"),
        ({"reply_sha256": "0" * 64}, "not the one that was checked"),
        ({"line": "Evidence: elsewhere"}, "is not in the reply"),
        ({"kind": "note"}, "not the receipt of a reply check"),
        ({"session": Session(session_id="s2")}, "another session"),
        ({"items": [{"kind": "tool_result", "source": "receipt", "ok": True, "quote": "hello there", "receipt": "CITED"}]}, "is not in"),
        ({"items": [{"kind": "tool_result", "source": "receipt", "ok": True, "quote": "hello there", "receipt": "rcpt_x"}]}, "missing"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_does_not_hold_cannot_be_bundled(workspace: Workspace, changes: dict[str, Any], reason: str) -> None:
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE)).receipt_id
        changes = (
            orjson.loads(orjson.dumps(changes).replace(b"CITED", cited.encode())) if "items" in changes else changes
        )
        reply, check = record_check(ledger, cited, **changes)
        with pytest.raises(LedgerError, match=reason):
            make_bundle(ledger, reply, check)


def test_a_quoted_tool_result_is_looked_up_in_the_receipt(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE)).receipt_id
        items = [
            {"kind": "tool_result", "source": f"receipt {cited}", "ok": True, "quote": "hello world", "receipt": cited}
        ]
        reply, check = record_check(ledger, cited, items=items)
        report = check_bundle(make_bundle(ledger, reply, check))
    assert (report.status, report.quotes) == ("consistent", 1)


def test_a_receipt_of_a_refused_call_cannot_be_cited_in_a_bundle(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE, outcome={"status": "rejected"})).receipt_id
        reply, check = record_check(ledger, cited)
        with pytest.raises(LedgerError, match="rejected call"):
            make_bundle(ledger, reply, check)


def test_a_receipt_of_the_same_round_but_another_session_can_be_cited(workspace: Workspace) -> None:
    here, there = (Session(session_id=name, round_id="round_1", conference_id="c") for name in ("s1", "s2"))
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=there)).receipt_id
        reply, check = record_check(ledger, cited, session=here)
        assert check_bundle(make_bundle(ledger, reply, check)).ok


def test_large_payloads_travel_whole_and_erased_ones_are_said_to_be_erased(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE, outputs=orjson.dumps("x" * 70_000))).receipt_id
        reply, check = record_check(ledger, cited)
        bundle = make_bundle(ledger, reply, check)
        assert len(bundle) > 70_000
        assert check_bundle(bundle).ok
        ledger.erase(cited, session=AUDITOR, reason="asked")
        report = check_bundle(make_bundle(ledger, reply, check))
        assert report.ok
        assert report.notes == (f"{cited}: payload erased",)
        assert report.as_dict()["notes"] == [f"{cited}: payload erased"]
        without = orjson.loads(make_bundle(ledger, reply, check))
        without["receipts"] = [one for one in without["receipts"] if '"kind":"erasure"' not in one["header"]]
        assert check_bundle(canonical(without)).status == "broken"
        ledger.erase(check, session=AUDITOR, reason="asked")
        with pytest.raises(LedgerError):
            make_bundle(ledger, reply, check)


@pytest.mark.promise("record.bundle")
def test_a_report_names_the_log_and_counts_unless_the_bundle_is_broken(made: tuple[bytes, NoteVerifier]) -> None:
    whole = check_bundle(made[0]).as_dict()
    assert whole.keys() >= {"status", "reason", "origin", "receipts", "quotes"}
    assert whole["origin"] == made[1].name
    assert check_bundle(made[0] + b" ").as_dict().keys() == {"status", "reason"}


@pytest.mark.promise("record.bundle-tamper")
def test_a_payload_that_is_left_out_is_not_taken_for_an_erased_one(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE)).receipt_id
        reply, check = record_check(ledger, cited)
        bundle = orjson.loads(make_bundle(ledger, reply, check))
    [one] = (each for each in bundle["receipts"] if f'"receipt_id":"{cited}"' in each["header"])
    one["inputs"] = one["outputs"] = "~"
    report = check_bundle(canonical(bundle))
    assert report.status == "broken"
    assert "no record says that it was erased" in report.reason


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value."""
SIGNER = NoteSigner("tallystick/stranger", bytes(32))


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a JSON value, itself included."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places_in(item, (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The same JSON value with something else at one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


@pytest.fixture(scope="module")
def any_bundle(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A bundle of two receipts that are the whole log; one is quoted, and nests deeper than a stack is deep."""
    nested = b'["hello world",' + b"[" * 900 + b'"deep down"' + b"]" * 901
    with Workspace(tmp_path_factory.mktemp("any")).opened() as ledger:
        cited = ledger.record_sync(draft(session=WHERE, outputs=nested)).receipt_id
        quoted = {"kind": "tool_result", "source": cited, "ok": True, "quote": "hello world", "receipt": cited}
        reply, check = record_check(ledger, cited, items=[CONTENT, quoted])
        found: dict[str, Any] = orjson.loads(make_bundle(ledger, reply, check))
    assert len(found["receipts"]) == 2
    return found


@pytest.mark.promise("record.bundle-hostile")
@given(data=st.data())
@settings(max_examples=size(60, 3000))
def test_any_json_at_any_place_of_a_bundle_gives_a_report(any_bundle: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(places_in(any_bundle))))
    changed = put(any_bundle, path, data.draw(ANYTHING))
    report = check_bundle(canonical(changed))
    assert report.ok == (changed == any_bundle)
    assert report.reason


@pytest.mark.promise("record.bundle-hostile")
@given(data=st.data())
@settings(max_examples=size(150, 5000))
def test_any_json_that_a_stranger_signed_gives_a_report(any_bundle: dict[str, Any], data: st.DataObject) -> None:
    """Whoever makes a bundle signs what they like: header and payload of every receipt may hold anything."""
    cited, check = (orjson.loads(item["header"]) for item in any_bundle["receipts"])
    parts = {"cited": cited, "check": check, "payload": orjson.loads(any_bundle["receipts"][1]["outputs"][32:])}
    path = data.draw(st.sampled_from(list(places_in(parts))[1:]))
    report = check_bundle(signed_by_a_stranger(any_bundle, put(parts, path, data.draw(ANYTHING))))
    assert report.reason
    assert report.status in {"broken", "consistent"}


@pytest.mark.promise("record.bundle-hostile")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("payload", "receipts"), 5),
        (("payload", "receipts"), [[]]),
        (("payload", "line"), []),
        (("payload", "items"), None),
        (("payload", "items", 0, "quote"), 7),
        (("payload", "items", 0, "excerpt"), {}),
        (("payload", "items", 0, "quote"), "x" * 300_000),
        (("payload", "items", 1, "receipt"), []),
        (("check", "outcome"), "accepted"),
        (("check", "links"), []),
        (("check", "links", "cites_0"), {}),
        (("check", "file_refs"), 1),
        (("check", "file_refs", 0), "x"),
        (("cited", "outcome"), [1]),
        (("payload", "items", 1, "quote"), "deeper down"),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_stranger_signed_and_is_malformed_is_called_broken(
    any_bundle: dict[str, Any], path: tuple[Any, ...], value: Any
) -> None:
    cited, check = (orjson.loads(item["header"]) for item in any_bundle["receipts"])
    parts = {"cited": cited, "check": check, "payload": orjson.loads(any_bundle["receipts"][1]["outputs"][32:])}
    assert check_bundle(signed_by_a_stranger(any_bundle, parts)).status == "consistent"
    deep = put(parts, ("payload", "items", 1, "quote"), "deep down")
    assert check_bundle(signed_by_a_stranger(any_bundle, deep)).quotes == 2
    assert check_bundle(signed_by_a_stranger(any_bundle, put(parts, path, value))).status == "broken"


def test_a_checkpoint_of_absurd_size_is_called_broken(any_bundle: dict[str, Any]) -> None:
    note = SIGNER.sign(f"{SIGNER.verifier.name}\n{'9' * 5000}\n{'A' * 43}=\n").decode()
    changed = {**any_bundle, "checkpoint": note, "log_key": SIGNER.verifier.vkey()}
    assert check_bundle(canonical(changed)).status == "broken"


def signed_by_a_stranger(bundle: dict[str, Any], parts: dict[str, Any]) -> bytes:
    """The bundle with these headers and this payload, all digests and proofs made to fit."""
    outputs = "0" * 32 + orjson.dumps(parts["payload"]).decode()
    check = (
        {**parts["check"], "outputs_digest": digest(outputs)} if isinstance(parts["check"], dict) else parts["check"]
    )
    stored = [canonical(header) for header in (parts["cited"], check)]
    leaves = [leaf_hash(header) for header in stored]
    note = Checkpoint(origin=SIGNER.verifier.name, size=2, root=node_hash(*leaves)).text()
    receipts = [
        {**item, "header": header.decode(), "path": [base64.b64encode(leaf).decode()]}
        for item, header, leaf in zip(bundle["receipts"], stored, reversed(leaves), strict=True)
    ]
    receipts[1]["outputs"] = outputs
    changed = {"checkpoint": SIGNER.sign(note).decode(), "log_key": SIGNER.verifier.vkey(), "receipts": receipts}
    return canonical({**bundle, **changed, "excerpts": shown_of(parts["payload"])})


def shown_of(payload: Any) -> Any:
    try:
        return excerpts_of(payload)
    except (BundleInvalid, AttributeError):
        return []


def test_an_unknown_receipt_cannot_be_bundled(workspace: Workspace) -> None:
    with workspace.opened() as ledger, pytest.raises(LedgerError) as error:
        make_bundle(ledger, "text", "rcpt_000000000000000000000000")
    assert error.value.code == "bundle_no_check"
