"""The workspace's file tree and file contents. A text is read with every character, so that its hash stays valid."""

from hashlib import sha256

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused
from tallystick.rooms.studio.book.paths import is_prose_file
from tallystick.rooms.studio.book.reader import outline_path
from tallystick.rooms.studio.workspace.model import GONE, FileText, Node
from tallystick.storage.files import MAX_BYTES, OUTLINE, FileSources
from tallystick.storage.paths import CANON
from tallystick.storage.tree import FolderEntry, TreeFiles, count_lines
from tallystick.text.encoding import decode_text


def read_text(files: FileSources, path: str) -> FileText | Problem:
    """A text file, or why not: `not_found`, `not_text`, `too_large`, or the path itself is refused."""
    try:
        found = files.read_bytes(path)
    except PathRefused as refused:
        return Problem(code=refused.code, message=str(refused))
    if found.truncated:
        return Problem(code="too_large", message=f"The file is larger than {MAX_BYTES} bytes; split it.")
    told = decode_text(found.data)
    if told is None:
        return Problem(code="not_text", message="The file holds no text.")
    digest, lines = sha256(found.data).hexdigest(), count_lines(found.data) or 0
    return FileText(path=found.path, text=told.text, sha256=digest, lines=lines, encoding=told.encoding)


def find_outline(files: FileSources) -> FileText | Problem:
    """The outline's file, at its usual place or wherever one calls itself so."""
    path = outline_path(path for path in files.paths() if is_prose_file(path))
    if path is None:
        message = f"There is no outline. Write one as {OUTLINE}, or rename a Markdown file to it."
        return Problem(code="outline_missing", message=message)
    return read_text(files, path)


def current_bytes(files: FileSources, path: str) -> tuple[str, bytes]:
    """Hash and content of a file; `GONE` if it does not exist.

    Raises:
        PathRefused: The path is refused, or names no plain file, or the file is too large.
    """
    try:
        found = files.read_bytes(path)
    except PathRefused as refused:
        if refused.code == "not_found":
            return GONE, b""
        raise
    if found.truncated or found.sha256 is None:
        raise PathRefused(f"The file is larger than {MAX_BYTES} bytes; split it.", code="too_large")
    return found.sha256, found.data


class FileTree:
    """The file tree of one workspace; unchanged files are cached."""

    def __init__(self, files: TreeFiles) -> None:
        self._files = files

    def look(self) -> tuple[Node, bool]:
        """The root with all below it, folders first and then by name; and whether that is all there is."""
        entries, complete = self._files.entries()
        root = Node(name="", path="", kind="folder")
        folders: dict[tuple[str, ...], Node] = {(): root}
        outline = outline_path(path for path in map(_path, entries) if is_prose_file(path))
        for entry in entries:
            node = _node(entry, outline)
            folders[entry.parts[:-1]].children.append(node)
            if entry.is_folder:
                folders[entry.parts] = node
        return _finished(root), complete


def _path(entry: FolderEntry) -> str:
    return "" if entry.is_folder else "/".join(entry.parts)


def _node(entry: FolderEntry, outline: str | None) -> Node:
    path = "/".join(entry.parts)
    if entry.is_folder:
        return Node(name=entry.parts[-1], path=path, kind="folder")
    return Node(
        name=entry.parts[-1],
        path=path,
        kind="file",
        size=entry.size,
        lines=entry.lines,
        sha256=entry.sha256,
        role="outline" if path == outline else "canon" if entry.parts == CANON else None,
    )


def _finished(node: Node) -> Node:
    """With its children in order and their sizes added up."""
    if node.kind == "file":
        return node
    children = sorted(
        (_finished(child) for child in node.children), key=lambda child: (child.kind == "file", child.name)
    )
    return Node(
        name=node.name, path=node.path, kind="folder", size=sum(child.size for child in children), children=children
    )
