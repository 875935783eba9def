"""The author's files of an open workspace, joined with its ledger: every change leaves an audit record."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tallystick.agents.problem import Problem
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.gate import Gate
from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.rooms.studio.book.model import Complaint, Outline
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.book.paths import FOLDERS, SCENES, is_prose_file
from tallystick.rooms.studio.book.reader import BookReader, unreadable_file
from tallystick.rooms.studio.workspace.files import FileTree, find_outline, read_text
from tallystick.rooms.studio.workspace.model import GONE, Change, FileText, Node, Origin, Patch, PatchView, Version
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import OUTLINE, FileSources
from tallystick.storage.tree import TreeFiles

if TYPE_CHECKING:
    from pathlib import Path

    from tallystick.rooms.studio.manuscript_import.model import ImportReport

SESSION = "workspace"
"""The session of the audit records."""
_ID_BYTES = 12
_NAMED = 5
"""Files that a refused export names; the rest are counted."""
_FIRST_OUTLINE = """# Outline

## Act One

<!-- One entry a scene:

### 1. The title of the scene

POV: whose eyes it is seen through
What happens, in a sentence or two.
-->
"""


@record
class OutlineText:
    """The outline: its file, and what can be read out of it."""

    file: FileText
    outline: Outline

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            **self.file.as_dict(),
            "acts": list(self.outline.acts),
            "beats": [asdict(beat) for beat in self.outline.beats],
        }


@record
class Export:
    """The files of an export, and the complaints about what they lack."""

    files: Mapping[str, bytes]
    """By path; the one file of a book has none."""
    complaints: tuple[Complaint, ...]


class WorkspaceService:
    """The files of one workspace, changed only by patches that a person applies."""

    def __init__(self, gate: Gate) -> None:
        """Take the files of a workspace."""
        self._gate = gate
        self.files = FileSources(gate.workspace)
        self._tree = FileTree(TreeFiles(gate.workspace))
        self._revisions = Revisions(self.files, PatchStore(gate.workspace), new_id=_new_id)

    # -- looking -----------------------------------------------------------------------------------------------------

    def tree(self) -> tuple[Node, bool]:
        """All folders and files, nested; and whether that is all there is."""
        return self._tree.look()

    def read(self, path: str) -> FileText | Problem:
        """A text file as it is."""
        return read_text(self.files, path)

    def outline(self) -> OutlineText | Problem:
        """The outline, as its file has it."""
        found = find_outline(self.files)
        if isinstance(found, Problem):
            return found
        text = found.text.removeprefix("\ufeff")
        return OutlineText(file=found, outline=parse_outline(Source(path=found.path, text=text, sha256=found.sha256)))

    def patches(self, *, state: str | None = None, path: str | None = None) -> list[Patch]:
        """The patches, the newest first."""
        return [
            patch
            for patch in self._revisions.kept.patches()
            if state in {None, patch.state} and path in {None, patch.path}
        ]

    def show(self, patch_id: str) -> PatchView | Problem:
        """A patch with its differences."""
        return self._revisions.show(patch_id)

    def history(self, path: str | None = None) -> list[Version]:
        """What was changed, the newest first."""
        return self._revisions.kept.history(path)

    # -- changing ----------------------------------------------------------------------------------------------------

    def propose(self, change: Change, *, caller: Caller, origin: Origin = "person") -> Patch | Problem:
        """Keep a change as a proposal."""
        demand_ledger(self._gate)
        patch = self._revisions.propose(change, by=caller.subject, now=_now(), origin=origin)
        return self._noted(patch, "patch.propose", caller)

    def apply(self, patch_id: str, *, caller: Caller) -> Patch | Problem:
        """Apply a patch, on a person's decision."""
        demand_ledger(self._gate)
        patch = self._revisions.apply(patch_id, by=caller.subject, now=_now())
        return self._noted(patch, "patch.apply", caller)

    def reject(self, patch_id: str, *, caller: Caller, reason: str = "") -> Patch | Problem:
        """Reject a patch, on a person's decision."""
        demand_ledger(self._gate)
        patch = self._revisions.reject(patch_id, by=caller.subject, now=_now(), reason=reason)
        return self._noted(patch, "patch.reject", caller)

    def undo(self, path: str, *, caller: Caller, to: str | None = None) -> Patch | Problem:
        """Propose to take back a file's last change, or to bring back the version with the hash `to`."""
        demand_ledger(self._gate)
        patch = self._revisions.undo(path, by=caller.subject, now=_now(), to=to)
        return self._noted(patch, "patch.propose", caller)

    def begin(self, *, caller: Caller) -> list[str]:
        """Create the missing folders and files of a project, and return the new paths."""
        demand_ledger(self._gate)
        made: list[str] = []
        for folder in (SCENES, *(f"Compendium/{name}" for name in FOLDERS.values())):
            place = self._gate.workspace / folder
            if not place.exists():
                place.mkdir(parents=True)
                made.append(f"{folder}/")
        found = find_outline(self.files)
        if isinstance(found, Problem) and found.code == "outline_missing":
            wanted = [(OUTLINE, GONE, _FIRST_OUTLINE.encode())]
            done = self._revisions.put_all(wanted, by=caller.subject, now=_now(), origin="person")
            made += [path for path, result in done.items() if isinstance(result, Version)]
        if made:
            note_change(self._gate, caller, "workspace.begin", "workspace", {"made": len(made)}, session=SESSION)
        return made

    def import_manuscript(
        self, source: "Path", *, caller: Caller, advance: "Callable[[int, int], None] | None" = None
    ) -> "ImportReport | Problem":
        """Import a manuscript or a folder. What the author has changed since an earlier import becomes a proposal.

        Args:
            source: The file or folder.
            caller: Who brings it.
            advance: Told how many files of how many are written.
        """
        from tallystick.rooms.studio.manuscript_import.importer import import_manuscript  # noqa: PLC0415 - loads readers of formats

        if source.is_dir() and self._gate.workspace.resolve().is_relative_to(source.resolve()):
            message = "This folder is the workspace, or holds it. Give the folder of another project."
            return Problem(code="source_is_workspace", message=message)
        demand_ledger(self._gate)
        report = import_manuscript(
            source,
            files=self.files,
            revisions=self._revisions,
            by=caller.subject,
            now=_now(),
            advance=advance,
            limits=self._gate.settings.imports,
        )
        if not isinstance(report, Problem):
            counts = {name: len(paths) for name, paths in report.outcomes().items()}
            note_change(
                self._gate,
                caller,
                "workspace.import",
                f"import/{report.format}",
                {"sha256": report.source_sha256, **counts},
                session=SESSION,
            )
        return report

    def take_out(
        self, form: str, *, title: str = "", author: str = "", language: str = "en", leave_out: bool = False
    ) -> Export | Problem:
        """The book as one file: `md`, `docx` or `epub`.

        Args:
            form: Which.
            title: Of the book; empty: as an import knew it, else the folder's name.
            author: The same.
            language: A tag such as `en` or `de-AT`.
            leave_out: Go without what cannot be read; otherwise that is a `scenes_unreadable`.
        """
        from tallystick.rooms.studio.manuscript_export.formats import FORMATS  # noqa: PLC0415
        from tallystick.rooms.studio.manuscript_export.manuscript import export_book  # noqa: PLC0415 - loads writers of formats
        from tallystick.rooms.studio.manuscript_import.importer import ImportMemory  # noqa: PLC0415

        if form not in FORMATS:
            return Problem(code="format_unknown", message=f"There is {', '.join(FORMATS)}, and a folder of Markdown.")
        book = BookReader(self.files).book()
        cards = {card.path for card in book.cards}
        complaints = [one for one in book.complaints if one.left_out != "card" and one.path not in cards]
        if not leave_out and (lost := _lost(complaints)) is not None:
            return lost
        if not book.scenes:
            return Problem(
                code="nothing_to_export", message="There are no scenes yet. `tally studio import` brings some."
            )
        called = ImportMemory(self._revisions.kept).called()
        name = title or called[0] or self._gate.workspace.name
        data = FORMATS[form](export_book(book, title=name, author=author or called[1], language=language))
        return Export(files={"": data}, complaints=tuple(complaints))

    def take_out_files(self, *, leave_out: bool = False) -> Export | Problem:
        """All text files of the tree as they are, by path.

        Args:
            leave_out: As for `take_out`.
        """
        files: dict[str, bytes] = {}
        complaints: list[Complaint] = []
        for path in filter(is_prose_file, self.files.paths()):
            try:
                found = self.files.read_bytes(path)
            except PathRefused as refused:
                complaints.append(unreadable_file(path, refused.code, "text"))
                continue
            if found.truncated:
                complaints.append(unreadable_file(path, "too_large", "text"))
            else:
                files[path] = found.data
        lost = None if leave_out else _lost(complaints)
        return lost or Export(files=files, complaints=tuple(complaints))

    def _noted(self, patch: Patch | Problem, action: str, caller: Caller) -> Patch | Problem:
        if isinstance(patch, Patch):
            said = {"patch_id": patch.patch_id, "before": patch.base_sha256, "after": patch.new_sha256}
            note_change(self._gate, caller, action, f"workspace/{patch.path}", said, session=SESSION)
        return patch


def _lost(complaints: Sequence[Complaint]) -> Problem | None:
    """The refusal of an export that would lack files."""
    lost = [one for one in complaints if one.left_out is not None]
    if not lost:
        return None
    named = "; ".join(f"{one.path}: {one.message}" for one in lost[:_NAMED])
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    message = f"{named}{more} Nothing was written. Repair these, or use --leave-out to export without them."
    return Problem(code="scenes_unreadable", message=message)


def _new_id() -> str:
    return f"patch_{secrets.token_hex(_ID_BYTES)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
