"""Tampering: whatever is changed shows, with the record and the reason."""

import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.errors import ConfigError, LedgerDamaged, LedgerUnwritable
from tallystick.gate.record.audit import verify
from tallystick.gate.record.checkpoint import NoteSigner
from tallystick.gate.record.clock import ClockMonitor, SystemClock
from tallystick.gate.record.notary import KeyNotary
from tallystick.gate.record.record_signer import RecordSigner
from tallystick.gate.session import Session
from tallystick.storage.journal.archive import FileArchive
from tallystick.storage.keys import FileKeys
from tallystick.storage.ledger import verify_workspace
from tests.ledgers import AUDITOR, Workspace, draft, fill
from tests.sizes import size


@pytest.fixture
def kept(workspace: Workspace) -> Workspace:
    """A closed ledger with twelve records in two sessions, one of them with a blob."""
    with workspace.opened() as ledger:
        fill(ledger, 5, session="s1")
        fill(ledger, 5, session="s2")
        where = Session(
            session_id="s2", agent_id="critic", turn_id="t", run_id="run_1", ticket_id="T-1", extra={"zone": "x"}
        )
        ledger.record_sync(
            draft(
                10,
                session=where,
                outputs=orjson.dumps("x" * 70_000),
                audit={"subject": "ada", "action": "analysis.run", "resource": "run:1", "metadata": {"n": 1}},
                approval={"approval_id": "apr_1", "person": "ada"},
                links={"started": "rcpt_1"},
                file_refs=({"path": "a.md", "sha256": "c" * 64, "lines": [1, 2], "excerpt_sha256": "d" * 64},),
            )
        )
        fill(ledger, 1, session="s1")
    report = workspace.verify()
    assert report.ok
    assert (report.size, report.proved_up_to) == (12, 12)
    assert set(report.proved_by) == {"head", "mirror", "checkpoint", "mirrored checkpoint"}
    return workspace


def fields(header: bytes) -> list[str]:
    return sorted(orjson.loads(header))


@pytest.mark.promise("record.tamper-header")
def test_a_change_to_any_header_field_shows_with_its_record(kept: Workspace) -> None:
    lines = kept.lines()
    header, rest = lines[10].split(b"\t", 1)
    names = fields(header)
    assert len(names) >= 28
    for name in names:
        for value in (changed(orjson.loads(header)[name]), None):
            fields_now = orjson.loads(header)
            if value is None:
                del fields_now[name]
            else:
                fields_now[name] = value
            kept.write_lines(
                [*lines[:10], orjson.dumps(fields_now, option=orjson.OPT_SORT_KEYS) + b"\t" + rest, *lines[11:]]
            )
            report = kept.verify()
            assert not report.ok, name
            assert report.problems[0].seq == 10, name


KINDS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 2**53), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=20),
    st.lists(st.none() | st.integers() | st.text(max_size=5), max_size=2),
    st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5), max_size=2),
)  # fmt: skip
"""A value of any kind that JSON has."""


@pytest.mark.promise("record.tamper-header")
def test_a_header_field_of_any_other_kind_is_a_problem_and_never_an_error(kept: Workspace) -> None:
    with kept.opened() as ledger:
        ledger.erase(next(ledger.session("s1")).receipt_id, session=AUDITOR, reason="asked")
        ledger.rotate(session=AUDITOR)
    lines = kept.lines()
    places = [
        (seq, name)
        for seq in (0, 10, len(lines) - 2, len(lines) - 1)
        for name in orjson.loads(lines[seq].split(b"\t")[0])
    ]

    @settings(max_examples=size(3, 30))
    @given(KINDS)
    @example([])
    @example({})
    @example({"erased": [], "new_key": [], "incident": {}})
    @example(None)
    @example("../../elsewhere")
    def try_all(value: object) -> None:
        for seq, name in places:
            header, rest = lines[seq].split(b"\t", 1)
            now = orjson.loads(header)
            if now[name] == value and type(now[name]) is type(value):
                continue
            now[name] = value
            data = orjson.dumps(now, option=orjson.OPT_SORT_KEYS)
            kept.write_lines([*lines[:seq], data + b"\t" + rest, *lines[seq + 1 :]])
            report = kept.verify()
            assert not report.ok, name
            assert report.problems[0].seq == seq, name
            assert orjson.dumps(report.as_dict())

    try_all()


