"""Reads a folder of Markdown files: a project, a vault of notes and scenes, or one file per chapter.

Files are copied as they are, including front matter and wikilinks; only their location changes. Symbolic links are not
followed.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tallystick.gate.reply.sources import Source
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.studio.book.cards import kind_of
from tallystick.rooms.studio.book.front_matter import read_front_matter, text_of
from tallystick.rooms.studio.book.numbers import natural
from tallystick.rooms.studio.book.paths import FOLDERS, SCENES, is_prose_file, slug_of, slugged, stem_of
from tallystick.rooms.studio.manuscript_import.markdown import count_images, pieces_of
from tallystick.rooms.studio.manuscript_import.model import ChapterDraft, Losses, Manuscript, Piece, SourceRefused
from tallystick.rooms.studio.manuscript_import.structure import assemble
from tallystick.storage.files import MAX_BYTES, OUTLINE
from tallystick.text.documents.archive import too_large
from tallystick.text.encoding import decode_text

MAX_FILES = 10_000
_STORY_FOLDERS = frozenset(
    {"scenes", "chapters", "manuscript", "draft", "drafts", "story", "novel", "book", "text", "scene", "chapter"}
)
_STORY_TYPES = frozenset({"scene", "chapter"})
_ASIDE = re.compile(r"(?i)(?:readme|licen[cs]e|changelog|todo|index|notes?|synopsis|contributing)\Z")
_ASIDE_FOLDERS = frozenset({"notes", "research", "templates", "template", "archive", "trash", "docs"})


def read_folder(folder: Path, losses: Losses, limits: ImportLimits = DEFAULT) -> Manuscript:
    """All Markdown and text files of a folder.

    Raises:
        SourceRefused: There is none, there are too many, or one is too large.
    """
    texts: dict[str, bytes] = {}
    files = SourceFiles(limits)
    for path in _files(folder):
        if not is_prose_file(path):
            losses.add("attachment", path)
            continue
        data = files.read(folder / path)
        told = decode_text(data, guess=True)
        if told is None:
            losses.add("attachment", path)
            continue
        if told.encoding != "utf-8":
            losses.add("encoding", path)
        count_images(told.text, path, losses)
        # The workspace's files are UTF-8, whatever they were.
        texts[path] = data if told.encoding == "utf-8" else told.text.removeprefix("\ufeff").encode()
    if not texts:
        raise SourceRefused(f"{folder.name:.100} holds no Markdown and no text files.", code="nothing_to_import")
    if any(path.split("/")[0] in {"Story", "Compendium"} for path in texts):
        return Manuscript(format="folder", title=folder.name, author="", carried=_own(texts, losses))
    return _vault(folder.name, texts, losses)


class SourceFiles:
    """Reads the files of one import; together they stay within the limit, one that is read again counted again."""

    def __init__(self, limits: ImportLimits = DEFAULT) -> None:
        self._limits = limits
        self._read = 0

    def read(self, path: Path) -> bytes:
        """The bytes of one file of a source.

        Raises:
            SourceRefused: It is not there, is no plain file, or is too large, by itself or with the others.
        """
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            message = f"{path.name:.100} cannot be read: {error.strerror or error}."
            raise SourceRefused(message, code="source_unreadable") from None
        if len(data) > MAX_BYTES:
            raise too_large(path.name, MAX_BYTES)
        self._read += len(data)
        if self._read > self._limits.total_bytes:
            message = "The files of the source come to too much. Import them in parts, or raise "
            raise SourceRefused(f"{message}{self._limits.named('total_bytes')}.", code="source_too_large")
        return data


def _files(folder: Path) -> list[str]:
    """The plain files below a folder, hidden ones and links left out."""
    found: list[str] = []
    for where, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            path = Path(where) / name
            if not name.startswith(".") and not path.is_symlink() and path.is_file():
                found.append(path.relative_to(folder).as_posix())
        if len(found) > MAX_FILES:
            raise SourceRefused(f"{folder.name:.100} holds more than {MAX_FILES} files.", code="source_too_large")
    return sorted(found, key=natural)


def _own(texts: dict[str, bytes], losses: Losses) -> dict[str, bytes]:
    """A project in our own layout stays as it is, but for the canon, which is compiled."""
    for path in ("Canon.md", "Story/Compendium/Canon.md"):
        if texts.pop(path, None) is not None:
            losses.add("not_carried", path)
    return texts


def _vault(name: str, texts: dict[str, bytes], losses: Losses) -> Manuscript:
    carried: dict[str, bytes] = {}
    story: list[str] = []
    told = {path: data.decode() for path, data in texts.items()}
    in_folders = any(_folders(path) & _STORY_FOLDERS for path in texts)
    for path, text in told.items():
        fields = read_front_matter(Source(path=path, text=text, sha256="")).fields
        kind = kind_of(path, fields)
        is_story = bool(_folders(path) & _STORY_FOLDERS) or text_of(fields.get("type")) in _STORY_TYPES
        if "outline" in stem_of(path).casefold() and OUTLINE not in carried:
            carried[OUTLINE] = texts[path]
        elif kind is not None and not is_story:
            carried[_free(f"Compendium/{FOLDERS[kind]}/{stem_of(path)}.md", carried)] = texts[path]
        elif is_story or (not in_folders and not _is_aside(path)):
            story.append(path)
        else:
            carried[_free(f"Notes/{path.replace('/', ' - ')}", carried)] = texts[path]
    title = ""
    chapters: tuple[ChapterDraft, ...] = ()
    split = [path for path in story if _has_several(told[path])]
    if split:
        pieces = [piece for path in story for piece in _chapter(path, told[path])]
        title, chapters = assemble(pieces, losses, name)
    else:
        for path in story:
            slug = slugged(slug_of(path)) or "scene"
            carried[_free(f"{SCENES}/SCN-{slug}.md", carried)] = texts[path]
    return Manuscript(format="folder", title=title or name, author="", chapters=chapters, carried=carried)


def _has_several(text: str) -> bool:
    """Whether a file is more than one scene."""
    _, pieces = pieces_of(text, "")
    return any(piece.kind == "break" for piece in pieces) or sum(piece.kind == "heading" for piece in pieces) > 1


def _chapter(path: str, text: str) -> Iterator[Piece]:
    """One file of many; without a heading its name is one."""
    front, pieces = pieces_of(text, path)
    named = text_of(front.fields.get("title"))
    if not pieces or pieces[0].kind != "heading":
        yield Piece(kind="heading", text=named or stem_of(path), level=1)
    yield from pieces


def _is_aside(path: str) -> bool:
    return _ASIDE.match(stem_of(path)) is not None or bool(_folders(path) & _ASIDE_FOLDERS)


def _folders(path: str) -> set[str]:
    return {part.casefold() for part in path.split("/")[:-1]}


def _free(path: str, taken: dict[str, bytes]) -> str:
    """A path that is not taken yet, however careless the file system."""
    names = {name.casefold() for name in taken}
    stem, dot, ending = path.rpartition(".")
    number = 2
    free = path
    while free.casefold() in names:
        free = f"{stem}-{number}{dot}{ending}"
        number += 1
    return free
