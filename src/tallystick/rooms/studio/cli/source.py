"""The novel a command reads: a workspace, or a manuscript imported into a temporary workspace."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import MARKS, Here, Refused, Screen

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.rooms.studio.manuscript_import.model import Loss
    from tallystick.rooms.studio.manuscript_import.project_files import Origins


AS_THEY_ARE = (".txt", ".md", ".markdown")
"""File types that are read in place; others are imported first."""
_LOST_WORDS = frozenset({"chapter_unreadable", "endnote", "footnote", "front_matter", "text_box"})
"""Losses of an import that affect the prose."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A novel in an open gate."""

    gate: "Gate"
    origins: "Origins | None" = None
    """Where its lines come from, if it was imported; else its files are the author's own."""
    losses: tuple["Loss", ...] = ()
    """Parts of the manuscript that are not checked."""

    @property
    def damaged(self) -> bool:
        """Whether part of it could not be read."""
        return any(loss.kind == "chapter_unreadable" for loss in self.losses)

    def named(self, place: dict[str, Any]) -> dict[str, Any]:
        """A place in the author's terms: for an import, the manuscript's heading and paragraph."""
        if self.origins is None:
            return place
        rest = {name: value for name, value in place.items() if name not in {"path", "line", "end_line"}}
        return {**self.origins.of(place["path"], place["line"]).shown(), **rest}


def place_words(place: dict[str, Any]) -> str:
    """A named place for people."""
    if "line" in place:
        return f"{place['path']}:{place['line']}"
    from tallystick.rooms.studio.manuscript_import.project_files import Origin

    return Origin(**{name: place[name] for name in ("path", "chapter", "scene", "paragraph")}).words


@contextmanager
def opened(here: Here, source: Path | None) -> Iterator[Opened]:
    """The workspace, or a temporary one with the novel in it."""
    import tempfile

    if source is None:
        with here.gate(plugins=True) as gate:
            yield Opened(gate=gate)
        return
    if not source.exists():
        raise Refused(f"There is no {source}.", code="source_missing")
    if source.is_dir() and any((source / mark).exists() for mark in MARKS):
        with here.elsewhere(source).gate(plugins=True) as gate:
            yield Opened(gate=gate)
        return
    files, origins, losses = _taken(source)
    with tempfile.TemporaryDirectory(prefix="tally-check-") as folder:
        for path, data in files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        there = Here(named=Path(folder), screen=here.screen)
        with there.gate(plugins=True, make=True, rooms=["studio"]) as gate:
            yield Opened(gate=gate, origins=origins, losses=losses)


def _taken(source: Path) -> tuple[dict[str, bytes], "Origins | None", tuple["Loss", ...]]:
    """Path → content of the files to check; text files unchanged, so that line numbers are the author's."""
    from tallystick.rooms.studio.manuscript_import.importer import read_source
    from tallystick.rooms.studio.manuscript_import.project_files import Origins, files_of

    texts = {source.name: source} if source.is_file() and source.suffix.lower() in AS_THEY_ARE else {}
    if source.is_dir():
        texts = {
            path.relative_to(source).as_posix(): path
            for path in sorted(source.rglob("*"))
            if path.is_file() and path.suffix.lower() in AS_THEY_ARE and not _is_hidden(path.relative_to(source))
        }
    if texts:
        return {name: path.read_bytes() for name, path in texts.items()}, None, ()
    manuscript = read_source(source)
    losses = tuple(loss for loss in manuscript.losses if loss.kind in _LOST_WORDS)
    return files_of(manuscript), Origins(manuscript, source.name), losses


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def tell_complaints(screen: Screen, found: dict[str, Any]) -> None:
    """Show each complaint, and whether its file is missing from the book."""
    for one in found["complaints"]:
        lacking = f"left out ({one['left_out']}): " if one["left_out"] else ""
        screen.note(f"{lacking}{place_words(one)}: {one['code']}: {one['message']}")
