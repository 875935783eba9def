"""Witnesses of the head: each checkpoint is sent away, nobody waits for it, and what was kept shows a rollback."""

import logging
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import Checkpoint, NoteSigner, notes_in, parse_checkpoint, split_note
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.storage.journal import courier, witnesses
from tallystick.storage.journal.courier import Courier, Undelivered, Witness
from tallystick.storage.journal.witnesses import parse_witnesses
from tests.ledgers import Workspace, fill
from tests.storage.webhook import BUSY, OK, free_port, webhook

SECRETS = "ann:s3cr3t-pass@"
QUERY = "?token=s3cr3t-query"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no witness that is away."""
    monkeypatch.setattr(witnesses, "LAST_TRY_S", 20.0)


def sizes(notes: list[bytes]) -> list[int]:
    """How many records each note covers."""
    found = []
    for note in notes:
        split = split_note(note)
        checkpoint = None if split is None else parse_checkpoint(split[0])
        assert checkpoint is not None
        found.append(checkpoint.size)
    return found


def notes_of(path: Path) -> list[bytes]:
    """The notes that a file keeps."""
    with path.open("rb") as file:
        return list(notes_in(file))


def incidents(workspace: Workspace) -> list[dict[str, Any]]:
    """The witnesses that the log says were away."""
    with Workspace(workspace.root.parent, **{**workspace.ledger, "witnesses": []}).opened() as ledger:
        records = [receipt.header for receipt in ledger.read() if receipt.header["kind"] == "recovery"]
    return [header["context"] for header in records if header["context"]["incident"] == "witness_unreachable"]


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.promise("record.witness")
def test_a_webhook_is_posted_each_new_checkpoint_as_it_was_signed(tmp_path: Path) -> None:
    with webhook() as hook:
        workspace = Workspace(tmp_path, witnesses=[hook.url + QUERY], checkpoint_every=4)
        with workspace.opened() as ledger:
            fill(ledger, 4)
            hook.wait_for(lambda seen: sizes(seen.bodies) == [4])
            fill(ledger, 2)
        assert sizes(hook.bodies) == [4, 6]
        assert hook.bodies == notes_of(workspace.journal / "checkpoints")
    assert hook.heads[0].startswith(f"POST /notes{QUERY} HTTP/1.1\r\n")
    assert "content-type: text/plain" in hook.heads[0].lower()
    assert incidents(workspace) == []


@pytest.mark.promise("record.witness")
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_another_log_has_each_checkpoint_appended_by_all_processes(tmp_path: Path, durability: str) -> None:
    log = tmp_path / "elsewhere" / "notes"
    workspace = Workspace(tmp_path, durability=durability, witnesses=[str(log)], checkpoint_every=3)
    for _ in range(2):
        with workspace.opened() as ledger:
            fill(ledger, 7)
    assert sizes(notes_of(log)) == [3, 6, 7, 10, 13, 14]
    assert log.stat().st_mode & 0o777 == 0o600
    report = workspace.verify()
    assert report.ok
    assert {warrant.by: warrant.size for warrant in report.warrants}["witness"] == 14


@pytest.mark.promise("record.witness")
@pytest.mark.parametrize("keeper", ["webhook", "log"])
def test_what_a_witness_kept_shows_that_journal_and_mirror_were_rolled_back_together(
    tmp_path: Path, keeper: str
) -> None:
    log = tmp_path / "elsewhere"
    with webhook() as hook:
        workspace = Workspace(tmp_path, witnesses=[hook.url if keeper == "webhook" else str(log)])
        with workspace.opened() as ledger:
            fill(ledger, 3)
        shutil.copytree(workspace.root, tmp_path / "work-then")
        shutil.copytree(workspace.state, tmp_path / "state-then")
        with workspace.opened() as ledger:
            fill(ledger, 4)
    kept = b"".join(hook.bodies) if keeper == "webhook" else log.read_bytes()
    plain = Workspace(tmp_path)
    assert plain.verify([kept]).ok
    for then, now in (("work-then", workspace.root), ("state-then", workspace.state)):
        shutil.rmtree(now)
        shutil.copytree(tmp_path / then, now)
    assert plain.verify().ok  # what was rolled back as a whole looks whole
    assert plain.codes([kept]) == ["rolled_back"]
    assert workspace.codes() == (["rolled_back"] if keeper == "log" else [])  # a file here is asked unasked
    with plain.opened() as ledger:
        fill(ledger, 20, start=100)  # a fork that has grown beyond what the witness saw
    assert plain.codes([kept]) == ["checkpoint_differs"]


@pytest.mark.promise("record.witness")
def test_of_a_log_that_went_on_after_a_rollback_every_earlier_note_still_counts(tmp_path: Path) -> None:
    log = tmp_path / "elsewhere"
    workspace = Workspace(tmp_path, witnesses=[str(log)])
    with workspace.opened() as ledger:
        fill(ledger, 3)
    shutil.copytree(workspace.root, tmp_path / "work-then")
    shutil.copytree(workspace.state, tmp_path / "state-then")
    with workspace.opened() as ledger:
        fill(ledger, 4)
    for then, now in (("work-then", workspace.root), ("state-then", workspace.state)):
        shutil.rmtree(now)
        shutil.copytree(tmp_path / then, now)
    with workspace.opened() as ledger:
        fill(ledger, 9, start=100)
    assert sizes(notes_of(log)) == [3, 7, 12]
    assert workspace.codes() == ["checkpoint_differs"]


@pytest.mark.promise("record.witness-away")
def test_a_witness_that_cannot_be_reached_is_reported_once_and_holds_nobody_up(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://{SECRETS}127.0.0.1:{port}/a-secret-path{QUERY}"
    workspace = Workspace(tmp_path, witnesses=[url, str(tmp_path / "elsewhere")], checkpoint_every=2)
    with workspace.opened() as ledger:
        fill(ledger, 11)
    report = workspace.verify()
    assert report.ok
    assert [note.code for note in report.notes] == ["witness_unreachable"]
    [said] = incidents(workspace)
    assert (said["witness"], said["where"]) == (1, f"http://127.0.0.1:{port}")
    assert said["reason"]
    assert sizes(notes_of(tmp_path / "elsewhere"))[-1] >= 11  # the other one is not held up either


@pytest.mark.promise("record.witness-away")
def test_a_witness_that_recovered_and_fails_anew_is_reported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(courier, "FIRST_PAUSE_S", 0.0)
    with webhook(BUSY, BUSY, OK, BUSY, BUSY, OK) as hook:
        workspace = Workspace(tmp_path, witnesses=[hook.url], checkpoint_every=5)
        with workspace.opened() as ledger:
            fill(ledger, 5)
            hook.wait_for(lambda seen: len(seen.bodies) == 3)
            fill(ledger, 5)
            hook.wait_for(lambda seen: len(seen.bodies) == 6)
    assert [said["reason"] for said in incidents(workspace)] == ["status 503", "status 503"]


@pytest.mark.promise("record.witness-away")
def test_only_the_newest_note_waits_for_a_webhook_and_every_one_for_a_log() -> None:
    for kept, expected in ((1, [b"1", b"9"]), (1024, [b"%d" % number for number in range(1, 10)])):
        came, go_on, took = threading.Event(), threading.Event(), []

        def deliver(note: bytes, _within_s: float, came=came, go_on=go_on, took=took) -> None:
            came.set()
            assert go_on.wait(20)
            took.append(note)

        sender = Courier(Witness(number=1, shown="x", deliver=deliver, kept=kept))
        sender.send(b"1")
        assert came.wait(20)  # the first is on its way, and none of the others holds anybody up
        for number in range(2, 10):
            sender.send(b"%d" % number)
        go_on.set()
        sender.try_last(courier.monotonic() + 20)
        sender.wait()
        assert took == expected
        assert sender.reports() == []
        sender.send(b"too late")
        assert took == expected


@pytest.mark.promise("record.witness-away")
def test_the_last_try_ends_in_time_and_what_it_did_not_send_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witnesses, "LAST_TRY_S", 0.2)
    over = threading.Event()
    with webhook(lambda _peer: bool(over.wait(20)) or None) as hook:
        workspace = Workspace(tmp_path, witnesses=[hook.url])
        with workspace.opened() as ledger:
            fill(ledger, 1)
        over.set()
    assert [said["reason"] for said in incidents(workspace)] == ["timed out"]
    assert workspace.verify().proved_up_to == 2


@pytest.mark.promise("record.witness-away")
def test_pauses_grow_and_the_end_does_not_wait_for_them() -> None:
    tries: list[float] = []

    def deliver(_note: bytes, within_s: float) -> None:
        tries.append(within_s)
        raise Undelivered("away")

    sender = Courier(Witness(number=2, shown="x", deliver=deliver))
    sender.send(b"1")
    sender.try_last(courier.monotonic() + 1)
    sender.wait()
    assert 1 <= len(tries) <= 2
    assert tries[-1] <= 1
    [said] = sender.reports()
    assert (said.what, said.details["witness"]) == ("witness_unreachable", 2)
    assert sender._pause > courier.FIRST_PAUSE_S


@pytest.mark.promise("record.witness-away")
def test_a_child_forked_while_a_note_is_written_keeps_nobody_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [witness] = parse_witnesses([str(tmp_path / "notes")], PinnedHttpClient())
    real, children = witnesses.disk.write, []
    ours, theirs = os.pipe()

    def forking(fd: int, data: bytes) -> int:
        child = os.fork()
        if child == 0:
            os.read(ours, 1)  # holds the open file until the test is over
            os._exit(0)
        children.append(child)
        return real(fd, data)

    monkeypatch.setattr(witnesses.disk, "write", forking)
    witness.deliver(b"first\n", 1)
    monkeypatch.setattr(witnesses.disk, "write", real)
    with (tmp_path / "notes").open("rb") as file:
        assert witnesses.disk.try_lock(file.fileno())
    os.write(theirs, b"x" * len(children))
    assert [os.waitpid(child, 0)[1] for child in children] == [0]
    os.close(ours)
    os.close(theirs)


@pytest.mark.promise("record.witness-away")
def test_a_child_process_sends_what_it_adds_itself(tmp_path: Path) -> None:
    log = tmp_path / "elsewhere"
    workspace = Workspace(tmp_path, witnesses=[str(log)], checkpoint_every=2)
    with workspace.opened() as ledger:
        fill(ledger, 2)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                fill(ledger, 3, session="child")
                ledger._journal.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sorted(sizes(notes_of(log))) == [2, 4, 5]


@pytest.mark.promise("record.witness-away")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\n\r\n", "status 302"),
        (b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\n\r\n", "status 307"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", "status 404"),
        (b"HTTP/1.1 500\r\n\r\n", "status 500"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP answer"),
    ],
)
def test_a_response_that_is_no_success_is_a_failure_and_no_redirect_is_followed(answer: bytes, reason: str) -> None:
    with webhook(answer) as hook:
        [witness] = parse_witnesses([hook.url], PinnedHttpClient())
        with pytest.raises(Undelivered) as told:
            witness.deliver(b"note", 20)
        assert str(told.value) == reason
        assert len(hook.bodies) == 1


@pytest.mark.promise("record.witness-secrets")
def test_what_is_secret_in_a_url_stands_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with webhook(BUSY) as hook:
        url = hook.url.replace("//", f"//{SECRETS}").replace("notes", "s3cr3t-path") + QUERY
        workspace = Workspace(tmp_path, witnesses=[url])
        with workspace.opened() as ledger:
            fill(ledger, 1)
            assert "s3cr3t" not in repr(ledger._journal._files.options)
    assert len(incidents(workspace)) == 1
    assert b"s3cr3t" not in everything_in(tmp_path)
    assert "s3cr3t" not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.promise("record.witness-secrets")
@pytest.mark.parametrize(
    "text",
    [
        f"http://{SECRETS}example.org/x",
        "http://10.0.0.1/s3cr3t",
        "http://127.0.0.1.example.org/s3cr3t",
        "ftp://example.org/s3cr3t",
        "https:///s3cr3t",
        "https://example.org:99999/s3cr3t",
        "https://[s3cr3t/",
        "https://example.org/s3cr3t x",
        "https://example.org/s3cr3t\r\nX: y",
        "https://exämple.org/s3cr3t",
        "s3cr3t/relative",
        "",
    ],
)
def test_what_cannot_be_a_witness_is_refused_before_anything_is_made(tmp_path: Path, text: str) -> None:
    workspace = Workspace(tmp_path, witnesses=["https://example.org/fine", text])
    with pytest.raises(ConfigError) as told:
        workspace.open()
    assert told.value.code == "config_bad_value"
    assert "number 2" in str(told.value)
    assert "s3cr3t" not in str(told.value)
    assert not workspace.root.exists()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ann:pass@example.org/x?y=z", "https://example.org"),
        ("https://Example.org:8443/x", "https://example.org:8443"),
        ("http://localhost/x", "http://localhost"),
        ("http://127.8.9.1:80/x", "http://127.8.9.1:80"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("~/notes", "notes"),
        ("/var/log/notes.txt", "notes.txt"),
    ],
)
def test_a_witness_is_named_by_where_it_is_and_no_more(text: str, shown: str) -> None:
    [witness] = parse_witnesses([text], PinnedHttpClient())
    assert witness.shown == shown


@given(
    counts=st.lists(st.integers(0, 999), max_size=5), between=st.sampled_from([b"", b"\n", b"\n\n"]), torn=st.booleans()
)
def test_notes_are_found_however_they_were_put_together(counts: list[int], between: bytes, *, torn: bool) -> None:
    signer = NoteSigner("log", bytes(32))
    notes = [signer.sign(Checkpoint(origin="log", size=count, root=bytes(32)).text()) for count in counts]
    data = between.join(notes)
    if torn:  # a crash in the middle of one, and another log that went on behind it
        data += b"\n" + notes[0][:20] + b"\n\n" + b"".join(notes) if notes else b""
    found = list(notes_in(data.splitlines(keepends=True)))
    assert found == (notes * 2 if torn else notes)


def test_a_file_that_cannot_be_written_keeps_what_it_has_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [witness] = parse_witnesses([str(tmp_path / "notes")], PinnedHttpClient())
    witness.deliver(b"first\n", 1)
    real = witnesses.disk.write

    def full(fd: int, data: bytes) -> int:
        if len(data) < 4:
            raise OSError(28, "No space left on device")
        return real(fd, data[: len(data) - 2])

    monkeypatch.setattr(witnesses.disk, "write", full)
    with pytest.raises(Undelivered) as told:
        witness.deliver(b"second\n", 1)
    assert str(told.value) == "No space left on device"
    assert (tmp_path / "notes").read_bytes() == b"first\n\n"
