import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from tallystick.errors import ConfigError
from tallystick.gate.record.checkpoint import parse_vkey
from tallystick.storage.keys import FileKeys


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return tmp_path / ".control-room" / "audit"


@pytest.mark.promise("record.keys-private")
def test_keys_are_made_on_first_use_private_and_kept_out_of_repositories(audit: Path) -> None:
    keys = FileKeys(audit)
    for name in ("secret.key", "log.key"):
        assert stat.S_IMODE((audit / name).stat().st_mode) == 0o600
    assert (audit / ".gitignore").read_text() == "*\n"
    again = FileKeys(audit)
    assert again.active().key_id == keys.active().key_id
    assert again.log_signer().verifier == keys.log_signer().verifier
    assert parse_vkey(keys.log_signer().verifier.vkey()) == keys.log_signer().verifier


def test_no_two_workspaces_share_a_key_or_a_name(tmp_path: Path) -> None:
    first, second = FileKeys(tmp_path / "a"), FileKeys(tmp_path / "b")
    assert first.active().key_id != second.active().key_id
    assert first.log_signer().verifier.name != second.log_signer().verifier.name


@pytest.mark.promise("record.keys-private")
@pytest.mark.parametrize("name", ["secret.key", "log.key"])
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o666])
def test_a_key_that_others_can_reach_is_refused(audit: Path, name: str, mode: int) -> None:
    FileKeys(audit)
    (audit / name).chmod(mode)
    with pytest.raises(ConfigError) as error:
        FileKeys(audit)
    assert error.value.code == "key_world_readable"
    assert "chmod 600" in str(error.value)


@pytest.mark.parametrize("name", ["secret.key", "log.key"])
@pytest.mark.parametrize(
    "content", [b"", b"zz", b"00" * 31, b"\xff" * 40, b"PRIVATE+KEY+n+00000000+AAAA", b"a+b", b"\0" * 64]
)
def test_a_key_file_that_holds_no_key_is_refused(audit: Path, name: str, content: bytes) -> None:
    FileKeys(audit)
    (audit / name).write_bytes(content)
    with pytest.raises(ConfigError) as error:
        FileKeys(audit)
    assert error.value.code == "key_malformed"


@pytest.mark.parametrize("what", ["symlink", "folder", "pipe", "dangling"])
def test_a_key_that_is_no_plain_file_is_refused(audit: Path, what: str) -> None:
    FileKeys(audit)
    key = audit / "secret.key"
    if what in {"symlink", "dangling"}:
        key.rename(audit / "elsewhere")
        key.symlink_to(audit / ("elsewhere" if what == "symlink" else "nowhere"))
    else:
        key.unlink()
        key.mkdir(mode=0o700) if what == "folder" else os.mkfifo(key, 0o600)
    with pytest.raises(ConfigError) as error:
        FileKeys(audit)
    assert error.value.code == "key_unreadable"


def test_where_nothing_is_to_be_made_nothing_is(audit: Path) -> None:
    with pytest.raises(ConfigError) as error:
        FileKeys(audit, create=False)
    assert error.value.code == "ledger_missing"
    assert not audit.exists()


def _key_ids(audit: Path, number: int) -> None:
    (audit.parent / f"ids-{number}").write_text(FileKeys(audit).active().key_id)


@pytest.mark.promise("record.keys-private")
def test_processes_that_make_the_key_at_once_agree_on_one(audit: Path) -> None:
    audit.parent.mkdir(parents=True)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_key_ids, args=(audit, number)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    ids = {(audit.parent / f"ids-{number}").read_text() for number in range(6)}
    assert len(ids) == 1
    assert not list(audit.glob(".*.part"))


@pytest.mark.promise("record.rotation")
def test_rotated_keys_stay_for_checking_and_the_new_ones_are_in_force(audit: Path) -> None:
    keys = FileKeys(audit)
    old, old_log = keys.active(), keys.log_signer().verifier
    rotation = keys.begin_rotation(2)
    assert keys.active().key_id == old.key_id
    assert keys.pending_rotation() == (rotation, 2)
    keys.finish_rotation()
    again = FileKeys(audit)
    for found in (keys, again):
        assert found.active().key_id == rotation.new_key
        assert found.find(rotation.old_key) is not None
        assert found.retired() == [rotation.old_key]
        assert [verifier.vkey() for verifier in found.log_verifiers()] == [rotation.new_log_key, rotation.old_log_key]
    assert old_log.vkey() == rotation.old_log_key
    assert keys.find("0" * 16) is None
    assert stat.S_IMODE((audit / "keys" / f"{old.key_id}.key").stat().st_mode) == 0o600


def test_a_rotation_that_is_given_up_leaves_no_trace(audit: Path) -> None:
    keys = FileKeys(audit)
    keys.begin_rotation(2)
    keys.abandon_rotation()
    assert keys.pending_rotation() is None
    keys.finish_rotation()
    assert keys.retired() == []
