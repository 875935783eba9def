"""`tally prove`, `tally bundle` and `tally check`: proofs that travel, checked where there is nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.gate.record.bundle import check_bundle
from tallystick.gate.record.checkpoint import parse_vkey
from tests.doors.cli.conftest import Ran, Tally
from tests.house.sources import ROOT
from tests.sizes import FULL, size

SCENE = "The harbour was quiet, and the gulls slept on the rail all night.\nNobody came.\n"


@pytest.fixture
def receipt(tally: Tally, workspace: Path) -> str:
    (workspace / "Story").mkdir()
    (workspace / "Story" / "one.md").write_text(SCENE)
    receipt_id: str = tally("--json", "call", "word_count", '{"text":"a b"}').json["receipt_id"]
    return receipt_id


@pytest.fixture
def reply(workspace: Path, receipt: str) -> Path:
    path = workspace / "reply.txt"
    evidence = f'"the gulls slept on the rail all night" Story/one.md:L1; receipt {receipt}'
    path.write_text(f"It was a quiet night.\nEvidence: {evidence}\n")
    return path


@pytest.fixture
def bundle(tally: Tally, reply: Path, tmp_path: Path) -> Path:
    path = tmp_path / "answer.bundle"
    assert tally("bundle", str(reply), "-o", str(path)).code == 0
    return path


@pytest.fixture
def vkey(tally: Tally, receipt: str) -> str:
    line: str = tally("--json", "keys", "show").json["log_key"]
    return line


def elsewhere(folder: Path, *words: str, stdin: bytes = b"") -> Ran:
    """Run `tally` in a folder and an environment that have nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", *words],
        cwd=folder, env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)},
        input=stdin, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return Ran(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


@pytest.mark.promise("doors.cli-check")
def test_a_bundle_is_checked_in_an_empty_folder_that_stays_empty(bundle: Path, vkey: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    data = bundle.read_bytes()
    valid = elsewhere(empty, "check", "-", "--key", vkey, stdin=data)
    assert (valid.code, valid.out.splitlines()[-1]) == (0, "valid")
    unknown = elsewhere(empty, "check", "-", stdin=data)
    assert unknown.code == 0
    assert "signer unknown" in unknown.out
    assert "valid" not in unknown.out
    assert list(empty.iterdir()) == []


@pytest.mark.promise("doors.cli-check")
def test_the_key_may_be_a_file(tally: Tally, bundle: Path, vkey: str, tmp_path: Path) -> None:
    (tmp_path / "log.vkey").write_text(vkey + "\n")
    checked = tally("--json", "check", str(bundle), "--key", str(tmp_path / "log.vkey"))
    assert (checked.code, checked.json["status"]) == (0, "valid")
    assert (checked.json["receipts"], checked.json["quotes"]) == (2, 1)


@pytest.mark.promise("doors.cli-check", "record.bundle-tamper")
def test_any_changed_byte_is_found_with_the_reason(tally: Tally, bundle: Path, vkey: str) -> None:
    data = bundle.read_bytes()
    verifier = parse_vkey(vkey)
    step = 1 if FULL else max(1, len(data) // size(40, len(data)))
    for place in range(0, len(data), step):
        for other in (data[place] ^ 1, ord("0") if data[place] != ord("0") else ord("1")):
            changed = data[:place] + bytes([other]) + data[place + 1 :]
            report = check_bundle(changed, verifier)
            assert (place, report.status) == (place, "broken")
            assert report.reason
    bundle.write_bytes(data[:-1])
    cut = tally("check", str(bundle), "--key", vkey)
    assert cut.code == 1
    assert "DOES NOT HOLD" in cut.out
    bundle.write_bytes(data.replace(b"slept on the rail", b"swept on the rail", 1))
    changed = tally("--json", "check", str(bundle), "--key", vkey)
    assert (changed.code, changed.json["status"]) == (1, "broken")
    bundle.write_bytes(data + b"\n")
    assert tally("check", str(bundle)).code == 1


@pytest.mark.promise("doors.cli-check")
def test_a_bundle_of_another_log_does_not_pass_under_our_key(
    tally: Tally, bundle: Path, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tallystick.toml").write_text("")
    assert tally("call", "nothing", "-w", str(other)).code == 1
    key = tally("--json", "keys", "show", "-w", str(other)).json["log_key"]
    foreign = tally("--json", "check", str(bundle), "--key", key)
    assert (foreign.code, foreign.json["status"]) == (1, "broken")


@pytest.mark.parametrize("key", ["", "name+00000000+AAAA", "no/such/file"])
def test_a_key_that_is_none_is_refused(tally: Tally, bundle: Path, key: str) -> None:
    assert tally("check", str(bundle), "--key", key).code == 1


def test_files_that_are_no_bundles_do_not_hold(tally: Tally, tmp_path: Path) -> None:
    for data in (
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"format":"tallystick-bundle-1"}',
        b'{"seq":1,"header":"","path":[],"checkpoint":""}',
    ):
        (tmp_path / "odd").write_bytes(data)
        odd = tally("--json", "check", str(tmp_path / "odd"))
        assert (odd.code, odd.json["status"]) == (1, "broken")
    assert tally("check", str(tmp_path / "none")).error == "file_unreadable"


def test_a_reply_that_was_checked_is_bundled_with_that_check(tally: Tally, reply: Path, tmp_path: Path) -> None:
    checked = tally("--json", "evidence", "check", str(reply)).json["receipt_id"]
    made = tally("--json", "bundle", str(reply), "-o", str(tmp_path / "b"))
    assert made.json["check"] == checked
    by_receipt = tally("bundle", checked, "--reply", str(reply), "-o", str(tmp_path / "c"))
    assert by_receipt.code == 0
    assert json.loads((tmp_path / "c").read_bytes())["check"] == checked
    assert tally("bundle", checked).error == "reply_needed"


def test_a_reply_that_does_not_hold_is_not_bundled(tally: Tally, reply: Path) -> None:
    reply.write_text('It was loud.\nEvidence: "the gulls screamed on the rail all night" Story/one.md\n')
    refused = tally("bundle", str(reply))
    assert (refused.code, refused.error) == (1, "quote_not_found")
    assert refused.out == ""


def test_a_receipt_of_something_else_makes_no_bundle(tally: Tally, reply: Path, receipt: str) -> None:
    refused = tally("bundle", receipt, "--reply", str(reply))
    assert (refused.code, refused.error) == (1, "bundle_no_check")


@pytest.mark.promise("doors.cli-prove")
def test_a_proof_is_checked_by_anyone_and_every_change_is_found(
    tally: Tally, receipt: str, vkey: str, tmp_path: Path
) -> None:
    for text in ("b", "c", "d"):
        tally("call", "word_count", json.dumps({"text": text}))
    path = tmp_path / "proof.json"
    assert tally("prove", receipt, "-o", str(path)).code == 0
    data = path.read_bytes()
    assert tally("prove", receipt).out.encode() == data
    assert tally("--json", "check", str(path), "--key", vkey).json["status"] == "valid"
    assert tally("--json", "check", str(path)).json["reason"] == "consistent, signer unknown"
    for place in range(0, len(data) - 1, 1 if FULL else 37):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        changed = tally("--json", "check", str(path), "--key", vkey)
        assert (place, changed.code, changed.json["status"]) == (place, 1, "broken")
