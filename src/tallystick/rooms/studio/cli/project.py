"""`tally studio init`, `import`, `export`, `tree`, `read` and `canon`: the project, its files and its canon index."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Force, Here, Refused, Screen, UsageMistake, command, counted
from tallystick.rooms.studio.cli.source import tell_complaints

if TYPE_CHECKING:
    from tallystick.rooms.studio.manuscript_import.model import ImportReport
    from tallystick.rooms.studio.services.workspace import Export
    from tallystick.rooms.studio.workspace.model import Node


FilePath = Annotated[str, typer.Argument(metavar="PATH", help="Inside the workspace, as `tally studio tree` shows it.")]
_LINES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def add_to(studio: typer.Typer) -> None:
    """Add the commands to their group."""
    command(studio, "init")(init)
    command(studio, "import")(import_source)
    command(studio, "export")(export)
    command(studio, "tree")(tree)
    command(studio, "read")(read)
    command(studio, "canon")(canon)


def init(
    here: Here,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Default: the workspace.", show_default=False)
    ] = None,
) -> None:
    """Make a project: folders for scenes and cards, and an outline. What is there stays."""
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    there = here if folder is None else here.elsewhere(folder)
    with there.gate(make=True) as gate:
        made = WorkspaceService(gate).begin(caller=LOCAL_OWNER)
        place = str(gate.workspace)
    here.screen.data({"workspace": place, "made": made})
    for path in made:
        here.screen.line(f"made {path}")
    if not made:
        here.screen.note("Everything is there already.")
    here.screen.note("Next: `tally studio import MyNovel.docx` brings a manuscript in; `tally studio tree` shows it.")


def import_source(
    here: Here,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help=".docx, .epub, .md, .txt, a novelWriter project, a folder.")
    ],
) -> Exit:
    """Bring a manuscript in. What you changed since the last time is never written over."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    if not source.exists():
        raise Refused(f"There is no {source}.", code="source_missing")
    with here.gate(make=True) as gate, here.screen.progress("import", None) as advance:
        report = WorkspaceService(gate).import_manuscript(source.resolve(), caller=LOCAL_OWNER, advance=advance)
    if isinstance(report, Problem):
        raise Refused(report.message, code=report.code)
    here.screen.data(report.as_dict())
    _tell(here.screen, report)
    return Exit.REFUSED if report.refused else Exit.OK


