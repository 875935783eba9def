"""The records of the workspace: tree nodes, file contents, patches, versions."""

from dataclasses import field
from typing import Any, Literal

from tallystick.records import record

PatchState = Literal["proposed", "applied", "rejected"]
Origin = Literal["person", "import", "run", "undo"]

GONE = ""
"""The hash of a missing file: as a base, the patch creates the file; as a result, it removes it."""
MOVES: dict[tuple[PatchState, str], PatchState] = {
    ("proposed", "apply"): "applied",
    ("proposed", "reject"): "rejected",
}
"""All transitions of a patch; others are refused."""


@record
class Node:
    """A folder or a file of the tree."""

    name: str
    path: str
    """Empty at the root."""
    kind: Literal["folder", "file"]
    size: int = 0
    """In bytes; of a folder: of all that is in it."""
    lines: int | None = None
    sha256: str | None = None
    role: Literal["outline", "canon"] | None = None
    """The two files that others ask for by what they are."""
    children: list["Node"] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, with the fields of its kind."""
        wire: dict[str, Any] = {"name": self.name, "path": self.path, "kind": self.kind, "size": self.size}
        optional = {"lines": self.lines, "sha256": self.sha256, "role": self.role}
        wire |= {name: value for name, value in optional.items() if value is not None}
        if self.kind == "folder":
            wire["children"] = [child.as_dict() for child in self.children]
        return wire


@record
class FileText:
    """A text file as it is now."""

    path: str
    text: str
    """Every character of it, a byte order mark and the line ends included."""
    sha256: str
    lines: int
    encoding: str
    """What its bytes were read as. Patches write UTF-8."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "path": self.path,
            "sha256": self.sha256,
            "lines": self.lines,
            "encoding": self.encoding,
            "text": self.text,
        }


@record
class Edit:
    """A replacement of lines."""

    start_line: int
    """From 1; one more than the file has lines: at its end."""
    end_line: int
    """The last line replaced; one less than `start_line`: nothing is replaced, the text is put before that line."""
    text: str
    """Empty: the lines go."""


@record
class Change:
    """A requested change of a file, in exactly one of four forms."""

    path: str
    base_sha256: str | None
    """The file it was made against; `""`: there is none; None: the one there is now."""
    text: str | None = None
    edits: tuple[Edit, ...] | None = None
    diff: str | None = None
    """A unified diff against the base."""
    remove: bool = False
    note: str = ""
    """Why, in the author's own words."""


@record
class Patch:
    """A proposed change of one file, and its state."""

    patch_id: str
    path: str
    base_sha256: str
    new_sha256: str
    state: PatchState
    origin: Origin
    by: str
    created: str
    """In UTC."""
    added: int
    removed: int
    """Lines."""
    note: str = ""
    undoes: str | None = None
    """The patch that this one takes back."""
    decided: str | None = None
    decided_by: str | None = None
    reason: str | None = None
    """Why it was rejected."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form, and what its file holds."""
        wire = {name: getattr(self, name) for name in self.__slots__}  # type: ignore[attr-defined]
        return {name: value for name, value in wire.items() if value is not None}


@record
class PatchView:
    """A patch as a person looks at it before deciding."""

    patch: Patch
    diff: str
    """From the base to what is proposed."""
    current_sha256: str
    changed_meanwhile: bool
    """The file is no longer the base, so the patch cannot be applied; both changes are shown."""
    current_diff: str | None
    """From the base to the file as it is now, if that is another."""

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        wire = {
            **self.patch.as_dict(),
            "current_sha256": self.current_sha256,
            "changed_meanwhile": self.changed_meanwhile,
            "diff": self.diff,
        }
        return wire if self.current_diff is None else {**wire, "current_diff": self.current_diff}


@record
class Version:
    """One applied change: a line of the history."""

    at: str
    path: str
    patch_id: str
    before: str
    after: str
    """Hashes; the content of both is kept."""
    by: str
    origin: Origin
    undoes: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The wire form, and one line of the file."""
        wire = {name: getattr(self, name) for name in self.__slots__}  # type: ignore[attr-defined]
        return {name: value for name, value in wire.items() if value is not None}