@pytest.mark.promise("record.tamper-header")
def test_even_what_was_signed_is_looked_at_before_it_is_used(kept: Workspace) -> None:
    """Somebody who has the secret can sign a header that no gate writes; the audit says so and goes on."""
    keys = FileKeys(kept.audit, create=False)
    lines = kept.lines()
    header, rest = lines[10].split(b"\t", 1)
    for name in orjson.loads(header).keys() - {"signature", "signature_alg", "seq", "prev", "key_id"}:
        for value in (None, True, 7, 1.5, "x/../y", [], ["x"], {}, {"x": []}):
            for kind in ("outcome", "erasure", "recovery", "key_rotation"):
                now = {**orjson.loads(header), "kind": kind, name: value}
                del now["signature"]
                stored, _ = keys.active().sign(orjson.dumps(now, option=orjson.OPT_SORT_KEYS))
                kept.write_lines([*lines[:10], stored + b"\t" + rest, *lines[11:]])
                assert not kept.verify().ok, (name, value, kind)


@pytest.mark.promise("record.tamper-header")
def test_a_signed_record_under_the_id_of_another_place_shows_as_such(kept: Workspace) -> None:
    keys, lines = FileKeys(kept.audit, create=False), kept.lines()
    header, rest = lines[10].split(b"\t", 1)
    other = orjson.loads(lines[9].split(b"\t", 1)[0])["receipt_id"]
    for receipt_id in (other, other[:-1], "rcpt_", 10):
        now = {**orjson.loads(header), "receipt_id": receipt_id}
        del now["signature"]
        stored, _ = keys.active().sign(orjson.dumps(now, option=orjson.OPT_SORT_KEYS))
        kept.write_lines([*lines[:10], stored + b"\t" + rest, *lines[11:]])
        found = [problem for problem in kept.verify().problems if problem.seq == 10]
        assert "receipt_id_invalid" in {problem.code for problem in found}, receipt_id


@pytest.mark.promise("record.find")
@pytest.mark.parametrize("value", [[], {}, None, 7, True, "../x"])
def test_a_changed_record_is_not_found_listed_or_given_a_view_and_nothing_fails(kept: Workspace, value: object) -> None:
    lines = kept.lines()
    header, rest = lines[3].split(b"\t", 1)
    for name in ("key_id", "session_id", "links", "receipt_id", "timestamp"):
        now = {**orjson.loads(header), name: value}
        kept.write_lines([*lines[:3], orjson.dumps(now, option=orjson.OPT_SORT_KEYS) + b"\t" + rest, *lines[4:]])
        try:
            ledger = kept.open()
        except LedgerDamaged:
            continue
        assert ledger.find(orjson.loads(header)["receipt_id"]) is None
        with pytest.raises(LedgerDamaged):
            list(ledger.read())
        ledger.rebuild_views()
        assert ledger.recover() == []
        ledger.close()
        assert not (kept.audit / "x").exists()
        kept.write_lines(lines)


def changed(value: object) -> object:
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, "more"]
    return {**value, "more": "x"} if isinstance(value, dict) else "other"


@pytest.mark.promise("record.tamper-payload")
@pytest.mark.parametrize("column", [1, 2])
def test_a_change_to_any_byte_of_a_payload_shows(kept: Workspace, column: int) -> None:
    lines = kept.lines()
    parts = lines[3].rstrip(b"\n").split(b"\t")
    for at in range(len(parts[column])):
        for byte in (parts[column][at] ^ 1, ord("~") if at == 0 else ord("0") ^ 1):
            changed_column = parts[column][:at] + bytes([byte]) + parts[column][at + 1 :]
            if changed_column == parts[column]:
                continue
            now = [*parts]
            now[column] = changed_column
            kept.write_lines([*lines[:3], b"\t".join(now) + b"\n", *lines[4:]])
            report = kept.verify()
            assert report.problems[0].seq == 3
            assert report.problems[0].code in {"payload_differs", "payload_missing", "record_malformed", "blob_missing"}


@pytest.mark.promise("record.tamper-payload")
@pytest.mark.parametrize("change", ["cut", "changed", "deleted", "excerpt"])
def test_a_change_to_a_blob_or_its_excerpt_shows(kept: Workspace, change: str) -> None:
    blob = next(path for path in (kept.audit / "blobs").rglob("*") if path.is_file())
    if change == "excerpt":
        kept.write_lines([line.replace(b'"excerpt":"\\"xx', b'"excerpt":"\\"yx') for line in kept.lines()])
    elif change == "deleted":
        blob.unlink()
    else:
        blob.write_bytes(blob.read_bytes()[:-1] if change == "cut" else blob.read_bytes().replace(b"xx", b"xy", 1))
    problem = kept.verify().problems[0]
    assert problem.seq == 10
    assert problem.code == ("blob_missing" if change == "deleted" else "payload_differs")


