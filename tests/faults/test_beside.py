"""What is done to a ledger beside those who write to it: erasing, rebuilding, rotating; nothing looks tampered with."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tallystick.gate.record.ledger import Ledger
from tests.faults.processes import HERE, acked, start, wait_for
from tests.ledgers import AUDITOR, Workspace, draft, fill
from tests.sizes import size

EACH = size(400, 4_000)
ROUNDS = size(6, 40)


def erase(ledger: Ledger, receipt_id: str) -> None:
    ledger.erase(receipt_id, session=AUDITOR, reason="asked")


def rebuild(ledger: Ledger, _receipt_id: str) -> None:
    ledger.rebuild_views()


def rotate(ledger: Ledger, _receipt_id: str) -> None:
    ledger.rotate(session=AUDITOR)


DOINGS = pytest.mark.parametrize("do", [erase, rebuild, rotate])


@pytest.mark.promise("record.erasure", "record.rotation", "record.one-chain")
@DOINGS
def test_two_processes_write_while_a_third_changes_what_they_hold_open(
    tmp_path: Path, do: Callable[[Ledger, str], None]
) -> None:
    workspace = Workspace(tmp_path, segment_bytes=100_000, checkpoint_every=64)
    acks = [tmp_path / "acks-0", tmp_path / "acks-1"]
    started = [start(workspace, path, session="shared", number=EACH) for path in acks]
    for turn in range(1, ROUNDS + 1):
        wait_for(started, acks, turn * 2 * EACH // (ROUNDS + 2))
        with workspace.opened() as ledger:  # as a command does: it opens, does one thing and closes
            do(ledger, max(acked(acks[0]) + acked(acks[1])))
    assert [process.wait(120) for process in started] == [0, 0]
    check(workspace, [receipt_id for path in acks for receipt_id in acked(path)])


@pytest.mark.promise("record.rotation")
def test_processes_that_rotate_and_open_at_once_agree_on_the_keys(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with workspace.opened() as ledger:
        ids = fill(ledger, 3)
        rotating = [python(_ROTATES, workspace, str(size(6, 30))) for _ in range(3)]
        while any(process.poll() is None for process in rotating):
            with workspace.opened() as other:  # whoever opens must not take a rotation under way for one cut off
                ids += fill(other, 1)
            ids += fill(ledger, 1)
        assert [process.wait() for process in rotating] == [0, 0, 0]
        rotations = [one for one in ledger.read() if one.header["kind"] == "key_rotation"]
        assert len(rotations) == 3 * size(6, 30)
        assert ledger.keys.active().key_id == rotations[-1].header["context"]["new_key"]
        assert not [one for one in ledger.read() if one.header["kind"] == "recovery"]
    check(workspace, ids)


@DOINGS
def test_what_another_process_did_between_two_records_is_noticed_by_the_second(
    workspace: Workspace, do: Callable[[Ledger, str], None]
) -> None:
    with workspace.opened() as one, workspace.opened() as other:
        ids = fill(one, 2) + fill(other, 2)
        for turn in range(4):
            do((one, other)[turn % 2], ids[turn])
            ids += fill((one, other)[turn % 2], turn)
            ids += fill((other, one)[turn % 2], 1)
    check(workspace, ids)


def test_a_view_is_not_opened_again_when_nobody_replaced_it(workspace: Workspace) -> None:
    with workspace.opened() as one, workspace.opened() as other:
        fill(one, 2)
        fill(other, 2, session="s2")
        before = one._journal._files.views.opened["s1"]  # type: ignore[attr-defined]
        fill(one, 2)
        assert one._journal._files.views.opened["s1"] == before  # type: ignore[attr-defined]


@pytest.mark.promise("record.erasure")
def test_a_view_that_one_process_could_not_write_is_mended_for_the_other_too(workspace: Workspace) -> None:
    with workspace.opened() as one, workspace.opened() as other:
        ids = fill(one, 2) + fill(other, 2)
        one._journal._files.views.mark("s1")  # type: ignore[attr-defined]
        ids += fill(one, 1)
        ids += fill(other, 1)
        ids.append(one.record_sync(draft(kind="started", outcome=None, outputs=None)).receipt_id)
        ids += fill(other, 1)
    check(workspace, ids)


_ROTATES = """
import sys
from pathlib import Path
import orjson
from tests.ledgers import AUDITOR, Workspace
workspace = Workspace(Path(sys.argv[1]), **orjson.loads(sys.argv[2]))
with workspace.opened() as ledger:
    for _ in range(int(sys.argv[3])):
        ledger.rotate(session=AUDITOR)
"""


def python(code: str, workspace: Workspace, *more: str) -> "subprocess.Popen[bytes]":
    paths = os.pathsep.join((str(HERE / "src"), str(HERE)))
    command = [sys.executable, "-c", code, str(workspace.root.parent), orjson.dumps(workspace.ledger).decode(), *more]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, cwd=HERE)


def check(workspace: Workspace, ids: list[str]) -> None:
    report = workspace.verify()
    assert report.ok, report.problems
    with workspace.opened() as ledger:
        assert set(ids) <= {receipt.receipt_id for receipt in ledger.read()}
        assert set(ids) <= {one.receipt_id for session in ledger.sessions() for one in ledger.session(session)}
