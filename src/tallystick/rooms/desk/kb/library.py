"""The knowledge base of one workspace: its folder, and the document paths that receipts show."""

from collections.abc import Callable
from pathlib import Path

from tallystick.errors import ConfigError, PathRefused, ToolError
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.reading.embedder import Embedder
from tallystick.rooms.desk.kb.knowledge import KnowledgeBase
from tallystick.rooms.desk.kb.model import Document
from tallystick.settings import CONTROL_ROOM
from tallystick.text.documents.model import DocumentRefused

FOLDER = "kb"
"""Where documents lie unless the settings name another folder."""


class Library:
    """One workspace's knowledge base, as its tools see it."""

    def __init__(self, kb: KnowledgeBase, workspace: Path) -> None:
        self.kb = kb
        self._prefix = _prefix(kb.root, workspace.resolve())

    def path_of(self, doc: str) -> str:
        """The path of a document in receipts: relative to the workspace, or `kb:…` outside it."""
        return f"{self._prefix}{doc}"

    def check(self) -> None:
        """Say what to do when there is no such folder.

        Raises:
            ToolError: There is none.
        """
        if not self.kb.is_there:
            hint = f'Put documents into {FOLDER}/, or name their folder: [rooms.desk] kb = "docs".'
            raise ToolError("There is no knowledge base.", unavailable=True, hint=hint)

    def open(self, doc: str) -> Document:
        """One document.

        Raises:
            ToolError: There is none, or it cannot be read; the hint says what to do.
        """
        try:
            found = self.kb.document(doc)
        except PathRefused as refused:
            raise ToolError(str(refused), status=404, hint="Name a document as kb.search does.") from None
        except DocumentRefused as why:
            raise ToolError(f"The document cannot be read: {why}", status=404, hint=str(why)) from None
        if found is None:
            raise ToolError("There is no such document.", status=404, hint="kb.search finds the documents there are.")
        return found


def open_library(
    workspace: Path,
    folder: object,
    *,
    choose_embedder: Callable[[], Embedder | None] = lambda: None,
    limits: ImportLimits = DEFAULT,
) -> Library:
    """The knowledge base that the settings name.

    Args:
        workspace: Whose.
        folder: Where its documents lie, relative to the workspace.
        choose_embedder: Loads the embedding model on first use; None: documents are found by their words alone.
        limits: How large a document may be.

    Raises:
        ConfigError: The setting is no path.
    """
    if not isinstance(folder, str) or not folder.strip() or "\0" in folder:
        raise ConfigError("rooms.desk.kb: give the path of a folder.", code="config_bad_value")
    root = (workspace / Path(folder).expanduser()).resolve()
    kept = workspace / CONTROL_ROOM / "desk" / "kb"
    return Library(KnowledgeBase(root, kept, choose_embedder=choose_embedder, limits=limits), workspace)


def _prefix(root: Path, workspace: Path) -> str:
    if root == workspace:
        return ""
    return f"{root.relative_to(workspace).as_posix()}/" if root.is_relative_to(workspace) else "kb:"
