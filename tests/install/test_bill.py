"""The bill of materials and the licences of a release, and no secret in what is released."""

import re
import subprocess

import pytest

from tests.house.sources import ROOT
from tests.install.bill import UNKNOWN, bill, components, licence_of

LOCK = (ROOT / "requirements.lock").read_text("utf-8")
SECRETS = re.compile(
    rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=\s]{64}"
    rb"|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bxox[abprs]-\d{6,}-[A-Za-z0-9-]{10,}"
    rb"|\bsk-(?:proj-|ant-)?[A-Za-z0-9_-]{40,}\b|\bAIza[0-9A-Za-z_-]{35}\b|\bglpat-[A-Za-z0-9_-]{20}\b"
)
"""What keys of the usual services look like, and private keys with a body."""
MASKING = ("tests/app/test_approval_masks.py", "tests/gate/record/test_secrets.py", "tests/telemetry/test_logs.py")
"""Tests of masking, with keys from the services' own documentation and with the alphabet as a key."""
_CHOICE = re.compile("LGPL|BSD|MIT|Public Domain|Apache")
"""One of these beside the GPL is a choice between them, or the lesser one."""


@pytest.mark.promise("install.bill")
def test_every_package_of_the_lock_is_in_the_bill_with_its_hashes() -> None:
    found = components(LOCK)
    assert len(found) == len(re.findall(r"^[A-Za-z0-9._-]+==", LOCK, re.MULTILINE)) > 50
    assert all(one["hashes"] for one in found)
    made = bill(found)
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    assert {one["name"] for one in made["components"]} == {one["name"] for one in found}


@pytest.mark.promise("install.bill")
def test_every_installed_package_states_a_licence_that_allows_use() -> None:
    stated = {one["name"]: licence_of(one["name"]) for one in components(LOCK)}
    assert sorted(name for name, licence in stated.items() if licence == "not stated") == []
    assert len([name for name, licence in stated.items() if licence != UNKNOWN]) > 50
    strict = [
        name for name, licence in stated.items() if re.search(r"\bA?GPL", licence) and not _CHOICE.search(licence)
    ]
    assert sorted(strict) == []


@pytest.mark.promise("install.no-secrets")
def test_no_file_of_the_repository_holds_a_key_of_a_service() -> None:
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.split(b"\0")
    paths = [ROOT / name.decode() for name in files if name and name.decode() not in MASKING]
    if not paths:
        pytest.skip("left out: the list of files, this is no repository")
    found = [str(path) for path in paths if path.is_file() and SECRETS.search(path.read_bytes())]
    assert found == []


@pytest.mark.promise("install.no-secrets")
def test_a_key_would_be_found() -> None:
    assert SECRETS.search(b"key = AKIA" + b"ABCDEFGHIJKLMNOP")
    assert SECRETS.search(b"gh" + b"p_" + b"a1" * 18)
