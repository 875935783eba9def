"""Changes of the author's files: proposed against a base, shown, applied or rejected; never a silent overwrite.

A patch is applied only while the file is still its base. What it replaces is kept first, then the file is replaced in
one step, then the change is remembered, then the patch is marked; a process that dies in between leaves either the
old file with its proposal, or the new file with a patch that is found to be applied already.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from tallystick.agents.problem import Problem
from tallystick.errors import PathRefused
from tallystick.rooms.studio.workspace import diffs
from tallystick.rooms.studio.workspace.diffs import ChangeResult, apply_change, text_of_bytes
from tallystick.rooms.studio.workspace.files import current_bytes
from tallystick.rooms.studio.workspace.model import GONE, MOVES, Change, Origin, Patch, PatchView, Version
from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.storage.files import FileSources
from tallystick.storage.paths import check_writable, path_parts

MAX_OPEN = 5_000
"""Undecided proposals; a limit, so that a program cannot fill the disk."""
_CHANGED = "The file is not what the change was made against. The proposal is kept; read the file and decide again."


class Revisions:
    """The changes of one workspace."""

    def __init__(self, files: FileSources, kept: PatchStore, *, new_id: Callable[[], str]) -> None:
        """Join the files with the patch store.

        Args:
            files: The author's files.
            kept: Patches, snapshots and history.
            new_id: Gives an id for a new patch.
        """
        self._files = files
        self._new_id = new_id
        self.kept = kept

    def propose(
        self, change: Change, *, by: str, now: str, origin: Origin = "person", undoes: str | None = None
    ) -> Patch | Problem:
        """Store a change as a proposal; the file is not changed.

        A change whose base is no longer the file is kept too, so that nobody's text is lost; `show` says so.
        """
        try:
            parts = path_parts(change.path)
            check_writable(parts)
            with self.kept.locked():
                if sum(patch.state == "proposed" for patch in self.kept.patches()) >= MAX_OPEN:
                    message = f"There are {MAX_OPEN} undecided proposals; apply or reject some first."
                    return Problem(code="patches_too_many", message=message)
                path = "/".join(parts)
                current, data = current_bytes(self._files, path)
                wanted = current if change.base_sha256 is None else change.base_sha256
                result = apply_change(change, wanted, data if wanted == current else self.kept.content(wanted))
                if isinstance(result, Problem):
                    return result
                if result.after == data and current != GONE:
                    return Problem(code="patch_empty", message="The file is this already.")
                draft = Patch(
                    patch_id=self._new_id(),
                    path=path,
                    base_sha256=wanted,
                    new_sha256=GONE,
                    state="proposed",
                    origin=origin,
                    by=by,
                    created=now,
                    added=0,
                    removed=0,
                    note=change.note,
                    undoes=undoes,
                )
                return self._kept_proposal(draft, result, data)
        except PathRefused as refused:
            return Problem(code=refused.code, message=str(refused), pointer="/path")

    def show(self, patch_id: str) -> PatchView | Problem:
        """A patch with its difference, and with what the file has become if that is another than its base."""
        patch = self.kept.patch(patch_id)
        if patch is None:
            return unknown_patch()
        try:
            current, data = current_bytes(self._files, patch.path)
        except PathRefused as refused:
            return Problem(code=refused.code, message=str(refused))
        changed = patch.state == "proposed" and current not in {patch.base_sha256, patch.new_sha256}
        base = self.kept.content(patch.base_sha256)
        # A base that is not known any more cannot be compared with; the file as it is now can.
        origin = text_of_bytes(data if base is None else base)
        return PatchView(
            patch=patch,
            diff=diffs.unified(origin, text_of_bytes(self.kept.content(patch.new_sha256) or b""), patch.path),
            current_sha256=current,
            changed_meanwhile=changed,
            current_diff=diffs.unified(origin, text_of_bytes(data), patch.path)
            if changed and base is not None
            else None,
        )

    def apply(self, patch_id: str, *, by: str, now: str) -> Patch | Problem:
        """Apply the change, if the file still matches its base."""
        with self.kept.locked():
            patch = self._to_decide(patch_id, "apply")
            if isinstance(patch, Problem):
                return patch
            after = self.kept.content(patch.new_sha256)
            if after is None:
                message = "What was proposed is damaged or gone from the snapshots. Propose it again."
                return Problem(code="snapshot_missing", message=message)
            try:
                current, _ = current_bytes(self._files, patch.path)
                # The new content is there already when a process died after it had put it there.
                if current != patch.new_sha256:
                    self._replace(patch.path, patch.base_sha256, None if patch.new_sha256 == GONE else after)
            except PathRefused as refused:
                message = _CHANGED if refused.code == "changed_meanwhile" else str(refused)
                return Problem(code=refused.code, message=message)
            return self._mark_applied(patch, by=by, now=now)

    def reject(self, patch_id: str, *, by: str, now: str, reason: str = "") -> Patch | Problem:
        """Reject a change; it remains visible."""
        with self.kept.locked():
            patch = self._to_decide(patch_id, "reject")
            if isinstance(patch, Problem):
                return patch
            done = replace(patch, state="rejected", decided=now, decided_by=by, reason=reason)
            self.kept.put(done)
            return done

    def undo(self, path: str, *, by: str, now: str, to: str | None = None) -> Patch | Problem:
        """Propose to take back the last change of a file that was not taken back, or to bring a version back.

        Args:
            path: Which file.
            by: Who wants it.
            now: When.
            to: The hash of the version that shall come back; None: the one before the last change.
        """
        versions = self.kept.history(path)
        undone = {version.undoes for version in versions}
        last = next((each for each in versions if each.undoes is None and each.patch_id not in undone), None)
        if to is None and last is None:
            return Problem(code="nothing_to_undo", message="No change of this file was recorded that could be undone.")
        if to is not None and to not in {digest for each in versions for digest in (each.before, each.after)}:
            return Problem(code="version_unknown", message="The history of this file has no such version.")
        taken_back = last if to is None else None
        wanted = to if taken_back is None else taken_back.before
        content = self.kept.content(wanted or GONE)
        if content is None:
            return Problem(code="snapshot_missing", message="This version is damaged or gone from the snapshots.")
        change = Change(
            path=path,
            base_sha256=None if taken_back is None else taken_back.after,
            remove=not wanted,
            text=text_of_bytes(content) if wanted else None,
        )
        undoes = None if taken_back is None else taken_back.patch_id
        return self.propose(change, by=by, now=now, origin="undo", undoes=undoes)

    def put_all(
        self, wanted: Iterable[tuple[str, str, bytes]], *, by: str, now: str, origin: Origin
    ) -> dict[str, Version | Problem]:
        """Many files at once, each only if it is still its base; what is replaced is kept, and all is remembered.

        Args:
            wanted: Path, hash of the base (`GONE`: the file must not be there), new content.
            by: Who does it.
            now: When.
            origin: Where it comes from.
        """
        done: dict[str, Version | Problem] = {}
        with self.kept.locked():
            try:
                for path, base, data in wanted:
                    done[path] = self._put(path, base, data, by=by, now=now, origin=origin)
            finally:
                # Include what was written before a failure.
                self.kept.remember([each for each in done.values() if isinstance(each, Version)])
        return done

    # -- details -----------------------------------------------------------------------------------------------------

    def _kept_proposal(self, draft: Patch, result: ChangeResult, current: bytes) -> Patch:
        compared = current if result.base is None else result.base
        added, removed = diffs.counts(text_of_bytes(compared), text_of_bytes(result.after or b""))
        if result.base is not None and result.base_sha256 != GONE:
            self.kept.keep(result.base)
        after = GONE if result.after is None else self.kept.keep(result.after)
        patch = replace(draft, new_sha256=after, added=added, removed=removed)
        self.kept.put(patch)
        return patch

    def _to_decide(self, patch_id: str, move: str) -> Patch | Problem:
        patch = self.kept.patch(patch_id)
        if patch is None:
            return unknown_patch()
        if (patch.state, move) not in MOVES:
            return Problem(code="patch_decided", message=f"This patch was {patch.state} already.")
        return patch

    def _put(self, path: str, base: str, data: bytes, *, by: str, now: str, origin: Origin) -> Version | Problem:
        try:
            self._replace(path, base, data)
        except PathRefused as refused:
            return Problem(code=refused.code, message=str(refused), pointer="/path")
        return Version(
            at=now, path=path, patch_id=self._new_id(), before=base, after=self.kept.keep(data), by=by, origin=origin
        )

    def _replace(self, path: str, base: str, after: bytes | None) -> None:
        """Replace a file's content, after storing the old one."""
        current, data = current_bytes(self._files, path)
        if current != base:
            raise PathRefused("The file is not what the change was made against.", code="changed_meanwhile")
        if current != GONE:
            self.kept.keep(data)
        if after is None:
            self._files.remove(path, base_sha256=base)
        else:
            self._files.write(path, after, base_sha256=base)

    def _mark_applied(self, patch: Patch, *, by: str, now: str) -> Patch:
        if not any(version.patch_id == patch.patch_id for version in self.kept.history(patch.path)):
            made = Version(
                at=now,
                path=patch.path,
                patch_id=patch.patch_id,
                before=patch.base_sha256,
                after=patch.new_sha256,
                by=by,
                origin=patch.origin,
                undoes=patch.undoes,
            )
            self.kept.remember([made])
        done = replace(patch, state="applied", decided=now, decided_by=by)
        self.kept.put(done)
        return done


def unknown_patch() -> Problem:
    """The problem of an unknown patch id."""
    return Problem(code="patch_unknown", message="There is no patch of this id.")
