"""A disk that is full, read-only or failing; a log that is replaced or deleted while it is in use."""

import asyncio
import errno
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from tallystick.errors import LedgerDamaged, LedgerError, LedgerUnwritable
from tests.faults.injected import injected
from tests.ledgers import AUDITOR, Workspace, draft, fill


@contextmanager
def full_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond this: what the kernel then does is what it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.promise("record.full-disk")
def test_on_a_full_disk_a_call_fails_and_the_next_works_once_there_is_room(either: Workspace) -> None:
    with either.opened() as ledger:
        ids = fill(ledger, 3)
        before = either.stored()
        with full_disk(len(before) + 500):
            for _ in range(3):
                with pytest.raises(LedgerUnwritable) as error:
                    ledger.record_sync(draft(outputs=orjson.dumps("x" * 2000)))
                assert error.value.code == "ledger_unwritable"
                assert either.stored() == before
        ids += fill(ledger, 2, start=5)
        assert all(ledger.find(receipt_id) for receipt_id in ids)
        assert ledger.size() == 5
    report = either.verify()
    assert report.ok
    assert not report.notes


@pytest.mark.promise("record.full-disk")
def test_a_blob_that_does_not_fit_fails_the_call_and_leaves_nothing(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 1)
        with full_disk(100_000), pytest.raises(LedgerUnwritable):
            ledger.record_sync(draft(outputs=orjson.dumps("x" * 200_000)))
        assert not [path for path in (either.audit / "blobs").rglob("*") if path.is_file()]
        fill(ledger, 1)
    assert either.verify().ok


@pytest.mark.promise("record.full-disk")
def test_of_many_callers_on_a_full_disk_each_is_told(either: Workspace) -> None:
    async def main() -> list[object]:
        return await asyncio.gather(
            *(ledger.record(draft(n, session=f"s{n}")) for n in range(20)), return_exceptions=True
        )

    with either.opened() as ledger:
        fill(ledger, 1)
        with full_disk(len(either.stored()) + 10):
            assert {type(error) for error in asyncio.run(main())} == {LedgerUnwritable}
        assert not any(isinstance(item, Exception) for item in asyncio.run(main()))
        assert ledger.size() == 21
    assert either.verify().ok


def test_a_half_written_record_that_cannot_be_taken_back_is_set_aside_by_the_next_call(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 2)
        with (
            injected("ftruncate", nth=1),
            injected("pwrite", nth=1, code=errno.ENOSPC, short=True),
            pytest.raises(LedgerUnwritable),
        ):
            fill(ledger, 1)
        fill(ledger, 2)
        assert ledger.size() == 5
    report = either.verify()
    assert report.ok
    assert [(note.code, note.seq) for note in report.notes] == [("torn_tail", 2)]


@pytest.mark.promise("record.fsync-failed")
def test_after_a_failed_fsync_nothing_is_acknowledged_any_more(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, durability="fsync")
    with workspace.opened() as ledger, workspace.opened() as other:
        ids = fill(ledger, 2)
        fill(other, 1)
        with injected("fdatasync", nth=1):
            with pytest.raises(LedgerUnwritable) as error:
                fill(ledger, 1)
            assert error.value.code == "ledger_fsync_failed"
        for opened in (ledger, other):
            with pytest.raises(LedgerUnwritable) as error:
                fill(opened, 1)
            assert error.value.code == "ledger_fsync_failed"
            assert opened.obstacle() == "ledger_fsync_failed"
            with pytest.raises(LedgerUnwritable):
                opened.ready()
    with workspace.opened() as ledger:
        assert all(ledger.find(receipt_id) for receipt_id in ids)
        fill(ledger, 2)
    report = workspace.verify()
    assert report.ok
    assert "fsync_failed" in {note.code for note in report.notes}


