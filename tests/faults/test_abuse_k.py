"""Group K of the abuse list, by its ids: what each case asks is shown in full elsewhere; here it is once, end to end."""

import signal
from pathlib import Path

import pytest

from tallystick.errors import LedgerDamaged, LedgerUnwritable
from tests.faults.injected import injected
from tests.faults.processes import acked, start, wait_for
from tests.gate.record.test_record_signer import StillClock
from tests.ledgers import AUDITOR, Workspace, draft, fill
from tests.sizes import size


@pytest.mark.promise("record.torn-tail", "record.kill")
def test_K01_killed_while_appending_then_cut_anywhere_in_the_last_record(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    acks = tmp_path / "acks"
    process = start(workspace, acks, session="s", number=100_000)
    wait_for([process], [acks], 20)
    process.send_signal(signal.SIGKILL)
    process.wait()
    told = acked(acks)
    with workspace.opened() as ledger:
        assert all(ledger.find(receipt_id) for receipt_id in told)
        number = ledger.size()
    with workspace.log.open("ab") as file:
        file.write(workspace.lines()[-1][: size(300, 900)])
    with workspace.opened() as ledger:
        fill(ledger, 1)
        assert all(ledger.find(receipt_id) for receipt_id in told)
        assert ledger.size() == number + 2
    report = workspace.verify()
    assert report.ok
    assert "torn_tail" in {note.code for note in report.notes}
    assert len(workspace.lines()) == number + 2


@pytest.mark.promise("record.tamper-record")
def test_K02_a_line_deleted_swapped_repeated_or_with_a_bit_flipped(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 6)
    lines = workspace.lines()
    for at in range(5):
        for changed in (
            [*lines[:at], *lines[at + 1 :]],
            [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
            [*lines[:at], bytes([lines[at][0] ^ 1]) + lines[at][1:], *lines[at + 1 :]],
        ):
            workspace.write_lines(changed)
            assert workspace.verify().problems[0].seq == at
        workspace.write_lines([*lines[: at + 1], *lines[at:]])
        assert workspace.verify().problems[0].seq == at + 1


@pytest.mark.promise("record.cut-tail", "record.outside-head")
def test_K03_the_last_ten_lines_removed_with_a_valid_file_left(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 30)
        outside = ledger.checkpoint()
    workspace.write_lines(workspace.lines()[:-10])
    assert workspace.verify([outside]).problems[0].code == "rolled_back"
    with pytest.raises(LedgerDamaged):
        workspace.open()


@pytest.mark.promise("record.fsync-failed")
def test_K05_fsync_returns_an_error(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    with workspace.opened() as ledger:
        fill(ledger, 1)
        with injected("fdatasync", nth=1), pytest.raises(LedgerUnwritable):
            fill(ledger, 1)
        for _ in range(3):
            with pytest.raises(LedgerUnwritable) as error:
                fill(ledger, 1)
            assert error.value.code == "ledger_fsync_failed"


@pytest.mark.promise("record.clock-jump")
def test_K06_the_clock_set_back_an_hour_and_forward(workspace: Workspace) -> None:
    clock = StillClock()
    with workspace.opened(clock=clock) as ledger:
        fill(ledger, 1)
        clock.go(1, wall=-3600)
        fill(ledger, 1)
        clock.go(1, wall=7200)
        fill(ledger, 1)
        headers = [receipt.header for receipt in ledger.read()]
    assert [header["seq"] for header in headers] == [0, 1, 2]
    assert [header.get("clock_jump") for header in headers] == [None, "back", "forward"]


@pytest.mark.promise("record.rotation")
def test_K07_the_signing_key_rotated(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        old = fill(ledger, 2)
        key = ledger.keys.active()
        ledger.rotate(session=AUDITOR)
        assert ledger.find(old[0]) is not None
        fill(ledger, 1)
    assert workspace.verify().ok
    with workspace.opened() as ledger:
        ledger._keys.active = lambda: key  # type: ignore[method-assign]
        fill(ledger, 1)
    assert workspace.verify().problems[0].code == "key_retired"


@pytest.mark.promise("record.one-chain")
def test_K08_processes_that_append_at_the_same_time(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, checkpoint_every=100)
    number = size(50, 5_000)
    acks = [tmp_path / f"acks-{at}" for at in range(8)]
    started = [start(workspace, path, session="one", number=number) for path in acks]
    assert [process.wait(600) for process in started] == [0] * 8
    report = workspace.verify()
    assert report.ok
    assert report.size == len(workspace.lines()) == 8 * number


@pytest.mark.promise("record.replaced")
@pytest.mark.parametrize("change", ["symlink", "read-only", "deleted"])
def test_K09_the_log_replaced_made_read_only_or_deleted_while_running(workspace: Workspace, change: str) -> None:
    ledger = workspace.open()
    fill(ledger, 2)
    if change == "symlink":
        workspace.log.rename(workspace.root / "moved")
        workspace.log.symlink_to(workspace.root / "moved")
    elif change == "deleted":
        workspace.log.unlink()
    else:
        workspace.log.chmod(0o444)
    wanted = {"symlink": "journal_replaced", "read-only": "ledger_read_only", "deleted": "journal_missing"}[change]
    for action in (ledger.ready, lambda: ledger.record_sync(draft())):
        with pytest.raises((LedgerDamaged, LedgerUnwritable)) as error:
            action()
        assert error.value.code == wanted
    ledger.close()
