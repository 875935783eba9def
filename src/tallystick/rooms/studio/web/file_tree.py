"""The files of the project, folder by folder. Plain links, so that they work by keyboard and in a new tab."""

from urllib.parse import quote

from nicegui import ui

from tallystick.rooms.studio.workspace.nouns import Node


def file_tree(root: Node, here: str) -> None:
    """Show the tree, opened where one is."""
    with ui.element("div").classes("tally-tree"):
        for child in sorted(root.children, key=_order):
            _node(child, here)


def _node(node: Node, here: str) -> None:
    if node.kind == "folder":
        opened = here.startswith(f"{node.path}/") or node.path in {"Story", "Story/Scenes"}
        with ui.element("details").props("open" if opened else ""):
            with ui.element("summary"):
                ui.label(node.name)
            for child in sorted(node.children, key=_order):
                _node(child, here)
        return
    link = ui.link(node.name, f"/workspace?path={quote(node.path)}").classes("tally-file")
    if node.path == here:
        link.classes("tally-file-here").props('aria-current="page"')


def _order(node: Node) -> tuple[bool, str]:
    return node.kind == "file", node.name.casefold()
