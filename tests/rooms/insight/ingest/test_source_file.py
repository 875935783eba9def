import os
from pathlib import Path

import pytest

from tallystick.rooms.insight.ingest.source_file import opened, put_upload, remove_upload
from tallystick.rooms.insight.ingest.table import UnusableFile


def refused(workspace: Path, path: str) -> tuple[str, int | None]:
    with pytest.raises(UnusableFile) as caught, opened(workspace, path):
        raise AssertionError(path)
    return caught.value.code, caught.value.status


@pytest.mark.promise("insight.paths")
@pytest.mark.parametrize(
    "path",
    [
        "../a.csv",
        "/etc/passwd",
        "a/../../b.csv",
        "C:\\a.csv",
        "~/a.csv",
        "link.csv",
        "linked/a.csv",
        "folder",
        ".git/config",
        ".control-room/tallystick.db",
        ".control-room/uploads/../tallystick.db",
        ".control-room/uploads/.hidden",
        ".control-room/uploads/a/b.csv",
        "/proc/self/environ",
        "pipe",
        "a\0.csv",
        ".control-room/uploads/link",
    ],
)
def test_what_is_no_plain_file_of_the_workspace_is_refused(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "ws"
    (workspace / ".control-room" / "uploads").mkdir(parents=True)
    (workspace / ".control-room" / "tallystick.db").write_text("text\nsecret\n")
    (workspace / ".control-room" / "uploads" / ".hidden").write_text("text\nsecret\n")
    (workspace / "folder").mkdir()
    (tmp_path / "a.csv").write_text("text\nsecret\n")
    (workspace / "link.csv").symlink_to(tmp_path / "a.csv")
    (workspace / ".control-room" / "uploads" / "link").symlink_to(tmp_path / "a.csv")
    (workspace / "linked").symlink_to(tmp_path)
    os.mkfifo(workspace / "pipe")
    assert refused(workspace, path)[0] == "path_refused"


@pytest.mark.promise("insight.paths")
def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    assert refused(tmp_path, "a.csv") == ("not_found", 404)
    assert refused(tmp_path, ".control-room/uploads/abc.csv") == ("not_found", 404)


@pytest.mark.promise("insight.paths")
def test_an_upload_gets_a_made_up_name_is_read_and_can_be_removed(tmp_path: Path) -> None:
    path = put_upload(tmp_path, "../Anna Berg.CSV", [b"text\n", b"a\n"], random=bytes)
    assert path == f".control-room/uploads/{'00' * 12}.csv"
    assert (tmp_path / path).stat().st_mode & 0o077 == 0
    with opened(tmp_path, path) as file, file.reader() as reader:
        assert reader.read() == b"text\na\n"
    remove_upload(tmp_path, path)
    assert not (tmp_path / path).exists()
    (tmp_path / "b.csv").write_text("text\na\n")
    remove_upload(tmp_path, "b.csv")
    assert (tmp_path / "b.csv").exists()


@pytest.mark.promise("insight.hostile")
def test_a_file_that_is_too_large_is_refused_and_nothing_of_it_kept(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile) as caught:
        put_upload(tmp_path, "a.csv", iter([b"x" * 60, b"x" * 60]), random=bytes, max_bytes=100)
    assert caught.value.code == "too_large"
    assert list((tmp_path / ".control-room" / "uploads").iterdir()) == []
    # Holes take no space, so this costs nothing.
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(2 * 1024**3 + 1)
    assert refused(tmp_path, "large.csv") == ("too_large", 400)


@pytest.mark.promise("insight.whole")
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\na\n")
    with opened(tmp_path, "a.csv") as file:
        file.check_unchanged()
        with (tmp_path / "a.csv").open("a") as more:
            more.write("b\n")
        with pytest.raises(UnusableFile) as caught:
            file.check_unchanged()
    assert (caught.value.code, caught.value.status) == ("file_changed", 409)
