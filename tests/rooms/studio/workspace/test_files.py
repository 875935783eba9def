"""The tree, reading a file, and the outline."""

import os
import time
import unicodedata
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.workspace.files import FileTree, find_outline, read_text
from tallystick.rooms.studio.workspace.model import FileText, Node
from tallystick.storage import tree as stored_tree
from tallystick.storage.files import FileSources, decode
from tallystick.storage.tree import TreeFiles, count_lines
from tests.rooms.studio.workspace.conftest import SCENE, TEXT


def flat(node: Node) -> dict[str, Node]:
    found = {node.path: node}
    for child in node.children:
        inner = flat(child)
        assert not inner.keys() & found.keys()
        found |= inner
    return found


def look(project: Path) -> dict[str, Node]:
    root, complete = FileTree(TreeFiles(project)).look()
    assert complete
    return flat(root)


@pytest.mark.promise("studio.tree")
def test_the_tree_has_every_file_once_with_its_size_lines_and_hash(project: Path) -> None:
    (project / "Compendium/Characters").mkdir(parents=True)
    (project / "cover.png").write_bytes(b"\x89PNG\0")
    found = look(project)
    scene = found[SCENE]
    assert (scene.kind, scene.name, scene.lines, scene.size) == ("file", "SCN-arrival.md", 5, len(TEXT))
    assert scene.sha256 == sha256(TEXT.encode()).hexdigest()
    assert found["Compendium/Characters"].kind == "folder"
    assert (found["cover.png"].lines, found["cover.png"].size) == (None, 5)
    assert found["Story"].size == scene.size + found["Story/SCN-outline.md"].size
    assert set(FileSources(project).paths()) == {path for path, node in found.items() if node.kind == "file"}


@pytest.mark.promise("studio.tree")
def test_the_canon_stands_at_the_root_and_nowhere_else(project: Path) -> None:
    assert "Canon.md" not in look(project)
    index = project / ".control-room/canon/canon-index.md"
    index.parent.mkdir(parents=True)
    index.write_text("# Canon\n", encoding="utf-8")
    (project / "Canon.md").write_text("another\n", encoding="utf-8")
    (project / "Story/Compendium").mkdir()
    (project / "Story/Compendium/Canon.md").write_text("another\n", encoding="utf-8")
    found = look(project)
    assert [path for path in found if path.endswith("Canon.md")] == ["Canon.md"]
    assert (found["Canon.md"].role, found["Canon.md"].sha256) == ("canon", sha256(b"# Canon\n").hexdigest())
    assert not any(path.startswith(".") for path in found)


@pytest.mark.promise("studio.outline")
def test_the_outline_is_listed_once_wherever_it_is(project: Path) -> None:
    assert [path for path, node in look(project).items() if node.role == "outline"] == ["Story/SCN-outline.md"]
    (project / "Story/SCN-outline.md").rename(project / "Story/My Outline.md")
    assert [path for path, node in look(project).items() if node.role == "outline"] == ["Story/My Outline.md"]
    found = find_outline(FileSources(project))
    assert isinstance(found, FileText)
    assert found.path == "Story/My Outline.md"
    (project / "Story/My Outline.md").unlink()
    missing = find_outline(FileSources(project))
    assert isinstance(missing, Problem)
    assert missing.code == "outline_missing"


@pytest.mark.promise("studio.tree")
def test_links_devices_hidden_files_and_the_gates_own_places_are_not_listed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    (project / "away").symlink_to(tmp_path)
    os.mkfifo(project / "pipe.md")
    for path in (".hidden", ".git/config", ".control-room/audit/key", "tallystick.toml", "git~1/config", ".GIT /x"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("secret", encoding="utf-8")
    (project / "Notes\x07.md").write_text("x", encoding="utf-8")
    assert {path for path, node in look(project).items() if node.kind == "file"} == {SCENE, "Story/SCN-outline.md"}


@pytest.mark.promise("studio.tree")
def test_a_change_shows_and_what_has_not_changed_is_not_read_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns() + 10_000_000_000
    tree = FileTree(TreeFiles(project, clock_ns=lambda: now))
    tree.look()
    read: list[str] = []
    real = stored_tree._read
    monkeypatch.setattr(
        stored_tree, "_read", lambda folder, name, *more: read.append(name) or real(folder, name, *more)
    )
    tree.look()
    assert read == []
    (project / SCENE).write_text("new\n", encoding="utf-8")
    assert flat(tree.look()[0])[SCENE].lines == 1
    assert read == ["SCN-arrival.md"]


@pytest.mark.promise("studio.tree")
def test_two_names_that_agree_are_one_and_a_tree_without_end_is_cut(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / unicodedata.normalize("NFC", "é.md")).write_text("composed", encoding="utf-8")
    (project / unicodedata.normalize("NFD", "é.md")).write_text("taken apart", encoding="utf-8")
    assert look(project)["é.md"].size == len("composed")
    monkeypatch.setattr(stored_tree, "MAX_ENTRIES", 2)
    root, complete = FileTree(TreeFiles(project)).look()
    assert not complete
    assert len(flat(root)) == 3


@pytest.mark.promise("studio.tree")
@given(data=st.binary(max_size=60) | st.text(alphabet="ab\r\n", max_size=40).map(str.encode))
def test_lines_are_counted_as_quotes_count_them(data: bytes) -> None:
    counted = count_lines(data)
    if counted is None:
        with pytest.raises(PathRefused):
            decode(data)
    else:
        assert counted == len(Source(path="x", text=decode(data), sha256="").lines)


@pytest.mark.promise("studio.read")
def test_a_file_is_read_to_the_last_character(project: Path) -> None:
    files = FileSources(project)
    for data, encoding in (
        ("\ufeffwith a mark\r\n\n".encode(), "utf-8"), ("été\n".encode("cp1252"), "cp1252"), (b"\x81\xe9", "latin-1"),
        ("wide\n".encode("utf-16"), "utf-16"), (b"", "utf-8"),
    ):  # fmt: skip
        (project / "x.md").write_bytes(data)
        found = read_text(files, "x.md")
        assert isinstance(found, FileText)
        assert (found.encoding, found.sha256) == (encoding, sha256(data).hexdigest())
        if encoding == "utf-8":
            assert found.text.encode() == data
    (project / "x.md").write_bytes(b"a\0b")
    (project / "large.md").write_bytes(b"x" * (50 * 1024 * 1024))
    for path, code in (
        ("x.md", "not_text"),
        ("large.md", "too_large"),
        ("none.md", "not_found"),
        ("..", "path_outside"),
    ):
        refused = read_text(files, path)
        assert isinstance(refused, Problem)
        assert refused.code == code
    assert look(project)["large.md"].sha256 is None
