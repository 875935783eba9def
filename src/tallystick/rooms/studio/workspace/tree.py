"""The tree of the workspace, nested: how files are found. No path is known beforehand but the names of the canon."""

from tallystick.rooms.studio.book.naming import is_prose_file
from tallystick.rooms.studio.book.reading import outline_path
from tallystick.rooms.studio.workspace.nouns import Node
from tallystick.storage.paths import CANON
from tallystick.storage.tree import Entry, TreeFiles


class Tree:
    """The tree of one workspace; what has not changed since the last look is not read again."""

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


def _path(entry: Entry) -> str:
    return "" if entry.is_folder else "/".join(entry.parts)


def _node(entry: Entry, outline: str | None) -> Node:
    path = "/".join(entry.parts)
    if entry.is_folder:
        return Node(name=entry.parts[-1], path=path, kind="folder")
    return Node(
        name=entry.parts[-1], path=path, kind="file", size=entry.size, lines=entry.lines, sha256=entry.sha256,
        role="outline" if path == outline else "canon" if entry.parts == CANON else None,
    )  # fmt: skip


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