@pytest.mark.promise("record.tamper-record")
def test_a_record_deleted_swapped_or_repeated_shows_at_its_place(kept: Workspace) -> None:
    lines = kept.lines()
    for at in range(len(lines) - 1):
        kept.write_lines(lines[:at] + lines[at + 1 :])
        assert kept.verify().problems[0].seq == at, "deleted"
        kept.write_lines([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])
        assert kept.verify().problems[0].seq == at, "swapped"
        kept.write_lines([*lines[: at + 1], *lines[at:]])
        assert kept.verify().problems[0].seq == at + 1, "repeated"
    kept.write_lines([*lines, lines[-1]])
    assert [note.code for note in kept.verify().notes] == ["torn_tail"]  # beyond the head: nobody was told of it


@pytest.mark.promise("record.tamper-record")
def test_a_bit_flipped_at_three_places_of_every_line_shows(kept: Workspace) -> None:
    lines = kept.lines()
    for number, line in enumerate(lines):
        for at in (0, len(line) // 2, len(line) - 2):
            flipped = bytearray(line)
            flipped[at] ^= 1
            kept.write_lines([*lines[:number], bytes(flipped), *lines[number + 1 :]])
            assert kept.verify().problems[0].seq == number


@pytest.mark.promise("record.tamper-record")
@pytest.mark.parametrize(
    "junk", [b"\n", b"junk\n", b"{}\t\t\n", b"[]\t\t\n", b'{"seq":5}\t\t\n', b"a\tb\n", b"\xff\xfe\n"]
)
def test_a_line_put_in_between_shows(kept: Workspace, junk: bytes) -> None:
    lines = kept.lines()
    kept.write_lines([*lines[:5], junk, *lines[5:]])
    assert kept.verify().problems[0].seq == 5


@pytest.mark.promise("record.cut-tail")
@pytest.mark.parametrize("keep", range(12))
def test_a_cut_tail_shows_and_the_ledger_takes_no_more(kept: Workspace, keep: int) -> None:
    kept.write_lines(kept.lines()[:keep])
    report = kept.verify()
    assert {problem.code for problem in report.problems} >= {"rolled_back"}
    assert report.problems[0].seq == keep
    with pytest.raises(LedgerDamaged) as error:
        kept.open()
    assert error.value.code in {"journal_rolled_back", "head_differs", "tree_differs"}


@pytest.mark.promise("record.cut-tail")
def test_a_tail_cut_inside_a_record_shows_before_and_after_the_ledger_goes_on(kept: Workspace) -> None:
    whole = kept.log.read_bytes()
    kept.log.write_bytes(whole[:-20])
    assert "rolled_back" in kept.codes()
    with kept.opened() as ledger:
        fill(ledger, 1)
        assert ledger.size() == 11 + 2 + 1  # eleven, two reports, one more
    report = kept.verify()
    assert report.problems[0].code == "acknowledged_lost"
    assert "torn_tail" in {note.code for note in report.notes}
    torn = list((kept.journal / "torn").iterdir())
    assert [path.read_bytes() for path in torn] == [whole.splitlines(keepends=True)[-1][:-20]]


@pytest.mark.promise("record.cut-tail")
@pytest.mark.parametrize(
    "also", [(), ("head",), ("checkpoints",), ("head", "checkpoints"), ("head", "checkpoints", "tree")]
)
def test_a_journal_rolled_back_with_what_lies_beside_it_shows_by_its_mirror(
    kept: Workspace, tmp_path: Path, also: tuple[str, ...]
) -> None:
    shutil.copytree(kept.journal, tmp_path / "earlier")
    with kept.opened() as ledger:
        fill(ledger, 10)
    shutil.copy(tmp_path / "earlier" / "000000.log", kept.log)
    for name in also:
        put_back(tmp_path / "earlier" / name, kept.journal / name)
    report = kept.verify()
    assert "rolled_back" in {problem.code for problem in report.problems}
    with pytest.raises(LedgerDamaged):
        kept.open()


def put_back(earlier: Path, now: Path) -> None:
    if earlier.is_dir():
        shutil.rmtree(now)
        shutil.copytree(earlier, now)
    else:
        shutil.copy(earlier, now)


@pytest.mark.promise("record.outside-head")
def test_a_journal_rolled_back_with_its_mirror_shows_against_a_head_kept_elsewhere(
    kept: Workspace, tmp_path: Path
) -> None:
    shutil.copytree(kept.root, tmp_path / "work-then")
    shutil.copytree(kept.state, tmp_path / "state-then")
    with kept.opened() as ledger:
        fill(ledger, 10)
        head = ledger.checkpoint()
        key = ledger.keys.log_signer().verifier
    assert kept.verify([head]).ok
    assert kept.verify([head], key).proved_up_to == 22
    put_back(tmp_path / "work-then", kept.root)
    put_back(tmp_path / "state-then", kept.state)
    assert kept.verify().ok  # what was rolled back as a whole looks whole
    report = kept.verify([head])
    assert [(problem.code, problem.seq) for problem in report.problems] == [("rolled_back", 12)]
    with kept.opened() as ledger:
        fill(ledger, 20, start=100)  # a fork that has grown beyond the old head
    report = kept.verify([head])
    assert [(problem.code, problem.seq) for problem in report.problems] == [("checkpoint_differs", 21)]


def test_a_head_of_another_log_says_nothing_about_this_one(kept: Workspace, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other")
    with other.opened() as ledger:
        fill(ledger, 3)
        head = ledger.checkpoint()
        key = ledger.keys.log_signer().verifier
    assert kept.codes([head]) == ["outside_invalid"]
    assert kept.codes([b"junk"]) == ["outside_invalid"]
    assert [problem.code for problem in kept.verify([], key).problems] == ["log_key_differs"]
    assert "checkpoint_differs" in {problem.code for problem in kept.verify([head], key).problems}


@pytest.mark.promise("record.tamper-view")
def test_a_session_view_removed_or_changed_shows(kept: Workspace) -> None:
    view = kept.audit / "sessions" / "s2" / "tool_receipts.jsonl"
    whole = view.read_bytes()
    lines = whole.splitlines(keepends=True)
    changes: dict[str, Callable[[], None]] = {
        "removed": view.unlink,
        "emptied": lambda: view.write_bytes(b""),
        "edited": lambda: view.write_bytes(whole.replace(b"hello", b"hullo", 1)),
        "cut": lambda: view.write_bytes(b"".join(lines[:-1])),
        "swapped": lambda: view.write_bytes(b"".join([lines[1], lines[0], *lines[2:]])),
        "repeated": lambda: view.write_bytes(whole + lines[-1]),
        "added": lambda: view.write_bytes(whole + b'{"seq":3}\n'),
        "junk added": lambda: view.write_bytes(whole + b"junk\n"),
        "folder removed": lambda: shutil.rmtree(view.parent),
    }
    for what, change in changes.items():
        change()
        report = kept.verify()
        assert {problem.code for problem in report.problems} == {"view_differs"}, what
        assert {problem.session_id for problem in report.problems} == {"s2"}, what
        view.parent.mkdir(exist_ok=True)
        view.write_bytes(whole)
    assert kept.verify().ok


@pytest.mark.promise("record.tamper-view")
def test_a_view_of_a_session_that_never_was_shows(kept: Workspace) -> None:
    made_up = kept.audit / "sessions" / "s3"
    made_up.mkdir()
    (made_up / "tool_receipts.jsonl").write_bytes(b'{"seq":1}\n')
    assert [(problem.code, problem.session_id) for problem in kept.verify().problems] == [("view_differs", "s3")]


@pytest.mark.promise("record.tamper-key")
def test_a_swapped_key_leaves_everything_unverifiable(kept: Workspace) -> None:
    (kept.audit / "secret.key").write_bytes(b"00" * 32 + b"\n")
    report = kept.verify()
    assert report.problems[0].code == "key_unknown"
    assert report.problems[0].seq == 0


@pytest.mark.promise("record.tamper-key")
def test_a_swapped_log_key_shows_at_the_checkpoints(kept: Workspace, tmp_path: Path) -> None:
    other = Workspace(tmp_path / "other")
    other.open().close()
    shutil.copy(other.audit / "log.key", kept.audit / "log.key")
    assert "checkpoint_invalid" in kept.codes()


@pytest.mark.promise("record.tamper-key")
@pytest.mark.parametrize("name", ["secret.key", "log.key"])
def test_a_missing_key_is_not_made_anew_over_a_journal(kept: Workspace, name: str) -> None:
    (kept.audit / name).unlink()
    for action in (kept.verify, kept.open):
        with pytest.raises(ConfigError) as error:
            action()
        assert error.value.code == "key_missing"


@pytest.mark.promise("record.head")
def test_a_head_that_is_gone_spoiled_or_of_another_log_shows(kept: Workspace, tmp_path: Path) -> None:
    head = kept.journal / "head"
    whole = head.read_bytes()
    for spoiled in (b"", bytes(len(whole)), bytes(byte ^ 1 for byte in whole)):
        head.write_bytes(spoiled)
        assert kept.codes() == ["head_missing"]
    head.unlink()
    assert kept.codes() == ["head_missing"]
    with kept.opened() as ledger:
        fill(ledger, 1)
    report = kept.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["head_missing"]


@pytest.mark.promise("record.head")
def test_one_spoiled_slot_leaves_the_head_before_it(kept: Workspace) -> None:
    head = kept.journal / "head"
    whole = head.read_bytes()
    for at in (0, 512):
        spoiled = bytearray(whole)
        spoiled[at + 40] ^= 1
        head.write_bytes(bytes(spoiled))
        report = kept.verify()
        assert report.ok
        with kept.opened() as ledger:
            assert ledger.size() == 12


@pytest.mark.promise("record.mirror-alarm")
@pytest.mark.parametrize("harm", ["deleted", "blanked", "put back"])
def test_a_mirror_that_is_gone_or_old_is_an_alarm_until_a_person_accepts_it(kept: Workspace, harm: str) -> None:
    old = kept.mirror.read_bytes()
    with kept.opened() as ledger:
        fill(ledger, 5)
    if harm == "deleted":
        kept.mirror.unlink()
    else:
        kept.mirror.write_bytes(old if harm == "put back" else bytes(1024))
    code = "mirror_behind" if harm == "put back" else "mirror_missing"
    assert kept.codes() == [code]
    for _ in range(2):
        # Calls write the mirror anew; what happened stays an alarm.
        with kept.opened() as ledger:
            fill(ledger, 3)
        report = kept.verify()
        assert [problem.code for problem in report.problems] == [code]
    [name] = report.losses
    with kept.opened() as ledger:
        ledger.accept_loss(name, session=AUDITOR, reason="moved to another disk")
    report = kept.verify()
    assert report.ok
    assert {note.code for note in report.notes} >= {"loss_accepted"}
    assert "mirror" in report.proved_by


@pytest.mark.promise("record.mirror-alarm")
def test_a_journal_rolled_back_with_its_mirror_deleted_is_an_alarm_after_further_calls(kept: Workspace) -> None:
    before = {path: path.read_bytes() for path in kept.audit.rglob("*") if path.is_file()}
    with kept.opened() as ledger:
        fill(ledger, 5)
    for path in kept.audit.rglob("*"):
        if path.is_file():
            path.unlink()
    for path, data in before.items():
        path.write_bytes(data)
        path.chmod(0o600)
    for path in kept.mirror.parent.iterdir():
        path.unlink()
    with kept.opened() as ledger:
        fill(ledger, 1)
    assert kept.codes() == ["mirror_missing"]


@pytest.mark.promise("record.mirror-alarm")
def test_a_mirror_is_written_anew_only_with_the_record_that_it_was_gone(
    kept: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.mirror.unlink()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("tallystick.storage.journal.writer.Writer.write", fail)
        with pytest.raises(LedgerUnwritable):
            kept.open()
    assert kept.codes() == ["mirror_missing"]
    kept.open().close()
    assert kept.codes() == ["mirror_missing"]


@pytest.mark.promise("record.definitions")
@pytest.mark.parametrize(("kind", "code"), [("policies", "policy"), ("tools", "tool")])
def test_a_policy_or_tool_definition_that_is_changed_or_deleted_shows(kept: Workspace, kind: str, code: str) -> None:
    [path] = (kept.audit / kind).iterdir()
    path.write_bytes(path.read_bytes() + b" ")
    assert kept.codes() == [f"{code}_differs"]
    path.unlink()
    assert kept.codes() == [f"{code}_missing"]


@pytest.mark.promise("record.tamper-checkpoint")
def test_checkpoints_that_are_deleted_or_cut_show_by_the_head(kept: Workspace) -> None:
    with kept.opened() as ledger:
        fill(ledger, 3)
    path = kept.journal / "checkpoints"
    whole = path.read_bytes()
    for left in (b"", whole[: whole.rindex(b"tallystick/")]):
        path.write_bytes(left)
        assert kept.codes() == ["checkpoint_missing"]
    path.unlink()
    assert kept.codes() == ["checkpoint_missing"]


@pytest.mark.promise("record.tamper-checkpoint")
def test_a_checkpoint_that_is_changed_forged_or_out_of_order_shows(kept: Workspace) -> None:
    with kept.opened() as ledger:
        fill(ledger, 3)
    path = kept.journal / "checkpoints"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"\n12\n", b"\n13\n"))
    assert "checkpoint_invalid" in kept.codes()
    forger = NoteSigner("tallystick/forged", bytes(32))
    path.write_bytes(whole + forger.sign("tallystick/forged\n1\nAAAA\n") + b"\n")
    assert "checkpoint_invalid" in kept.codes()
    path.write_bytes(whole + whole)
    assert "checkpoint_out_of_order" in kept.codes()
    path.write_bytes(whole)
    assert kept.verify().ok


@pytest.mark.promise("record.erasure")
def test_a_payload_blanked_without_an_order_shows(kept: Workspace) -> None:
    lines = kept.lines()
    header, inputs, outputs = lines[4].rstrip(b"\n").split(b"\t")
    blanked = b"\t".join((header, b"~".ljust(len(inputs)), b"~".ljust(len(outputs)))) + b"\n"
    kept.write_lines([*lines[:4], blanked, *lines[5:]])
    codes = [(problem.code, problem.seq) for problem in kept.verify().problems]
    assert ("payload_missing", 4) in codes


def test_an_order_to_erase_one_receipt_does_not_cover_another(kept: Workspace) -> None:
    with kept.opened() as ledger:
        receipt = next(receipt for receipt in ledger.read() if receipt.seq == 5)
        ledger.erase(receipt.receipt_id, session=AUDITOR, reason="asked")
    assert kept.verify().ok
    test_a_payload_blanked_without_an_order_shows(kept)


@pytest.mark.promise("record.verify-progress")
def test_an_audit_says_how_far_it_is(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, segment_bytes=4096)
    with workspace.opened() as ledger:
        fill(ledger, 40)
    told: list[tuple[int, int]] = []
    report = verify_workspace(workspace.root, workspace.settings, progress=lambda done, of: told.append((done, of)))
    assert report == workspace.verify()
    assert len(told) > 3
    assert told == sorted(told)
    assert told[-1] == (40, 40)


@pytest.mark.promise("record.verify-streams")
def test_an_audit_looks_at_what_was_there_when_it_began(kept: Workspace) -> None:

    keys = FileKeys(kept.audit, create=False)
    watch = ClockMonitor(SystemClock())
    with kept.opened() as ledger:
        archive = FileArchive(
            kept.audit, kept.mirror, KeyNotary(keys, watch, RecordSigner(keys, watch, bytes, inline=0))
        )
        fill(ledger, 300, session="s2")
        ledger.erase(next(ledger.session("s1")).receipt_id, session=AUDITOR, reason="meanwhile")
        report = verify(archive, keys)
        archive.close()
    assert report.size == 12
    assert report.ok


def test_an_audit_changes_nothing(kept: Workspace) -> None:
    before = {path: path.read_bytes() for path in kept.root.rglob("*") if path.is_file()}
    kept.verify()
    assert {path: path.read_bytes() for path in kept.root.rglob("*") if path.is_file()} == before


def test_where_there_is_no_ledger_an_audit_says_so_and_makes_none(tmp_path: Path) -> None:
    nowhere = Workspace(tmp_path)
    with pytest.raises(ConfigError) as error:
        nowhere.verify()
    assert error.value.code == "ledger_missing"
    assert not nowhere.root.exists()


def test_a_report_can_be_read_by_machines(kept: Workspace) -> None:
    kept.write_lines(kept.lines()[:-1])
    found = kept.verify().as_dict()
    assert orjson.loads(orjson.dumps(found)) == found
    assert found["ok"] is False
    assert found["problems"][0]["code"] == "rolled_back"
    assert found["proved_up_to"] == 0


def test_an_empty_ledger_verifies(workspace: Workspace) -> None:
    workspace.open().close()
    report = workspace.verify()
    assert report.ok
    assert report.size == 0
