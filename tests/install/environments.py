"""The built wheel in environments that hold nothing but what it declares.

An `Environment` is a virtual environment and a way to run `tally` in it. There are two ways to fill one:

    by pip      as a user does it, from the index that this machine is set up with
    by links    the wheel, and links to those distributions of the development environment that the wheel's metadata
                names for the chosen extras, and theirs in turn; a package that is used and not declared is not there
"""

import os
import subprocess
import sys
import venv
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.sources import ROOT

PATIENCE_S = 300
"""Far more than anything takes, on a busy machine too."""


class Environment:
    """A virtual environment, and a folder of its own to work in."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder / "venv", symlinks=True)
        self.bin = folder / "venv" / "bin"
        self.work = folder / "work"
        self.work.mkdir()
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.packages = folder / "venv" / "lib" / version / "site-packages"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TALLY_"))}
        self.environ = {**kept, "HOME": str(folder), "TALLY_STATE_DIR": str(folder / "state"), "NO_COLOR": "1",
                        "COLUMNS": "200"}  # fmt: skip

    def run(self, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the working folder."""
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]], cwd=self.work, env=self.environ | more, input=given,
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip

    def tally(self, *words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Run `tally`."""
        return self.run("tally", *words, given=given, **more)

    def switch_on(self, room: str) -> None:
        """Make the working folder a workspace where a room is on."""
        (self.work / "tallystick.toml").touch()
        done = self.tally("rooms", "on", room)
        assert done.returncode == 0, done.stderr

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start `tally` and leave it running."""
        return subprocess.Popen(
            [str(self.bin / "tally"), *words], cwd=self.work, env=self.environ, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


def build(folder: Path) -> Path:
    """Build the wheel of this source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def by_pip(folder: Path, wheel: Path) -> Environment:
    """Install the wheel and its base dependencies by pip; the test is left out where the index gives nothing."""
    environment = Environment(folder)
    if not index_answers(folder):
        pytest.skip("left out: installing the wheel by pip, the package index cannot be reached")
    into = ("--python", str(environment.bin / "python"))
    # Wheels alone: what had to be compiled here would have to be compiled by everybody.
    done = _pip(*into, "install", "--no-compile", "--only-binary", ":all:", str(wheel))
    assert done.returncode == 0, done.stderr
    return environment


def index_answers(folder: Path) -> bool:
    """Whether the index that pip is set up with gives a small package that the wheel needs."""
    return _pip("download", "--no-deps", "-d", str(folder), "h11").returncode == 0


def _pip(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def by_links(folder: Path, wheel: Path, *extras: str) -> Environment:
    """Link the unpacked wheel and what it declares; the test is left out where that is not installed here."""
    environment = Environment(folder)
    for part in _unpacked(wheel).iterdir():
        (environment.packages / part.name).symlink_to(part)
    (about,) = environment.packages.glob("tallystick-*.dist-info")
    try:
        needed = closure(PathDistribution(about), extras)
    except PackageNotFoundError as missing:
        pytest.skip(f"left out: the extra {', '.join(extras)}, {missing.name} is not installed here")
    for one in needed:
        _link(one, environment.packages)
    command = environment.bin / "tally"
    command.write_text(f"#!{environment.bin / 'python'}\nfrom tallystick.__main__ import main\nmain()\n")
    command.chmod(0o755)
    return environment


@cache
def _unpacked(wheel: Path) -> Path:
    """The wheel's files in a folder beside it: once, so that they are compiled once for all environments."""
    folder = wheel.with_suffix("")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def closure(wheel: Distribution, extras: tuple[str, ...]) -> list[Distribution]:
    """Every distribution that a wheel with these extras asks for, directly or not."""
    seen: dict[tuple[str, str], Distribution] = {}
    ahead = [(wheel, extra) for extra in ("", *extras)]
    while ahead:
        asking, extra = ahead.pop()
        for needed in map(Requirement, asking.requires or ()):
            if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(needed.name)
            found = wheel if name == "tallystick" else distribution(name)
            for each in ("", *needed.extras):
                if (name, each) not in seen:
                    seen[name, each] = found
                    ahead.append((found, each))
    return list({name: found for (name, _), found in seen.items() if name != "tallystick"}.values())


def _link(found: Distribution, packages: Path) -> None:
    """Link a distribution's folders; file by file where it shares a folder with another distribution."""
    for top, files in _tops(found).items():
        origin = Path(str(found.locate_file(top)))
        if _owners()[top] == 1:
            (packages / top).symlink_to(origin)
            continue
        for file in files:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(str(found.locate_file(file)))


def _tops(found: Distribution) -> dict[str, list[str]]:
    tops: dict[str, list[str]] = {}
    for file in _files(found):
        tops.setdefault(Path(file).parts[0], []).append(file)
    return tops


def _files(found: Distribution) -> Iterator[str]:
    # Commands and manual pages lie outside, above the packages.
    return (str(file) for file in found.files or () if file.parts[0] not in {"..", "__pycache__"})


@cache
def _owners() -> Counter[str]:
    """How many distributions have something in a folder of this name."""
    return Counter(top for found in distributions() for top in _tops(found))