def export(
    here: Here,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file, or with --format folder the folder.")],
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="md, docx, epub or folder. Default: by the name's ending."),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Of the book.", show_default=False)] = "",
    author: Annotated[str, typer.Option("--author", metavar="TEXT", help="Of the book.", show_default=False)] = "",
    language: Annotated[str, typer.Option("--language", metavar="TAG", help="Such as en or de-AT.")] = "en",
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Go without files that cannot be read; else nothing is written.")
    ] = False,
    force: Force = False,
) -> None:
    """Write the book as one file, or its files into a folder."""
    from tallystick.agents.problem import Problem
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    chosen = form or out.suffix.removeprefix(".").lower() or "folder"
    if not re.fullmatch(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", language):
        raise UsageMistake("--language is a tag such as en or de-AT.")
    with here.gate() as gate:
        workspace = WorkspaceService(gate)
        if chosen == "folder":
            made = workspace.take_out_files(leave_out=leave_out)
        else:
            made = workspace.take_out(chosen, title=title, author=author, language=language, leave_out=leave_out)
    if isinstance(made, Problem):
        raise Refused(made.message, code=made.code)
    _save(here, out, chosen, made, force=force)


def tree(here: Here) -> None:
    """Show all files of the project."""
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        root, complete = WorkspaceService(gate).tree()
    here.screen.data({"root": root.as_dict(), "complete": complete})
    for child in root.children:
        _draw(here.screen, child, 0)
    if not complete:
        here.screen.note("There are more files than are listed here.")


def read(
    here: Here,
    path: FilePath,
    lines: Annotated[str | None, typer.Option("--lines", metavar="A-B", help="Only these, from 1.")] = None,
) -> None:
    """Show a file as it is, or some of its lines."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.quotes import split_lines
    from tallystick.rooms.studio.services.workspace import WorkspaceService

    with here.gate() as gate:
        found = WorkspaceService(gate).read(path)
    if isinstance(found, Problem):
        raise Refused(found.message, code=found.code)
    wire: dict[str, Any] = found.as_dict()
    text = found.text.removeprefix("\ufeff")
    if lines is not None:
        first, last = _range(lines, found.lines)
        text = "\n".join(split_lines(text)[first - 1 : last])
        wire |= {"text": text, "start_line": first, "end_line": last}
    here.screen.data(wire)
    here.screen.block(text.removesuffix("\n"))


def _range(asked: str, total: int) -> tuple[int, int]:
    found = _LINES.fullmatch(asked)
    first = int(found.group(1)) if found else 0
    last = int(found.group(2) or first) if found else 0
    if not 1 <= first <= last:
        raise UsageMistake("--lines is A-B or A, counted from 1.")
    if first > total:
        raise Refused(f"The file has {total} lines.", code="line_missing")
    return first, min(last, total)


def _draw(screen: Screen, node: "Node", depth: int) -> None:
    size = "/" if node.kind == "folder" else "" if node.lines is None else f"  {counted(node.lines, 'line')}"
    role = f"  ({node.role})" if node.role else ""
    screen.line(f"{'  ' * depth}{node.name}{size}{role}")
    for child in node.children:
        _draw(screen, child, depth + 1)


def _tell(screen: Screen, report: "ImportReport") -> None:
    counts = ", ".join(f"{len(paths)} {name}" for name, paths in report.outcomes().items() if paths)
    screen.line(f"{report.title or 'Untitled'} ({report.format}): {counts}")
    for path in (*report.written, *report.updated):
        screen.line(f"  {path}")
    for path, patch_id in report.conflicts.items():
        screen.note(
            f"waits for you: {path} was changed here and in the source: `tally studio patches {patch_id}{screen.there}`"
        )
    for path, code in report.refused.items():
        screen.note(f"not written: {path}: {code}")
    if report.losses:
        screen.note("What could not be carried over:")
    for loss in report.losses:
        screen.note(f"  {loss.kind} ({loss.count}) in {loss.where}: {loss.message}")


def _save(here: Here, out: Path, form: str, made: "Export", *, force: bool) -> None:
    """Write the export, and list what it lacks."""
    from tallystick.rooms.studio.book.model import complaints_json

    files, complaints = made.files, complaints_json(made.complaints)
    if form == "folder":
        _write_folder(out, files, force=force)
    else:
        Screen(quiet=True).document(files[""], out, force=force)
    size = sum(map(len, files.values()))
    here.screen.data({"format": form, "out": str(out), "files": len(files), "bytes": size, **complaints})
    written = f"{counted(len(files), 'file')} to {out}" if form == "folder" else f"{out} ({size} bytes)"
    here.screen.line(f"written: {written}")
    tell_complaints(here.screen, complaints)


def _write_folder(out: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())) and not force:
        raise Refused(f"{out} exists already. Choose another name, or use --force.", code="file_exists")
    for path, data in files.items():
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        Screen(quiet=True).document(data, target, force=force)


def canon(
    here: Here,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="AGENT", help="Have this agent's model read the cards; rules do if not given."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="With --model: read again also what has not changed.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only show whether Canon.md is up to date.")] = False,
) -> Exit | None:
    """Compile Canon.md from the cards of the compendium."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.canon import CanonService

    with here.gate(plugins=True) as gate:
        service = CanonService(gate)
        if status:
            found: dict[str, Any] = service.status()
        else:
            made = service.build(LOCAL_OWNER, agent=model, fresh=fresh, tell=lambda step: _show_progress(here, step))
            if isinstance(made, Problem):
                raise Refused(made.message, code=made.code)
            found = made
    here.screen.data(found)
    _show(here, found)
    return None


def _show_progress(here: Here, step: dict[str, Any]) -> None:
    problem = f" ({step['problem']})" if step["problem"] else ""
    here.screen.note(f"{step['done']}/{step['total']} {step['path']} by {step['by']}{problem}")


def _show(here: Here, found: dict[str, Any]) -> None:
    if found["state"] == "absent":
        here.screen.note("There is no canon index yet. `tally studio canon` makes one.")
        return
    here.screen.line(
        f"{found['path']} {found['state']}, {found['indexed']} of {found['cards']} cards, by {found['by']}"
    )
    if not found["cards"]:
        here.screen.note("There are no cards. Write some under Compendium, or let `tally studio cards` propose them.")
    for path in found["changed"]:
        here.screen.line(f"changed since: {path}")
    for one in found["problems"]:
        here.screen.note(f"{one['path']}:{one['line']} {one['code']}: {one['message']}")
