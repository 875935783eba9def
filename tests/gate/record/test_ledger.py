import asyncio
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import orjson
import pytest

from tallystick import tool
from tallystick.errors import LedgerError
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.proof import Proof, proof_fault
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.session import Session
from tallystick.storage.journal import journal_tail
from tests.gate.record.test_record_signer import StillClock
from tests.gates import open_gate
from tests.ledgers import AUDITOR, Workspace, draft, fill


@pytest.mark.promise("record.find")
def test_a_receipt_is_found_again_with_its_payload(either: Workspace) -> None:
    with either.opened() as ledger:
        made = ledger.record_sync(draft(3))
        found = ledger.find(made.receipt_id)
        assert found is not None
        assert found.inputs == {"path": "Story/one.md", "n": 3}
        assert found.outputs == {"words": 3, "text": "hello world"}
        assert found.flat() == made.flat()
        assert orjson.loads(found.flat_bytes()) == orjson.loads(made.flat_bytes())
        assert found.header["caller"] == {"channel": "python", "roles": ["owner"], "subject": "local"}
    with either.opened() as ledger:
        assert ledger.find(made.receipt_id) == found


def test_the_async_way_gives_the_same(either: Workspace) -> None:
    async def main() -> list[str]:
        receipts = await asyncio.gather(*(ledger.record(draft(number, session=f"s{number}")) for number in range(20)))
        return [receipt.receipt_id for receipt in receipts]

    with either.opened() as ledger:
        ids = asyncio.run(main())
        assert len(set(ids)) == 20
        assert all(ledger.find(receipt_id) for receipt_id in ids)
    assert either.verify().ok


def test_what_was_never_recorded_is_not_found(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        made = ledger.record_sync(draft())
        assert ledger.find("rcpt_000000000000000000000000") is None
        assert ledger.find("rcpt_000000000009" + made.receipt_id[-12:]) is None
        assert ledger.find("nonsense") is None
        assert ledger.find("") is None


@pytest.mark.promise("record.find")
def test_a_receipt_that_does_not_verify_is_not_found(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 3)
        data = workspace.log.read_bytes()
        workspace.log.write_bytes(data.replace(b'"words":1', b'"words":7'))
        assert ledger.find(ids[1]) is None
        assert ledger.find(ids[0]) is not None


def test_records_are_read_in_order_from_any_place(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 10)
        assert [receipt.receipt_id for receipt in ledger.read()] == ids
        assert [receipt.seq for receipt in ledger.read(7)] == [7, 8, 9]
        assert list(ledger.read(10)) == []
        assert ledger.size() == 10


@pytest.mark.promise("record.session-view")
def test_a_session_has_its_receipts_in_the_form_of_the_seed(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 3, session="s1")
        ids = fill(ledger, 3, session="s2")
        ledger.record_sync(draft(9, session="s1"))
        assert [receipt.receipt_id for receipt in ledger.session("s2")] == ids
        assert [receipt.receipt_id for receipt in ledger.session("s2", start=1, limit=1)] == ids[1:2]
        assert ledger.sessions() == ["s1", "s2"]
        assert list(ledger.session("s3")) == []
        view = either.view("s2").read_bytes().splitlines()
        assert [orjson.loads(line)["receipt_id"] for line in view] == ids
        assert orjson.loads(view[0]) == next(iter(ledger.session("s2"))).flat()


@pytest.mark.promise("record.proofs")
def test_a_third_party_checks_a_proof_without_the_secret(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 300)
        verifier = ledger.keys.log_signer().verifier
        for receipt_id in (ids[0], ids[150], ids[299]):
            proof = ledger.prove(receipt_id)
            assert proof is not None
            again = Proof.from_dict(orjson.loads(orjson.dumps(proof.as_dict())))
            assert again == proof
            assert proof_fault(again, verifier) is None
            assert orjson.loads(again.header)["receipt_id"] == receipt_id
        assert ledger.prove("rcpt_000000000999000000000000") is None
        assert proof_fault(Proof(seq=1, header=proof.header, path=proof.path, checkpoint=proof.checkpoint), verifier)
        assert proof_fault(Proof(seq=299, header=b"{}", path=proof.path, checkpoint=proof.checkpoint), verifier)
        assert proof_fault(Proof(seq=299, header=proof.header, path=proof.path, checkpoint=b"x"), verifier)
        other = Workspace(workspace.root.parent / "other")
        with other.opened() as stranger:
            assert proof_fault(proof, stranger.keys.log_signer().verifier)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"seq": "1", "header": "", "path": [], "checkpoint": ""},
        {"seq": 1, "header": 1, "path": [], "checkpoint": ""},
        {"seq": 1, "header": "", "path": ["*"], "checkpoint": ""},
    ],
)
def test_what_is_no_proof_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Proof.from_dict(broken)


