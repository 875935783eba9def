"""`make test` gets itself a browser where it may, and says so where it cannot."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("get_chromium.sh")
LEFT_OUT = "LEFT OUT: the tests of the page in a browser."


def get(folder: Path, **programs: str) -> tuple[str, str, str]:
    """Run it where only these programs are there; gives what it said, what it complained of, and what apt was asked."""
    folder.mkdir()
    asked = folder / "asked"
    for name, body in programs.items():
        program = folder / name.replace("_", "-")
        program.write_text(f"#!/bin/sh\n{body.replace('ASKED', str(asked))}\n")
        program.chmod(0o755)
    shell = shutil.which("sh")
    assert shell is not None
    done = subprocess.run([shell, str(SCRIPT)], env={"PATH": str(folder)}, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr, asked.read_text() if asked.exists() else ""


ROOT, USER = "echo 0", "echo 1000"
APT = 'echo "$@" >> ASKED'


@pytest.mark.promise("page.browser")
def test_a_browser_that_is_there_is_taken(tmp_path: Path) -> None:
    assert get(tmp_path / "bin", chromium="exit 0", apt_get=APT, id=ROOT) == ("", "", "")


@pytest.mark.promise("page.browser")
def test_root_gets_it_from_the_packages_without_being_asked_anything(tmp_path: Path) -> None:
    said, wrong, asked = get(tmp_path / "bin", apt_get=APT, id=ROOT)
    assert "Chromium is installed." in said
    assert wrong == ""
    assert asked.splitlines()[-1].endswith("install -y --no-install-recommends chromium")


@pytest.mark.promise("page.browser")
@pytest.mark.parametrize(
    ("programs", "why"),
    [
        ({"apt_get": "exit 100", "id": ROOT}, "apt-get could not install it"),
        ({"apt_get": APT, "id": USER}, "installing packages needs root"),
        ({"id": ROOT}, "this system has no apt-get"),
    ],
)
def test_where_it_cannot_it_says_what_is_left_out_and_why(tmp_path: Path, programs: dict[str, str], why: str) -> None:
    _, wrong, asked = get(tmp_path / "bin", **programs)
    assert LEFT_OUT in wrong
    assert why in wrong
    assert asked == ""
