"""Reads the whole book from the workspace's files.

The role of a file follows from its folder and content: cards are under `Compendium`, scenes under `Story/Scenes`.
Other layouts work too: without such folders, a card is recognised by its folder, name or front matter, and every
other text is a scene. A file that cannot be read becomes a complaint that says what the book lacks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from threading import Lock

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.cards import kind_of, parse_card, settle_names
from tallystick.rooms.studio.book.front_matter import read_front_matter
from tallystick.rooms.studio.book.model import Book, CanonCard, Complaint, MissingRole, Outline, Role, Scene
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.book.paths import is_prose_file, kind_of_folder, kind_of_prefix, slug_of, stem_of
from tallystick.rooms.studio.book.scenes import in_reading_order, parse_scene
from tallystick.storage.files import OUTLINE, FileSources

MAX_FILES = 10_000
_CANON = "canon.md"
_NO_STORY = frozenset({"readme", "license", "licence", "changelog", "contributing", "canon", "todo", "notes"})
_NO_STORY_FOLDERS = frozenset({"notes", "research", "template", "templates", "archive", "trash", "docs", "private"})
_UNREAD = {
    "too_large": ("file_too_large", "The file is too large to be read. Split it into scenes."),
    "not_text": ("file_not_text", "The file holds no text. Save it as UTF-8 text or move it out of the story."),
    "too_many": ("too_many_files", f"Only the first {MAX_FILES} texts are read, and this is not one of them."),
}
Parsed = Scene | CanonCard | Outline
_Unread = tuple[str, str]
"""Path of a file, and why it was not read."""


class BookReader:
    """Reads the book of one workspace; unchanged files are cached."""

    def __init__(self, sources: FileSources) -> None:
        self.sources = sources
        self._lock = Lock()
        self._parsed: dict[tuple[Role, str, str], tuple[Parsed | None, tuple[Complaint, ...]]] = {}
        self._held: tuple[object, Book] | None = None

    def book(self) -> Book:
        """The current book. Bad file contents become complaints, not errors."""
        with self._lock:
            sources, unread = self._read()
            key = (tuple((source.path, source.sha256) for source in sources), unread)
            if self._held is None or self._held[0] != key:
                self._held = (key, self._bound(sources, unread))
            return self._held[1]

    def _read(self) -> tuple[list[Source], tuple[_Unread, ...]]:
        found: list[Source] = []
        paths = [path for path in self.sources.paths() if is_prose_file(path) and not _is_canon(path)]
        unread = [(path, "too_many") for path in paths[MAX_FILES:]]
        for path in paths[:MAX_FILES]:
            try:
                source = self.sources.read(path)
            except PathRefused as refused:
                unread.append((path, refused.code))
                continue
            if source is not None:
                found.append(source)
        return found, tuple(unread)

    def _bound(self, sources: list[Source], unread: tuple[_Unread, ...]) -> Book:
        kept = self._parsed
        self._parsed = {}
        places = FileRoles([*(source.path for source in sources), *(path for path, _ in unread)])
        complaints = [
            unreadable_file(path, code, role) for path, code in unread if (role := places.role_of(path)) is not None
        ]
        parsed: dict[Role, list[Parsed]] = {"card": [], "outline": [], "scene": []}
        for source in sources:
            role = places.role_of(source.path, source)
            if role is None:
                continue
            key = (role, source.path, source.sha256)
            held = kept.get(key) or _parse(role, source)
            self._parsed[key] = held
            complaints += held[1]
            if held[0] is not None:
                parsed[role].append(held[0])
        outline = next((one for one in parsed["outline"] if isinstance(one, Outline)), None)
        scenes = [one for one in parsed["scene"] if isinstance(one, Scene)]
        cards, taken = settle_names([one for one in parsed["card"] if isinstance(one, CanonCard)])
        ordered = (replace(scene, order=at) for at, scene in enumerate(in_reading_order(scenes, outline)))
        return Book(
            scenes=tuple(ordered),
            cards=tuple(cards),
            outline=outline,
            complaints=tuple(sorted([*complaints, *taken], key=lambda one: (one.path, one.line, one.code))),
        )


class FileRoles:
    """The role of each file of a project, by the layout of the whole."""

    def __init__(self, paths: Iterable[str]) -> None:
        known = list(paths)
        self._outline = outline_path(known)
        self._scenes = any(_in_scenes(path) and path != self._outline for path in known)
        self._compendium = any("compendium" in _folders(path) for path in known)

    def role_of(self, path: str, source: Source | None = None) -> Role | None:
        """The role of a file; None if it is not part of the book.

        Args:
            path: Where it is.
            source: What it says; where it could not be read, its place alone decides.
        """
        if path == self._outline:
            return "outline"
        if _in_scenes(path):
            return "scene"
        if self._is_card(path, source):
            return "card"
        return None if self._scenes or _is_no_story(path) else "scene"

    def _is_card(self, path: str, source: Source | None) -> bool:
        folders = _folders(path)
        if stem_of(path).casefold() in _NO_STORY or stem_of(path).startswith("_"):
            return False
        if "template" in folders or "templates" in folders:
            return False
        if self._compendium:
            return "compendium" in folders
        if kind_of_folder(path) or kind_of_prefix(path):
            return True
        # Only files outside the usual folders are opened to read their front matter.
        return source is not None and kind_of("", read_front_matter(source).fields) is not None


def outline_path(paths: Iterable[str]) -> str | None:
    """Which of the files is the outline: `Story/SCN-outline.md`, else the first that calls itself one."""
    named = [path for path in sorted(paths) if "outline" in stem_of(path).casefold()]
    if OUTLINE in named:
        return OUTLINE
    # Among the scenes only a file of just that name: a scene may be about an outline.
    return next((path for path in named if not _in_scenes(path) or slug_of(path).casefold() == "outline"), None)


def _is_no_story(path: str) -> bool:
    folders = _folders(path)
    return (
        stem_of(path).casefold() in _NO_STORY
        or stem_of(path).startswith("_")
        or "compendium" in folders
        or not _NO_STORY_FOLDERS.isdisjoint(folders)
    )


def _in_scenes(path: str) -> bool:
    folders = _folders(path)
    return "scenes" in folders and "compendium" not in folders


def _folders(path: str) -> list[str]:
    return [part.casefold() for part in path.split("/")[:-1]]


def _is_canon(path: str) -> bool:
    return path.casefold() == _CANON


def _parse(role: Role, source: Source) -> tuple[Parsed | None, tuple[Complaint, ...]]:
    complaints = [*_ill_coded(source)]
    front = read_front_matter(source)
    if front.complaint is not None:
        complaints.append(front.complaint)
    parsed: Parsed | Complaint
    if role == "scene":
        parsed = parse_scene(source)
    elif role == "card":
        parsed = parse_card(source)
    else:
        parsed = parse_outline(source)
    if isinstance(parsed, Complaint):
        return None, (*complaints, parsed)
    return parsed, tuple(complaints)


def _ill_coded(source: Source) -> Iterator[Complaint]:
    """A file that is neither UTF-8 nor UTF-16 was read as older editors wrote; accents may be wrong."""
    for coding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        if sha256(source.text.encode(coding, errors="replace")).hexdigest() == source.sha256:
            return
    big = b"\xfe\xff" + source.text.encode("utf-16-be", errors="replace")
    if sha256(big).hexdigest() == source.sha256:
        return
    message = "The file is not valid UTF-8; it was read as Western European text. Save it as UTF-8."
    yield Complaint(code="file_not_utf8", path=source.path, line=_odd_line(source), message=message)


def _odd_line(source: Source) -> int:
    return next((number for number, line in enumerate(source.lines, 1) if not line.isascii()), 1)


def unreadable_file(path: str, code: str, role: MissingRole) -> Complaint:
    """The complaint about a file that was not read."""
    named, message = _UNREAD.get(code, ("file_unreadable", "The file cannot be opened. See to its permissions."))
    return Complaint(code=named, path=path, line=1, message=message, left_out=role)
