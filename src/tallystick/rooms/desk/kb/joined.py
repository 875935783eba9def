"""The knowledge base of one workspace: where it lies, and what its documents are called in receipts."""

from pathlib import Path

from tallystick.errors import ConfigError, PathRefused, ToolError
from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.kb.knowledge import KnowledgeBase
from tallystick.rooms.desk.kb.meaning import Meaning, is_there
from tallystick.rooms.desk.kb.nouns import Document, Unreadable
from tallystick.settings import CONTROL_ROOM

FOLDER = "kb"
"""Where documents lie unless the settings name another folder."""


class Library:
    """One workspace's knowledge base, as its tools see it."""

    def __init__(self, kb: KnowledgeBase, workspace: Path) -> None:
        self.kb = kb
        self._prefix = _prefix(kb.root, workspace.resolve())

    def path_of(self, doc: str) -> str:
        """What a document is called in a receipt: its path in the workspace, or `kb:…` when it lies elsewhere."""
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
        except Unreadable as why:
            raise ToolError(f"The document cannot be read: {why}", status=404, hint=str(why)) from None
        if found is None:
            raise ToolError("There is no such document.", status=404, hint="kb.search finds the documents there are.")
        return found


def open_library(
    workspace: Path, folder: object, *, by_meaning: bool = True, limits: ImportLimits = DEFAULT
) -> Library:
    """The knowledge base that the settings name.

    Args:
        workspace: Whose.
        folder: Where its documents lie, relative to the workspace.
        by_meaning: Whether to search by meaning too, where the vectors for it are installed.
        limits: How large a document may be.

    Raises:
        ConfigError: The setting is no path.
    """
    if not isinstance(folder, str) or not folder.strip() or "\0" in folder:
        raise ConfigError("rooms.desk.kb: give the path of a folder.", code="config_bad_value")
    root = (workspace / Path(folder).expanduser()).resolve()
    kept = workspace / CONTROL_ROOM / "desk" / "kb"
    meaning = Meaning(kept / "vectors.bin") if by_meaning and is_there() else None
    return Library(KnowledgeBase(root, kept / "index.json", meaning=meaning, limits=limits), workspace)


def _prefix(root: Path, workspace: Path) -> str:
    if root == workspace:
        return ""
    return f"{root.relative_to(workspace).as_posix()}/" if root.is_relative_to(workspace) else "kb:"
