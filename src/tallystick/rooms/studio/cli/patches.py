"""`tally studio patch` and related commands: propose, show, apply and reject changes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tallystick.doors.cli.kit import Exit, Here, Person, Refused, Token, UsageMistake, Yes, command, require_person
from tallystick.rooms.studio.cli.project import FilePath

if TYPE_CHECKING:
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import Caller
    from tallystick.rooms.studio.services.workspace import WorkspaceService
    from tallystick.rooms.studio.workspace.model import Patch, PatchView

PatchId = Annotated[str, typer.Argument(metavar="PATCH", help="Its id, as `tally studio patches` shows it.")]
T = TypeVar("T")
_MAX_BYTES = 16 * 1024 * 1024


def add_to(studio: typer.Typer) -> None:
    """Add the commands to their group."""
    command(studio, "patch")(patch)
    command(studio, "patches")(patches)
    command(studio, "apply")(apply)
    command(studio, "reject")(reject)
    command(studio, "history")(history)
    command(studio, "undo")(undo)


def patch(
    here: Here,
    path: FilePath,
    source: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="The file's new text; - reads stdin.")
    ] = None,
    diff: Annotated[
        str | None, typer.Option("--diff", metavar="FILE", help="A unified diff instead; - reads stdin.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="The file shall go.")] = False,
    base: Annotated[
        str | None, typer.Option("--base", metavar="SHA256", help="The file it was made against. Default: as it is.")
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.", show_default=False)] = "",
    now: Annotated[bool, typer.Option("--apply", help="Make the change too. Needs a person.")] = False,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Propose a change of a file, and show the difference."""
    if (source is not None) + (diff is not None) + remove != 1:
        raise UsageMistake("Give one of --from, --diff and --remove.")
    person = require_person(here, token) if now else None
    from tallystick.rooms.studio.workspace.model import Change

    change = Change(
        path=path,
        base_sha256=base,
        text=None if source is None else _text(source),
        diff=None if diff is None else _text(diff),
        remove=remove,
        note=note,
    )
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate(make=True) as gate:
        workspace = WorkspaceService(gate)
        made = _good(workspace.propose(change, caller=_caller(person)))
        return _ended(here, workspace, made, person, yes=yes)


def patches(
    here: Here,
    patch_id: Annotated[
        str | None, typer.Argument(metavar="[PATCH]", help="Show this one.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Also those that were decided.")] = False,
) -> None:
    """List proposed changes, or show one with its difference."""
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        workspace = WorkspaceService(gate)
        if patch_id is not None:
            shown = _good(workspace.show(patch_id))
            here.screen.data(shown.as_dict())
            _show(here, shown)
            return
        found = workspace.patches(state=None if every else "proposed")
    here.screen.data({"items": [each.as_dict() for each in found], "total": len(found)})
    here.screen.table(
        ["patch", "state", "path", "lines", "by", "created"],
        [(p.patch_id, p.state, p.path, f"+{p.added} -{p.removed}", p.by, p.created) for p in found],
    )


def apply(here: Here, patch_id: PatchId, token: Token = None, yes: Yes = False) -> Exit:
    """Make a proposed change. Needs a terminal or the start-up token."""
    person = require_person(here, token)
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        workspace = WorkspaceService(gate)
        return _ended(here, workspace, _good(workspace.show(patch_id)).patch, person, yes=yes)


def reject(
    here: Here,
    patch_id: PatchId,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why not.", show_default=False)] = "",
    token: Token = None,
) -> None:
    """Decide against a proposed change. Needs a terminal or the start-up token."""
    person = require_person(here, token)
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        done = _good(WorkspaceService(gate).reject(patch_id, caller=_caller(person), reason=reason))
    here.screen.data(done.as_dict())
    here.screen.line(f"rejected {done.patch_id}: {done.path} stays as it is")


def history(
    here: Here,
    path: Annotated[str | None, typer.Argument(metavar="[PATH]", help="Only of this file.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=10_000)] = 50,
) -> None:
    """Show what was changed, the newest first, with the hashes that `undo --to` takes."""
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        found = WorkspaceService(gate).history(path)
    here.screen.data({"items": [each.as_dict() for each in found[:limit]], "total": len(found)})
    here.screen.table(
        ["at", "path", "before", "after", "origin", "by"],
        [(v.at, v.path, v.before[:12] or "-", v.after[:12] or "-", v.origin, v.by) for v in found[:limit]],
    )


def undo(
    here: Here,
    path: FilePath,
    to: Annotated[
        str | None, typer.Option("--to", metavar="SHA256", help="Bring this version back; its first signs will do.")
    ] = None,
    token: Token = None,
    yes: Yes = False,
) -> Exit:
    """Take back the last change of a file; the file as it is now stays in the history. Needs a person."""
    person = require_person(here, token)
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        workspace = WorkspaceService(gate)
        wanted = None if to is None else _version(workspace, path, to)
        made = _good(workspace.undo(path, caller=_caller(person), to=wanted))
        return _ended(here, workspace, made, person, yes=yes)


def _ended(here: Here, workspace: "WorkspaceService", made: "Patch", person: Person | None, *, yes: bool) -> Exit:
    """Show a proposal, and make the change if a person is there and agrees."""
    shown = _good(workspace.show(made.patch_id))
    _show(here, shown)
    if person is None:
        here.screen.data(shown.as_dict())
        here.screen.note(
            f"proposed as {made.patch_id}; `tally studio apply {made.patch_id}{here.screen.there}` makes the change"
        )
        return Exit.REFUSED if shown.changed_meanwhile else Exit.OK
    if not person.agrees(f"Change {made.path}?", yes=yes):
        raise Refused(f"Nothing was changed; {made.patch_id} waits.", code="not_answered")
    done = _good(workspace.apply(made.patch_id, caller=_caller(person)))
    here.screen.data(done.as_dict())
    here.screen.line(f"applied {done.patch_id} to {done.path}")
    return Exit.OK


def _show(here: Here, shown: "PatchView") -> None:
    here.screen.block(shown.diff.removesuffix("\n"))
    if shown.changed_meanwhile:
        here.screen.note("The file has been changed since. What was changed there:")
        here.screen.block((shown.current_diff or "").removesuffix("\n"))


def _version(workspace: "WorkspaceService", path: str, start: str) -> str:
    known = {digest for version in workspace.history(path) for digest in (version.before, version.after) if digest}
    found = [digest for digest in known if start and digest.startswith(start.lower())]
    if len(found) != 1:
        raise Refused("The history of this file has no such version, or several.", code="version_unknown")
    return found[0]


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read(_MAX_BYTES + 1) if name == "-" else Path(name).read_bytes()[: _MAX_BYTES + 1]
        return data.decode()
    except OSError as error:
        raise Refused(f"{name} cannot be read: {error.strerror}.", code="file_unreadable") from None
    except UnicodeDecodeError:
        raise Refused(f"{name} is not valid UTF-8. Save it as UTF-8.", code="not_text") from None


def _caller(person: Person | None) -> "Caller":
    from tallystick.gate.session import LOCAL_OWNER, Caller

    return LOCAL_OWNER if person is None else Caller(subject=person.name, channel=person.channel)


def _good(value: "T | Problem") -> T:
    from tallystick.agents.problem import Problem

    if isinstance(value, Problem):
        raise Refused(value.message, code=value.code)
    return value