@pytest.mark.promise("record.erasure")
@pytest.mark.parametrize("times", [1, 6000])
def test_an_erased_payload_is_gone_everywhere_and_every_proof_still_holds(workspace: Workspace, times: int) -> None:
    secret = "the secret word " * times
    with workspace.opened() as ledger:
        fill(ledger, 3)
        made = ledger.record_sync(draft(outputs=orjson.dumps({"text": secret}), inputs=orjson.dumps([secret])))
        fill(ledger, 3)
        before = ledger.prove(made.receipt_id)
        said = ledger.erase(made.receipt_id, session=AUDITOR, reason="asked for by the person")
        assert said.header["links"] == {"erased": made.receipt_id}
        found = ledger.find(made.receipt_id)
        assert found is not None
        assert found.erased
        assert found.inputs is None
        assert found.flat()["erased"] is True
        after = ledger.prove(made.receipt_id)
        assert before is not None
        assert after is not None
        assert before.header == after.header
        assert proof_fault(after, ledger.keys.log_signer().verifier) is None
        fill(ledger, 1)
    assert not [path for path in workspace.root.rglob("*") if path.is_file() and b"secret word" in path.read_bytes()]
    report = workspace.verify()
    assert report.ok
    assert [(note.code, note.receipt_id) for note in report.notes] == [("payload_erased", made.receipt_id)]


def test_erasing_twice_changes_nothing_and_what_is_unknown_is_refused(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 2)
        ledger.erase(ids[0], session=AUDITOR, reason="a")
        ledger.erase(ids[0], session=AUDITOR, reason="b")
        with pytest.raises(LedgerError) as error:
            ledger.erase("rcpt_000000000000000000000000", session=AUDITOR, reason="c")
        assert error.value.code == "receipt_unknown"
    assert workspace.verify().ok


def test_an_erasure_that_was_cut_off_is_reported_and_can_be_done_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 2)
        monkeypatch.setattr(ledger._journal, "erase", lambda seq: None)
        ledger.erase(ids[0], session=AUDITOR, reason="a")
        monkeypatch.undo()
        report = workspace.verify()
        assert report.ok
        assert [note.code for note in report.notes] == ["erasure_unfinished"]
        ledger.erase(ids[0], session=AUDITOR, reason="again")
    assert [note.code for note in workspace.verify().notes] == ["payload_erased"]


@pytest.mark.promise("record.clock-jump")
def test_order_is_the_sequence_and_a_clock_that_jumps_is_flagged(workspace: Workspace) -> None:
    clock = StillClock()
    with workspace.opened(clock=clock) as ledger:
        fill(ledger, 2)
        clock.go(1, wall=-3600)
        back = ledger.record_sync(draft())
        clock.go(1, wall=7200)
        forward = ledger.record_sync(draft())
        clock.go(1)
        plain = ledger.record_sync(draft())
        assert [receipt.header["seq"] for receipt in (back, forward, plain)] == [2, 3, 4]
        assert [receipt.header.get("clock_jump") for receipt in (back, forward, plain)] == ["back", "forward", None]
    report = workspace.verify()
    assert report.ok
    assert [(note.code, note.seq) for note in report.notes] == [("clock_jump", 2), ("clock_jump", 3)]


def test_a_clock_set_back_between_two_runs_is_flagged(workspace: Workspace) -> None:
    clock = StillClock()
    with workspace.opened(clock=clock) as ledger:
        fill(ledger, 2)
    earlier = StillClock()
    earlier.go(0, wall=-60)
    with workspace.opened(clock=earlier) as ledger:
        assert ledger.record_sync(draft()).header["clock_jump"] == "back"


