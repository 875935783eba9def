"""What `make release` relies on, without building twice: one version, a changelog of releases, and checks that can fail."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tallystick
from tests.house.sources import ROOT
from tests.install import release
from tests.install.release import NotReady

pytestmark = pytest.mark.promise("install.release")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both files, as `make release` builds them."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return folder


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/tallystick/__init__.py"


def test_what_was_built_passes_every_check_that_needs_no_index(dist: Path, tmp_path: Path) -> None:
    wheel, sdist = release._only(dist, "*.whl"), release._only(dist, "*.tar.gz")
    assert tallystick.__version__ in release._versions(wheel, sdist)
    release._metadata(wheel)
    release._twine(wheel, sdist)
    release._same_files(wheel, sdist, tmp_path)
    release._changelog()


def test_files_of_another_version_or_a_missing_release_hold_it_back(
    dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel, sdist = release._only(dist, "*.whl"), release._only(dist, "*.tar.gz")
    monkeypatch.setattr(tallystick, "__version__", "9.9.9")
    with pytest.raises(NotReady, match=r"9\.9\.9"):
        release._versions(wheel, sdist)
    with pytest.raises(NotReady, match="no release"):
        release._changelog()


def test_a_folder_with_anything_but_one_of_each_holds_it_back(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="should be one file"):
        release.check(tmp_path)


def test_the_changelog_lists_releases_the_newest_first_below_what_is_unreleased() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    dates = [re.fullmatch(r"\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d)", head) for head in heads[1:]]
    assert all(dates)
    assert [date[1] for date in dates if date] == sorted((date[1] for date in dates if date), reverse=True)
    for name in re.findall(r"^## \[(.+?)\]", text, re.MULTILINE):
        assert f"\n[{name}]: https://" in text
