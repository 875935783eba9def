"""Processes that are killed while they write: nothing acknowledged is lost."""

import random
import signal
from pathlib import Path

import pytest

from tests.faults.history import check_history
from tests.faults.processes import acked, start, wait_for
from tests.ledgers import Workspace, fill
from tests.sizes import size


@pytest.mark.promise("record.kill", "record.torn-tail", "record.told-early", "record.one-chain")
def test_nothing_acknowledged_is_lost_when_four_processes_are_killed_again_and_again(tmp_path: Path) -> None:
    chance = random.Random(11)
    known: list[str] = []
    told: list[Path] = []
    for round_ in range(size(6, 200)):
        durability = ("os", "fsync")[round_ % 2]
        workspace = Workspace(tmp_path, durability=durability, segment_bytes=200_000, checkpoint_every=50)
        acks = [tmp_path / f"acks-{round_}-{number}" for number in range(4)]
        processes = [
            start(workspace, path, session=f"s{number % 2}", number=100_000, early=number < 2)
            for number, path in enumerate(acks)
        ]
        try:
            wait_for(processes, acks, chance.randrange(1, 200))
        finally:
            for process in chance.sample(processes, 4):
                process.send_signal(signal.SIGKILL)
            for process in processes:
                process.wait()
        told += acks
        known += [receipt_id for path in acks for receipt_id in acked(path)]
        check(workspace, known if round_ % 10 == 9 else known[-400:])
    check(workspace, known)
    with workspace.opened() as ledger:
        assert check_history(ledger, told) == len(known)


def check(workspace: Workspace, known: list[str]) -> None:
    before = workspace.verify()
    assert before.ok, before.problems
    unfinished = {note.code for note in before.notes} & {"torn_tail", "beyond_head"}
    with workspace.opened() as ledger:
        assert all(ledger.find(receipt_id) for receipt_id in known)
        fill(ledger, 1, session="after")
    report = workspace.verify()
    assert report.ok, report.problems
    assert report.size >= len(known)
    if "torn_tail" in unfinished:
        assert "torn_tail" in {note.code for note in report.notes}
        assert list((workspace.journal / "torn").iterdir())


@pytest.mark.promise("record.kill", "record.one-chain")
def test_the_check_of_a_history_sees_a_swap_a_gap_and_what_came_too_late(tmp_path: Path) -> None:
    workspace, acks = Workspace(tmp_path), [tmp_path / "acks-0", tmp_path / "acks-1"]
    for path in acks:
        assert start(workspace, path, session="s", number=8).wait(60) == 0
    first, second = ([line.split() for line in path.read_bytes().splitlines()] for path in acks)
    gone = [b"rcpt_00000000ffffffffffffffff", *first[3][1:]]
    early = [second[0][0], b"1", b"2"]
    with workspace.opened() as ledger:
        assert check_history(ledger, acks) == 16
        for wrong in (
            ([first[1], first[0], *first[2:]], second),
            ([*first[:3], gone, *first[4:]], second),
            (first[:5], second),
            (first, [early, *second[1:]]),
        ):
            for path, lines in zip(acks, wrong, strict=True):
                path.write_bytes(b"".join(b" ".join(line) + b"\n" for line in lines))
            with pytest.raises(AssertionError):
                check_history(ledger, acks)