@pytest.mark.promise("record.replaced")
@pytest.mark.parametrize("change", ["deleted", "symlink", "copy", "folder deleted", "cut", "emptied"])
def test_a_log_that_is_not_what_it_was_stops_the_ledger(either: Workspace, change: str) -> None:
    ledger = either.open()
    fill(ledger, 3)
    log = either.log
    elsewhere = either.root / "elsewhere.log"
    if change == "deleted":
        log.unlink()
    elif change == "symlink":
        log.rename(elsewhere)
        log.symlink_to(elsewhere)
    elif change == "copy":
        elsewhere.write_bytes(log.read_bytes())
        elsewhere.replace(log)
    elif change == "folder deleted":
        shutil.rmtree(either.journal)
    else:
        os.truncate(log, 0 if change == "emptied" else len(either.stored()) - 10)
    cut = dict.fromkeys(("cut", "emptied"), "journal_truncated")
    gone = dict.fromkeys(("deleted", "folder deleted"), "journal_missing")
    wanted = {**cut, **gone}.get(change, "journal_replaced")
    for _ in range(2):
        with pytest.raises(LedgerDamaged) as error:
            fill(ledger, 1)
        assert error.value.code == wanted
    assert ledger.obstacle() == wanted
    with pytest.raises(LedgerDamaged):
        ledger.ready()
    ledger.close()


@pytest.mark.promise("record.replaced")
def test_a_journal_whose_folder_was_moved_away_stops_soon(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, checkpoint_every=10)
    ledger = workspace.open()
    fill(ledger, 5)
    workspace.journal.rename(workspace.root / "moved")
    with pytest.raises(LedgerDamaged) as error:
        fill(ledger, 20)
    assert error.value.code == ledger.obstacle() == "journal_replaced"
    ledger.close()


@pytest.mark.promise("record.replaced")
def test_a_log_made_read_only_refuses_and_works_again_when_it_is_not(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 2)
        either.log.chmod(0o400)
        with pytest.raises(LedgerUnwritable) as error:
            fill(ledger, 1)
        assert error.value.code == "ledger_read_only"
        assert ledger.obstacle() == "ledger_read_only"
        either.log.chmod(0o600)
        fill(ledger, 1)
    assert either.verify().ok


def test_a_glance_before_a_call_sees_what_the_call_would_see(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 1)
        ledger.ready()
        fill(ledger, 1)
        workspace.log.chmod(0o400)
        with pytest.raises(LedgerError):
            ledger.ready()
        workspace.log.chmod(0o600)
        ledger.ready()
        with workspace.log.open("ab") as file:
            file.write(b"torn")
        fill(ledger, 1)  # the check_writable was a moment ago, yet the file has grown
    report = workspace.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["torn_tail"]


@pytest.mark.promise("record.mirror")
def test_a_mirror_that_cannot_be_written_is_reported_once_and_holds_nobody_up(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 2)
        mirror = ledger._journal._files.mirror
        os.close(mirror.fd)
        mirror.fd = os.open(os.devnull, os.O_RDONLY)
        fill(ledger, 5)
    report = either.verify()
    assert [note.code for note in report.notes] == ["mirror_unwritable"]
    assert [problem.code for problem in report.problems] == ["mirror_behind"]
    assert report.size == 8
    assert {warrant.by: warrant.size for warrant in report.warrants}["mirror"] == 2
    with either.opened() as ledger:
        ledger.accept_loss(report.losses[0], session=AUDITOR, reason="the disk was full")
        fill(ledger, 1)
    report = either.verify()
    assert report.ok
    assert report.proved_up_to == report.size == 11


@pytest.mark.promise("record.mirror")
def test_a_mirror_that_cannot_be_made_is_reported_in_the_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    workspace = Workspace(tmp_path, mirror=str(tmp_path / "file" / "x.head"))
    with workspace.opened() as ledger:
        fill(ledger, 1)
    with workspace.opened() as ledger:
        assert next(ledger.read()).header["kind"] == "recovery"


def test_a_mirror_can_be_switched_off(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, mirror="off")
    with workspace.opened() as ledger:
        fill(ledger, 1)
    report = workspace.verify()
    assert report.ok
    assert not workspace.state.exists()
    assert "mirror" not in report.proved_by


