"""Check what `make release` built: `python -m tests.install.release dist`.

1. dist/ holds one wheel and one sdist, both of the version that the package says, and the changelog has that release.
2. The metadata is valid, and the description renders (`twine check` where twine is installed).
3. The wheel that the sdist makes holds the same files.
4. The wheel works in an empty environment with its base dependencies alone.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from markdown_it import MarkdownIt
from packaging.metadata import Metadata

import tallystick
from tests.house.sources import ROOT
from tests.install.environments import PATIENCE_S, by_pip, index_answers
from tests.install.test_base import works

LABELS = {"homepage", "changelog", "issues", "security", "documentation"}


class NotReady(Exception):  # noqa: N818 - reads as what it is
    """What keeps a release back."""


def main() -> None:
    """Check the folder that is named, and say what was found."""
    try:
        for line in check(Path(sys.argv[1])):
            sys.stdout.write(f"ok  {line}\n")
    except NotReady as reason:
        sys.exit(f"not ready: {reason}")


def check(dist: Path) -> list[str]:
    """Every check in turn; what each found.

    Raises:
        NotReady: The first that failed.
    """
    wheel, sdist = _only(dist, "*.whl"), _only(dist, "*.tar.gz")
    done = [_versions(wheel, sdist), _changelog(), _metadata(wheel), _twine(wheel, sdist)]
    with tempfile.TemporaryDirectory() as folder:
        done.append(_same_files(wheel, sdist, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        if not index_answers(Path(folder)):
            raise NotReady("the package index cannot be reached, so the wheel was not installed")
        (Path(folder) / "empty").mkdir()
        works(by_pip(Path(folder) / "empty", wheel))
    return [*done, "the wheel works in an empty environment"]


def _only(dist: Path, pattern: str) -> Path:
    found = sorted(dist.glob(pattern))
    if len(found) != 1:
        raise NotReady(f"{dist}/{pattern} should be one file and is {len(found)}")
    return found[0]


def _versions(wheel: Path, sdist: Path) -> str:
    version = tallystick.__version__
    wanted = (f"tallystick-{version}-py3-none-any.whl", f"tallystick-{version}.tar.gz")
    if (wheel.name, sdist.name) != wanted:
        raise NotReady(f"{wheel.name} and {sdist.name} are not of version {version}, which the package says")
    return f"version {version}"


def _changelog() -> str:
    releases = re.findall(
        r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    if tallystick.__version__ not in releases:
        raise NotReady(f"CHANGELOG.md has no release {tallystick.__version__}: give `Unreleased` its number and date")
    return "the changelog has this release"


def _metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        found = Metadata.from_email(packed.read(name), validate=True)
    missing = LABELS - {label.lower() for label in found.project_urls or {}}
    if missing or not found.summary or found.license_expression is None:
        raise NotReady(f"the metadata lacks a summary, a licence or an address: {sorted(missing)}")
    if found.description_content_type != "text/markdown" or not MarkdownIt().render(found.description or "").strip():
        raise NotReady("the description is no Markdown that renders")
    return "metadata is valid, and the description renders"


def _twine(*files: Path) -> str:
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if "No module named twine" in done.stderr:
        return "left out: twine check, twine is not installed"
    if done.returncode != 0:
        raise NotReady(done.stdout + done.stderr)
    return "twine check"


def _same_files(wheel: Path, sdist: Path, folder: Path) -> str:
    with tarfile.open(sdist) as packed:
        # Python before 3.11.4 has no filters.
        packed.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        packed.extractall(folder)
    (tree,) = folder.iterdir()
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "again")]
    subprocess.run(command, cwd=tree, capture_output=True, timeout=PATIENCE_S, check=True)
    here, there = (sorted(zipfile.ZipFile(one).namelist()) for one in (wheel, _only(folder / "again", "*.whl")))
    if here != there:
        raise NotReady(f"the sdist makes another wheel: {sorted(set(here) ^ set(there))[:5]}")
    return "the sdist makes the same wheel"


if __name__ == "__main__":
    main()
