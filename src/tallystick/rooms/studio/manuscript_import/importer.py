"""Imports a manuscript: reads the source, writes what is new, and keeps the author's own changes.

An import stores the hash of every file it writes. The next import updates a file that still has this hash; a file that
the author has changed stays, and if the source has changed too, the new version becomes a proposal.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError, PathRefused
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.manuscript_import.docx import read_docx
from tallystick.rooms.studio.manuscript_import.epub import read_epub
from tallystick.rooms.studio.manuscript_import.folder import SourceFiles, read_folder
from tallystick.rooms.studio.manuscript_import.markdown import read_markdown
from tallystick.rooms.studio.manuscript_import.model import ImportReport, Losses, Manuscript, SourceRefused
from tallystick.rooms.studio.manuscript_import.novelwriter import PROJECT, read_novelwriter
from tallystick.rooms.studio.manuscript_import.plain_text import read_plain
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tallystick.rooms.studio.workspace.files import current_bytes
from tallystick.rooms.studio.workspace.model import GONE, Change, Version
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import FileSources
from tallystick.storage.json_file import JsonFile
from tallystick.text.documents.model import DocumentRefused
from tallystick.text.encoding import decode_text

FORMATS = (".md", ".markdown", ".txt", ".docx", ".epub", ".nwx")
_WRITTEN_AT_ONCE = 50
"""Files written under one lock, so that other writers do not wait long."""


def read_source(source: Path, limits: ImportLimits = DEFAULT) -> Manuscript:
    """Read a file or folder in any supported format.

    Raises:
        SourceRefused: It cannot be read; the message says what to do.
    """
    losses = Losses()
    manuscript = _read(source, losses, limits)
    told = losses.told()
    return Manuscript(
        format=manuscript.format,
        title=manuscript.title,
        author=manuscript.author,
        chapters=manuscript.chapters,
        cards=manuscript.cards,
        carried=manuscript.carried,
        losses=told,
    )


def import_manuscript(
    source: Path,
    *,
    files: FileSources,
    revisions: Revisions,
    by: str,
    now: str,
    advance: Callable[[int, int], None] | None = None,
    limits: ImportLimits = DEFAULT,
) -> ImportReport | Problem:
    """Import a source.

    Args:
        source: The file or folder.
        files: The author's files.
        revisions: Their changes.
        by: Who imports.
        now: When.
        advance: Told how many files of how many are done.
        limits: How much may be read.
    """
    try:
        manuscript = read_source(source, limits)
    except DocumentRefused as refused:
        return Problem(code=refused.code, message=str(refused))
    wanted = files_of(manuscript)
    if not wanted:
        return Problem(code="nothing_to_import", message=f"{source.name:.100} holds no text to import.")
    return _Import(files, revisions, by=by, now=now).bring(manuscript, wanted, advance or _nobody)


class _Import:
    def __init__(self, files: FileSources, revisions: Revisions, *, by: str, now: str) -> None:
        self._files, self._revisions, self._by, self._now = files, revisions, by, now
        self._told: dict[str, list[str]] = {name: [] for name in ("written", "updated", "unchanged", "kept")}
        self._conflicts: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def bring(
        self, manuscript: Manuscript, wanted: Mapping[str, bytes], advance: Callable[[int, int], None]
    ) -> ImportReport:
        memory = ImportMemory(self._revisions.kept)
        before = memory.written()
        self._put([each for path, data in wanted.items() for each in self._needed(path, data, before)], advance)
        refused = self._refused
        memory.remember(
            {path: sha256(data).hexdigest() for path, data in wanted.items() if path not in refused},
            title=manuscript.title,
            author=manuscript.author,
        )
        digest = sha256()
        for path in sorted(wanted):
            digest.update(f"{path}\0{sha256(wanted[path]).hexdigest()}\n".encode())
        lists = {name: tuple(sorted(paths)) for name, paths in self._told.items()}
        return ImportReport(
            format=manuscript.format,
            title=manuscript.title,
            author=manuscript.author,
            source_sha256=digest.hexdigest(),
            conflicts=self._conflicts,
            refused=refused,
            losses=manuscript.losses,
            **lists,
        )

    def _needed(self, path: str, data: bytes, before: Mapping[str, str]) -> list[tuple[str, str, bytes]]:
        """Decide what a file of the source needs: nothing, a write, or a proposal."""
        try:
            current, _ = current_bytes(self._files, path)
        except PathRefused as refused:
            self._refused[path] = refused.code
            return []
        new = sha256(data).hexdigest()
        last = before.get(path)
        if current == new:
            self._told["unchanged"].append(path)
        elif last == new:
            self._told["kept"].append(path)
        elif current == GONE and last is None:
            self._told["written"].append(path)
            return [(path, GONE, data)]
        elif current == last:
            self._told["updated"].append(path)
            return [(path, current, data)]
        else:
            self._propose(path, current, data)
        return []

    def _propose(self, path: str, current: str, data: bytes) -> None:
        """Both sides have changed, or a file of this name was there before: the author decides."""
        waiting = [patch for patch in self._revisions.kept.patches() if patch.path == path]
        new = sha256(data).hexdigest()
        same = [patch for patch in waiting if patch.new_sha256 == new and patch.base_sha256 == current]
        if same:
            # Already proposed; proposing it again would change nothing.
            if same[0].state == "proposed":
                self._conflicts[path] = same[0].patch_id
            else:
                self._told["kept"].append(path)
            return
        told = decode_text(data)
        change = Change(path=path, base_sha256=current, text="" if told is None else told.text, note="Imported again.")
        patch = self._revisions.propose(change, by=self._by, now=self._now, origin="import")
        if isinstance(patch, Problem):
            self._refused[path] = patch.code
        else:
            self._conflicts[path] = patch.patch_id

    def _put(self, needed: list[tuple[str, str, bytes]], advance: Callable[[int, int], None]) -> None:
        for at in range(0, len(needed), _WRITTEN_AT_ONCE):
            some = needed[at : at + _WRITTEN_AT_ONCE]
            done = self._revisions.put_all(some, by=self._by, now=self._now, origin="import")
            for path, result in done.items():
                if not isinstance(result, Version):
                    self._refused[path] = result.code
                    for paths in self._told.values():
                        paths[:] = [each for each in paths if each != path]
            advance(at + len(some), len(needed))


class ImportMemory:
    """`.control-room/workspace/imports.json`: what imports wrote, by path, and what the book is called."""

    def __init__(self, kept: PatchStore) -> None:
        self._file = JsonFile(kept.folder / "imports.json", code="imports_damaged")

    def written(self) -> dict[str, str]:
        """Path → hash of what the last import wrote there."""
        held = (self._file.read() or {}).get("files", {})
        if not isinstance(held, dict) or not all(isinstance(each, str) for each in held.values()):
            raise self._file.damaged("'files' is not what it should be")
        return held

    def called(self) -> tuple[str, str]:
        """Title and author of the book, as the last import knew them."""
        try:
            held: dict[str, Any] = self._file.read() or {}
        except ConfigError:
            held = {}
        return str(held.get("title", "")), str(held.get("author", ""))

    def remember(self, files: Mapping[str, str], *, title: str, author: str) -> None:
        """Record what an import wrote; nothing is written if unchanged."""
        with self._file.locked():
            held = self._file.read() or {}
            known: dict[str, Any] = {"files": {**held.get("files", {}), **files}}
            known |= {"title": title or held.get("title", ""), "author": author or held.get("author", "")}
            if known != {name: value for name, value in held.items() if name != "version"}:
                self._file.write(known)


def _read(source: Path, losses: Losses, limits: ImportLimits) -> Manuscript:
    if source.is_dir():
        is_project = (source / PROJECT).is_file()
        return (read_novelwriter if is_project else read_folder)(source, losses, limits)
    if not source.is_file():
        # Opening a pipe would wait for its writer.
        raise SourceRefused(f"{source.name:.100} is neither a file nor a folder.", code="source_unreadable")
    ending = source.suffix.lower()
    if ending in {".docx", ".epub"}:
        return (read_docx if ending == ".docx" else read_epub)(source, losses, limits)
    if ending == ".nwx":
        return read_novelwriter(source.parent, losses, limits)
    if ending not in FORMATS:
        message = f"{source.name:.100} is in no format that is read: {', '.join(FORMATS)}, or a folder of Markdown."
        raise SourceRefused(message, code="format_unknown")
    told = decode_text(SourceFiles(limits).read(source), guess=True)
    if told is None:
        raise SourceRefused(f"{source.name:.100} holds no text.", code="not_text")
    if not told.encoding.startswith("utf-"):
        losses.add("encoding", source.name)
    text = told.text.removeprefix("\ufeff")
    return (read_plain if ending == ".txt" else read_markdown)(text, source.name, losses)


def _nobody(_done: int, _total: int) -> None:
    """Ignore progress."""
