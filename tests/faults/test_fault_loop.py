"""The n-th write, fsync, open, rename … fails, once and for ever, for n = 1 until none is hit."""

import errno
from pathlib import Path

import orjson
import pytest

from tallystick.errors import TallyError
from tallystick.gate.record.record_verifier import MIRROR_ALARMS
from tests.faults.injected import CALLS, injected
from tests.ledgers import AUDITOR, Workspace, draft
from tests.sizes import size


def work(workspace: Workspace, refused: set[int] | None = None) -> list[str]:
    """Open, record, roll over, put a blob, erase, rotate, close: what was acknowledged, whatever fails on the way."""
    told: list[str] = []
    refused = set() if refused is None else refused
    try:
        ledger = workspace.open()
    except (TallyError, OSError):
        return told
    try:
        for number in range(14):
            large = number == 4
            made = draft(number, session=f"s{number % 3}", outputs=orjson.dumps("x" * (70_000 if large else 20)))
            try:
                told.append(ledger.record_sync(made).receipt_id)
            except TallyError as error:
                # After a failed fsync nobody knows what the disk took.
                if error.code != "ledger_fsync_failed":
                    refused.add(number)
                continue
            if number in {8, 11}:
                attempt(ledger, number, told)
    finally:
        ledger.close()
    return told


def attempt(ledger, number: int, told: list[str]) -> None:
    try:
        if number == 8:
            ledger.erase(told[0], session=AUDITOR, reason="asked")
        else:
            ledger.rotate(session=AUDITOR)
    except (TallyError, OSError):
        pass


@pytest.mark.promise("record.fault-loop")
@pytest.mark.parametrize("durability", ["os", "fsync"])
@pytest.mark.parametrize("how_often", ["once", "for ever"])
@pytest.mark.parametrize("name", CALLS)
def test_whatever_fails_the_log_verifies_afterwards_and_nothing_acknowledged_is_lost(
    tmp_path: Path, name: str, how_often: str, durability: str
) -> None:
    if name == "fdatasync" and durability == "os":
        return  # nothing waits for the disk
    nth = 1
    while True:
        workspace = Workspace(tmp_path / str(nth), durability=durability, segment_bytes=4096, checkpoint_every=5)
        refused: set[int] = set()
        with injected(name, nth=nth, for_ever=how_often == "for ever") as fault:
            told = work(workspace, refused)
        check(workspace, told, refused, f"{name} {nth}")
        if not fault.hit:
            assert len(told) == 14
            break
        nth += size(1 if nth < 12 else 4, 1)


def check(workspace: Workspace, told: list[str], refused: set[int], where: str) -> None:
    with workspace.opened() as ledger:
        lost = [receipt_id for receipt_id in told if ledger.find(receipt_id) is None]
        assert not lost, where
        stored = {receipt.inputs["n"] for receipt in ledger.read() if receipt.inputs is not None}
        assert not stored & refused, where
        ledger.record_sync(draft(99, session="after"))
    # If the mirror itself failed, that is an alarm, and nothing else is.
    report = workspace.verify()
    assert {problem.code for problem in report.problems} <= MIRROR_ALARMS, (where, report.problems)
    with workspace.opened() as ledger:
        for name in report.losses:
            ledger.accept_loss(name, session=AUDITOR, reason="the fault was injected")
    report = workspace.verify()
    assert report.ok, (where, report.problems)
    with workspace.opened() as ledger:
        ledger.record_sync(draft(100, session="after"))
    assert workspace.verify().ok, where


@pytest.mark.promise("record.full-disk")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_a_disk_that_is_full_half_way_through_any_write_leaves_nothing_half_written(
    tmp_path: Path, durability: str
) -> None:
    nth = 1
    while True:
        workspace = Workspace(tmp_path / str(nth), durability=durability, segment_bytes=4096, checkpoint_every=5)
        refused: set[int] = set()
        with injected("write", nth=nth, code=errno.ENOSPC, short=True) as fault:
            told = work(workspace, refused)
        check(workspace, told, refused, f"write {nth}")
        if not fault.hit:
            break
        nth += size(3, 1)