@pytest.mark.promise("record.mirror")
def test_a_ledger_begun_anew_with_its_keys_still_shows(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
    shutil.rmtree(workspace.audit)
    with workspace.opened() as ledger:
        fill(ledger, 1)
    report = workspace.verify()
    [kept] = [path for path in (workspace.state / "heads").iterdir() if path.suffix == ".earlier"]
    assert [(problem.code, problem.loss) for problem in report.problems] == [("earlier_log", kept.name)]
    with workspace.opened() as ledger:
        fill(ledger, 10)  # more than there were: what is lost stays lost
    assert workspace.codes() == ["earlier_log"]


@pytest.mark.promise("record.mirror")
def test_a_lost_log_is_no_problem_any_more_once_its_owner_accepts_it(workspace: Workspace) -> None:
    for _ in range(2):
        with workspace.opened() as ledger:
            fill(ledger, 3)
        shutil.rmtree(workspace.audit)
    with workspace.opened() as ledger:
        fill(ledger, 1)
        # The first of the two is known to the mirror alone: the log that said so is lost as well.
        first, second = workspace.verify().losses
        ledger.accept_loss(second, session=AUDITOR, reason="begun anew on purpose")
        assert workspace.verify().losses == (first,)
        ledger.accept_loss(first, session=AUDITOR, reason="likewise")
    report = workspace.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["loss_accepted", "loss_accepted"]
    shutil.rmtree(workspace.audit)
    workspace.open().close()
    assert len(workspace.verify().losses) == 3, "what was accepted is lost with the log that said so"


@pytest.mark.promise("record.mirror")
def test_an_earlier_log_that_held_nothing_is_no_loss(workspace: Workspace) -> None:
    workspace.open().close()
    shutil.rmtree(workspace.audit)
    workspace.open().close()
    report = workspace.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["earlier_log"]


@pytest.mark.promise("record.cut-tail")
def test_a_record_that_was_torn_after_it_was_confirmed_can_be_accepted_as_lost(
    workspace: Workspace, tmp_path: Path
) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
        torn = workspace.copy(tmp_path / "torn")  # as a crash leaves it: no checkpoint covers the last record
    torn.log.write_bytes(torn.log.read_bytes()[:-20])
    with torn.opened() as ledger:
        [lost] = torn.verify().losses
        ledger.accept_loss(lost, session=AUDITOR, reason="the disk was pulled out")
        assert torn.codes() == ["view_differs"]  # the view still shows what is lost
        ledger.rebuild_views()
    report = torn.verify()
    assert report.ok
    assert {note.code for note in report.notes} == {"torn_tail", "loss_accepted"}


@pytest.mark.promise("record.mirror")
def test_a_journal_that_was_deleted_shows_as_long_as_its_keys_or_its_mirror_are_there(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
    shutil.rmtree(workspace.journal)
    assert "rolled_back" in workspace.codes()
    with pytest.raises(LedgerDamaged) as error:
        workspace.open()
    assert error.value.code == "journal_rolled_back"


def test_a_view_that_cannot_be_caught_up_with_does_not_hold_up_the_log(workspace: Workspace) -> None:
    with workspace.opened() as one, workspace.opened() as other:
        fill(one, 1)
        shutil.rmtree(workspace.audit / "sessions" / "s1")
        (workspace.audit / "sessions" / "s1").write_text("a file where a folder should be")
        fill(other, 1)
        (workspace.audit / "sessions" / "s1").unlink()
    with workspace.opened() as ledger:
        assert ledger.size() == len(list(ledger.session("s1"))) == 2
    assert workspace.verify().ok


def test_a_session_folder_that_is_in_the_way_does_not_hold_up_the_log(either: Workspace) -> None:
    with either.opened() as ledger:
        fill(ledger, 1, session="s1")
        (either.audit / "sessions" / "s2").write_text("a file where a folder should be")
        ids = fill(ledger, 3, session="s2")
        assert all(ledger.find(receipt_id) for receipt_id in ids)
        assert "view_differs" in either.codes()
        (either.audit / "sessions" / "s2").unlink()
    with either.opened() as ledger:
        assert [receipt.receipt_id for receipt in ledger.session("s2")] == ids
    assert either.verify().ok
