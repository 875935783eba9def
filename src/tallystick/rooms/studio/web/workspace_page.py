"""The workspace page: files as a tree of plain links, proposed patches, and findings beside the text."""

from urllib.parse import quote

from nicegui import run, ui

from tallystick.doors.web.kit import NavigationItem, PageContext, Visitor, counted, empty, heading, page
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.studio.services.workspace import WorkspaceService
from tallystick.rooms.studio.web.editor import Editor
from tallystick.rooms.studio.web.findings import search_box
from tallystick.rooms.studio.workspace.model import Node


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


def register(context: PageContext) -> tuple[str, ...]:
    """Make the page."""
    context.places.append(
        NavigationItem(path="/workspace", name="Workspace", icon="menu_book", order=15, roles=EVERY_ROLE)
    )

    @page(context, "/workspace", "Workspace", roles=EVERY_ROLE)
    async def workspace(visitor: Visitor, path: str = "", line: int = 0) -> None:
        files = WorkspaceService(context.gate)
        found: tuple[Node, bool] | None = await run.io_bound(files.tree)
        if found is None or not found[0].children:
            heading("Workspace")
            empty(
                "No files yet",
                "Bring a manuscript: tally studio import MyNovel.docx — or begin: tally studio init",
                icon="menu_book",
            )
            return
        root = found[0]
        with ui.element("div").classes("tally-desk-grid"):
            with ui.column().classes("tally-side gap-2").props('role="navigation" aria-label="Files"'):
                search_box(context, visitor)
                file_tree(root, path)
            with ui.column().classes("gap-2 tally-grow"):
                if path:
                    await Editor(context, files, visitor, path, line).show()
                else:
                    heading(context.project, "Choose a file on the left")
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