@pytest.mark.promise("record.replayable")
def test_with_the_same_clock_chance_and_drafts_the_log_is_the_same_to_the_byte(workspace: Workspace) -> None:
    def chance() -> Callable[[int], bytes]:
        state = [b"seed"]

        def draw(length: int) -> bytes:
            state[0] = sha256(state[0]).digest()
            return (state[0] * (length // 32 + 1))[:length]

        return draw

    other = Workspace(workspace.root.parent / "other")
    for place in (workspace, other):
        with place.opened(clock=StillClock(), random=chance()) as ledger:
            fill(ledger, 5)
    assert workspace.log.read_bytes() == other.log.read_bytes()


def test_a_closed_ledger_takes_and_gives_nothing(either: Workspace) -> None:
    ledger = either.open()
    ledger.close()
    for action in (lambda: ledger.record_sync(draft()), ledger.size, ledger.ready):
        with pytest.raises(LedgerError) as error:
            action()
        assert error.value.code == "ledger_closed"


def test_a_ledger_says_whether_it_is_ready(either: Workspace) -> None:
    with either.opened() as ledger:
        ledger.ready()
        assert ledger.obstacle() is None


def test_a_draft_that_cannot_be_sealed_leaves_nothing_and_harms_nobody(either: Workspace) -> None:
    async def main() -> list[object]:
        drafts = [draft(number) for number in range(10)]
        drafts[4] = draft(context={"n": 2**60})
        return await asyncio.gather(*map(ledger.record, drafts), return_exceptions=True)

    with either.opened() as ledger:
        done = asyncio.run(main())
        assert [isinstance(item, Exception) for item in done] == [at == 4 for at in range(10)]
        assert ledger.size() == 9
    assert either.verify().ok


@pytest.mark.promise("record.unfinished")
def test_a_call_that_was_begun_and_ended_is_not_unfinished(either: Workspace) -> None:
    with either.opened() as ledger:
        begun = ledger.record_sync(draft(kind="started", inputs=None, outputs=None))
        ledger.record_sync(draft(links={"started": begun.receipt_id}))
    with either.opened() as ledger:
        assert ledger.unfinished() == []
        assert ledger.recover() == []
        assert not list((either.journal / "live").iterdir())


@pytest.mark.promise("record.unfinished")
def test_a_call_of_a_process_that_went_away_becomes_unknown_once(either: Workspace) -> None:
    where = Session(session_id="s9", agent_id="critic", run_id="run_1")
    with either.opened() as ledger:
        begun = ledger.record_sync(draft(kind="started", session=where))
        fill(ledger, 3)
    with either.opened() as first, either.opened() as second:
        assert [receipt.receipt_id for receipt in first.unfinished()] == [begun.receipt_id]
        told = first.recover()
        assert second.recover() == []
        assert [receipt.header["outcome"]["status"] for receipt in told] == ["unknown"]
        assert told[0].header["links"] == {"started": begun.receipt_id}
        assert told[0].header["session_id"] == "s9"
        assert told[0].header["run_id"] == "run_1"
        assert told[0].header["tool_id"] == "word_count"
    assert either.verify().ok


@pytest.mark.promise("record.unfinished")
def test_a_call_of_a_process_that_lives_is_left_alone(either: Workspace) -> None:
    with either.opened() as busy, either.opened() as other:
        begun = busy.record_sync(draft(kind="started"))
        assert other.unfinished() == []
        assert other.recover() == []
        busy.record_sync(draft(links={"started": begun.receipt_id}))
    assert not list((either.journal / "live").iterdir())


def test_views_can_be_written_anew(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3, session="s1")
        fill(ledger, 3, session="s2")
        views = {path: path.read_bytes() for path in (workspace.audit / "sessions").rglob("*.jsonl")}
        for path in views:
            path.write_bytes(b"spoiled\n")
        assert "view_differs" in workspace.codes()
        assert ledger.rebuild_views() == 2
        assert {path: path.read_bytes() for path in views} == views
        fill(ledger, 1, session="s1")
    assert workspace.verify().ok


def _followed(ledger: Ledger, start: int) -> list[Receipt]:
    """What somebody reads who wants all of it."""
    found = list(ledger.follow(start, lambda _: True))
    receipts = [receipt for _, receipt in found if receipt is not None]
    assert [seq for seq, _ in found] == [receipt.seq for receipt in receipts]
    return receipts


@pytest.mark.promise("record.erasure")
def test_what_another_process_erased_is_not_read_from_memory(either: Workspace) -> None:
    with either.opened() as ledger, either.opened() as other:
        ids = fill(ledger, 3)
        assert not any(receipt.erased for receipt in _followed(ledger, 0))
        other.erase(ids[1], session=AUDITOR, reason="asked")
        assert [receipt.erased for receipt in _followed(ledger, 0)] == [False, True, False, False]
        fill(ledger, 1)
        assert [receipt.erased for receipt in _followed(ledger, 1)] == [True, False, False, False]
        ledger.erase(ids[2], session=AUDITOR, reason="asked")
        assert [receipt.erased for receipt in _followed(ledger, 2)] == [True, False, False, False]


@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_who_follows_sees_what_others_write_into_this_file_and_the_next(tmp_path: Path, durability: str) -> None:
    workspace = Workspace(tmp_path, segment_bytes=4096, durability=durability)
    with workspace.opened() as ledger, workspace.opened() as other:
        seen = 0
        for _ in range(12):
            fill(other, 2)
            assert len(_followed(ledger, seen)) == 2
            seen += 2
            assert not _followed(ledger, seen)
        assert len(list(workspace.audit.glob("journal/*.log"))) > 1
        assert len(_followed(ledger, 0)) == seen


def test_what_is_large_is_read_from_the_log_and_not_held(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 2)
        ledger.record_sync(replace(draft(), inputs=orjson.dumps({"text": "x" * 2 * journal_tail.HANDY})))
        assert ledger._journal.just_written(2) is None
        fill(ledger, 1)
        assert ledger._journal.just_written(3) is not None
        assert [receipt.inputs for receipt in _followed(ledger, 0)] == [receipt.inputs for receipt in ledger.read()]


def test_who_follows_is_spared_what_is_not_asked_for_but_never_its_place_nor_the_first(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 4)
        found = dict(ledger.follow(0, lambda header: ids[2].encode() in header))
        assert [seq for seq, receipt in found.items() if receipt is not None] == [0, 2]
        assert sorted(found) == [0, 1, 2, 3]


def test_of_plain_calls_who_follows_is_told_what_the_header_says_of_the_call(tmp_path: Path) -> None:
    @tool(effect="write", inline=True)
    def shout(text: str) -> str:
        """Say it loudly."""
        return text.upper()

    session = Session(session_id="s1", agent_id="chief")
    with open_gate(tmp_path, shout) as gate:
        for number in range(4):
            gate.call_sync("shout", {"text": f"n{number}"}, session=session)
        told, read = _followed(gate.ledger, 0), list(gate.ledger.read())
        assert [receipt.inputs for receipt in told] == [receipt.inputs for receipt in read]
        for some, whole in zip(told, read, strict=True):
            assert some.header.items() <= whole.header.items()
            left = {"prev", "signature", "inputs_digest", "outputs_digest", "duration_us", "full_size", "links"}
            assert whole.header.keys() - some.header.keys() <= left | {"key_id", "signature_alg"}
        assert any("signature" not in receipt.header for receipt in told)


def test_who_follows_reads_what_stands_in_the_log_and_who_looks_reads_the_log_itself(
    either: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_tail, "RECENT", 64)
    with either.opened() as ledger:
        fill(ledger, 100)
        for start in (0, 10, 35, 36, 99, 100, 200):
            followed = [(receipt.header, receipt.inputs) for receipt in _followed(ledger, start)]
            assert followed == [(receipt.header, receipt.inputs) for receipt in ledger.read(start)]
            assert len(followed) == max(0, 100 - start)
        lines = either.lines()
        lines[-1] = lines[-1].replace(b"hello world", b"hello wurld")
        either.log.write_bytes(b"".join(lines))
        with pytest.raises(LedgerError):
            list(ledger.read(99))
