"""Path attacks on what writes: none leaves the workspace, reaches the gate's own places or makes a second name."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import PathRefused
from tallystick.rooms.studio.workspace.model import GONE, Change, Patch
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import FileSources
from tests.house.sources import ROOT
from tests.rooms.studio.workspace.conftest import SCENE
from tests.sizes import size

VECTORS = json.loads((ROOT / "tests/vectors/studio_paths.json").read_text(encoding="utf-8"))
MARK = b"written by an attack"
CODES = {
    "outside": {"path_outside", "bad_path"},
    "protected": {"path_protected"},
    "unfit": {"bad_path"},
    "taken": {"name_taken"},
}


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


@pytest.mark.promise("studio.write-inside")
@pytest.mark.parametrize("kind", sorted(CODES))
def test_names_that_may_not_be_written_are_refused_with_their_code(project: Path, kind: str) -> None:
    files = FileSources(project)
    (project / ".control-room").mkdir()
    before = everything(project.parent)
    for path in VECTORS[kind]:
        with pytest.raises(PathRefused) as refused:
            files.write(path, MARK)
        assert refused.value.code in CODES[kind], path
        assert everything(project.parent) == before, path


@pytest.mark.promise("studio.write-inside")
def test_names_that_only_look_odd_can_be_written_and_removed(project: Path) -> None:
    files = FileSources(project)
    for path in VECTORS["fine"]:
        digest = files.write(path, b"mine", base_sha256="")
        assert files.read_bytes(path).data == b"mine"
        files.remove(path, base_sha256=digest)
        with pytest.raises(PathRefused) as refused:
            files.remove(path, base_sha256="")
        assert refused.value.code == "not_found"


@pytest.mark.promise("studio.write-inside")
def test_a_proposal_on_such_a_path_is_refused_before_anything_is_kept(revisions: Revisions, project: Path) -> None:
    for path in (path for kind in ("outside", "protected", "unfit") for path in VECTORS[kind]):
        result = revisions.propose(Change(path=path, base_sha256=GONE, text="x"), by="ada", now="now")
        assert not isinstance(result, Patch), path
    assert revisions.kept.patches() == []
    assert not (project / ".control-room/workspace/snapshots").exists()


@pytest.mark.promise("studio.write-inside")
def test_links_are_not_written_through(revisions: Revisions, project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("theirs", encoding="utf-8")
    (project / "away").symlink_to(tmp_path / "outside")
    (project / "Story/link.md").symlink_to(tmp_path / "outside/x.md")
    for path in ("away/x.md", "away/new.md", "Story/link.md"):
        change = Change(path=path, base_sha256=GONE, text="mine")
        result = revisions.propose(change, by="ada", now="now")
        if isinstance(result, Patch):
            result = revisions.apply(result.patch_id, by="ada", now="now")
        assert not isinstance(result, Patch)
    assert (tmp_path / "outside/x.md").read_text(encoding="utf-8") == "theirs"
    assert not (tmp_path / "outside/new.md").exists()


def payloads(data: Path) -> Iterator[str]:
    lists = [*(data / "seclists/dev/Fuzzing/LFI").rglob("*.txt")]
    lists += (data / "payloads-all-the-things/dev").glob("File Inclusion/Intruders/*.txt")
    lists += (data / "payloads-all-the-things/dev").glob("Directory Traversal/Intruder/*.txt")
    for path in sorted(lists):
        yield from path.read_bytes().decode("utf-8", errors="surrogateescape").splitlines()


@pytest.mark.promise("studio.write-inside")
def test_no_payload_of_the_lists_writes_outside(project: Path, data: Path) -> None:
    if not (data / "seclists").is_dir():
        pytest.skip("left out: lists of path payloads, TALLY_DATA not there")
    files = FileSources(project)
    outside = everything(project.parent)
    mine = {path for path in outside if path == project.name or path.startswith(f"{project.name}/")}
    tried = wrote = 0
    for raw in list(payloads(data))[:: size(7, 1)]:
        for payload in dict.fromkeys([raw, unquote(raw), unquote(unquote(raw))]):
            tried += 1
            try:
                files.write(payload, MARK)
                wrote += 1
            except PathRefused:
                continue
    assert tried > 100
    after = everything(project.parent)
    assert {path: after[path] for path in outside.keys() - mine} == {
        path: outside[path] for path in outside.keys() - mine
    }
    new = after.keys() - outside.keys()
    assert all(path.startswith(f"{project.name}/") for path in new)
    assert not any(".control-room" in path.casefold() or "/.git" in path.casefold() for path in new)
    assert (project / SCENE).read_bytes() != MARK


@pytest.mark.promise("studio.write-inside")
@settings(max_examples=size(200, 5000))
@given(
    path=st.lists(
        st.sampled_from(["..", ".", "Story", ".control-room", ".git", "a", "/", "\\", "~", "C:", "con", "x.md", " ", "\u200c"]),
        min_size=1, max_size=6,
    ).map("/".join) | st.text(max_size=20)
)  # fmt: skip
def test_no_path_whatever_writes_outside_or_into_the_gates_places(
    tmp_path_factory: pytest.TempPathFactory, path: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "project").mkdir()
    with suppress(PathRefused):
        FileSources(folder / "project").write(path, MARK)
    assert {entry.name for entry in folder.iterdir()} == {"project"}
    made = [each.relative_to(folder / "project") for each in (folder / "project").rglob("*")]
    assert not {".control-room", ".git", "tallystick.toml"} & {part.casefold() for each in made for part in each.parts}
