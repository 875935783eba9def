"""Workspace: the author's files, what is proposed to change in them, and what the checkers found beside the text."""

from nicegui import run, ui

from tallystick.doors.web.kit import PageContext, Place, Visitor, counted, empty, heading, page
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.studio.services.workspace import Workspace
from tallystick.rooms.studio.web.editor import Editor
from tallystick.rooms.studio.web.file_tree import file_tree
from tallystick.rooms.studio.web.findings import search_box
from tallystick.rooms.studio.workspace.nouns import Node


def register(house: PageContext) -> tuple[str, ...]:
    """Make the page."""
    house.places.append(Place(path="/workspace", name="Workspace", icon="menu_book", order=15, roles=EVERY_ROLE))

    @page(house, "/workspace", "Workspace", roles=EVERY_ROLE)
    async def workspace(visitor: Visitor, path: str = "", line: int = 0) -> None:
        files = Workspace(house.gate)
        found: tuple[Node, bool] | None = await run.io_bound(files.tree)
        if found is None or not found[0].children:
            heading("Workspace")
            empty(
                "No files yet", "Bring a manuscript: tally studio import MyNovel.docx — or begin: tally studio init",
                icon="menu_book",
            )  # fmt: skip
            return
        root = found[0]
        with ui.element("div").classes("tally-desk-grid"):
            with ui.column().classes("tally-side gap-2").props('role="navigation" aria-label="Files"'):
                search_box(house, visitor)
                file_tree(root, path)
            with ui.column().classes("gap-2 tally-grow"):
                if path:
                    await Editor(house, files, visitor, path, line).show()
                else:
                    heading(house.project, "Choose a file on the left")
                    _overview(root)

    return ("/workspace",)


def _overview(root: Node) -> None:
    for child in root.children:
        if child.kind == "folder":
            files, size = _sums(child)
            ui.label(f"{child.name}: {counted(files, 'file')}, {size / 1000:,.0f} kB").classes("tally-soft")


def _sums(node: Node) -> tuple[int, int]:
    if node.kind == "file":
        return 1, node.size
    inside = [_sums(child) for child in node.children]
    return sum(files for files, _ in inside), sum(size for _, size in inside)
