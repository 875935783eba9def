"""`tally demo`: create a sample project, show offline what the rooms do with it, then serve it."""

import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.demo_part import DemoContext, DemoPart, DemoResult
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.workspace import MARKS, Here, running_tools

if TYPE_CHECKING:
    from tallystick.gate.record.report import AuditReport

FOLDER = "tally-demo"
MAX_FOLDERS = 100
TRY = ("tally tools", "tally audit verify", "tally serve")


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "demo")(demo)


def demo(
    here: Here,
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Exit when everything has been shown.")] = False,
) -> Exit:
    """Show it all on a sample project.

    Lays the project into ./tally-demo (or --workspace DIR, which must be empty or an earlier demo), needs no network
    and no model, and serves the project when everything was shown.
    """
    from tallystick.app.room_switch import switch_rooms

    begun = time.monotonic()
    folder = _folder(here)
    parts = demo_parts()
    laid = [part.prepare(folder) for part in parts]
    place = Here(named=folder, screen=here.screen)
    switch_rooms(folder, on=_available_rooms())
    here.screen.line(f"The project is in {folder}")
    for line in laid:
        here.screen.line(f"  {line}")
    shown = {**_play(place, parts), **_left_out(here)}
    report = _verify(folder)
    _say_verified(place, report)
    ok = report.ok and all(part.ok for part in shown.values())
    commands = [*(line for part in shown.values() for line in part.try_next), *TRY]
    here.screen.data(_document(folder, shown, report, commands))
    _say_next(place, commands, seconds=time.monotonic() - begun)
    if no_serve or not ok:
        return Exit.OK if ok else Exit.REFUSED
    from tallystick.doors.serve import run_server

    run_server(place.open_workspace(), host=None, port=None, worker=True)
    return Exit.OK


def demo_parts() -> list[DemoPart]:
    """Return the demo parts of all available rooms, in order."""
    from tallystick.app.discovery import manifests, resolve

    rooms = [manifests()[name] for name in _available_rooms()]
    found = [resolve(each, "demo", each.demo) for each in rooms if each.demo is not None]
    return sorted(found, key=lambda part: part.order)


def _available_rooms() -> list[str]:
    """Return the rooms that have a demo part and are installed."""
    from tallystick.app.discovery import manifests

    return [name for name, each in manifests().items() if each.demo is not None and not each.missing()]


def _left_out(here: Here) -> dict[str, DemoResult]:
    """Name the rooms whose part is missing, with the command that installs them."""
    from tallystick.app.discovery import manifests, unavailable

    left_out: dict[str, DemoResult] = {}
    for name, manifest in manifests().items():
        if manifest.demo is not None and manifest.missing():
            error = unavailable(manifest)
            here.screen.line(f"left out: {error}")
            left_out[name] = DemoResult(ok=True, data={"left_out": {"code": error.code, "message": str(error)}})
    return left_out


def _play(place: Here, parts: list[DemoPart]) -> dict[str, DemoResult]:
    shown: dict[str, DemoResult] = {}
    with place.gate(plugins=True, make=True) as gate:
        for number, part in enumerate(parts, 1):
            _heading(place, f"{number}. {part.title}")
            shown[part.name] = _played(part, DemoContext(gate=gate, screen=place.screen))
    return shown


def _played(part: DemoPart, stage: DemoContext) -> DemoResult:
    """Run one part. An error does not stop the other parts; a part with a missing extra is skipped."""
    from tallystick.errors import PartMissing, TallyError

    try:
        return part.play(stage)
    except PartMissing as error:
        stage.screen.line(f"left out: {error}")
        return DemoResult(ok=True, data={"left_out": {"code": error.code, "message": str(error)}})
    except TallyError as error:
        stage.screen.line(f"this part could not be shown: {error.code}: {error}")
        return DemoResult(ok=False, data={"error": {"code": error.code, "message": str(error)}})


def _verify(folder: Path) -> "AuditReport":
    from tallystick.app.gate import Gate

    with running_tools():
        return Gate.verify(folder)


def _document(folder: Path, shown: dict[str, DemoResult], report: "AuditReport", commands: list[str]) -> dict[str, Any]:
    return {
        "workspace": str(folder),
        "parts": {name: {"ok": part.ok, **part.data} for name, part in shown.items()},
        "verified": {"ok": report.ok, "records": report.size, "problems": [each.code for each in report.problems]},
        "next": commands,
    }


# -- folder --------------------------------------------------------------------------------------------------------


def _folder(here: Here) -> Path:
    """Return the demo's folder: the named one, an earlier demo, or a new one in the current folder.

    Raises:
        Refused: The folder would be inside a project, or its earlier ledger is gone.
    """
    if here.named is not None:
        folder = here.named.expanduser().absolute()
        if _is_missed(folder):
            message = f"A ledger was kept in {folder} and is gone, so a new one there would not verify. Name another."
            raise Refused(message, code="ledger_gone")
        return folder
    if any((here.workspace / mark).exists() for mark in MARKS):
        message = f"{here.workspace} is a project, and the sample must not get into it. Give --workspace DIR."
        raise Refused(message, code="inside_a_project")
    names = (FOLDER, *(f"{FOLDER}-{number}" for number in range(2, MAX_FOLDERS)))
    return next((folder for name in names if not _is_missed(folder := Path.cwd() / name)), Path.cwd() / FOLDER)


def _is_missed(folder: Path) -> bool:
    """Return whether a mirror remembers a ledger that is gone from this folder: an earlier demo was deleted."""
    from tallystick.settings import load_settings
    from tallystick.storage.ledger import audit_folder, mirror_path

    audit = audit_folder(folder)
    mirror = mirror_path(audit, load_settings(folder))
    return not audit.exists() and mirror is not None and mirror.exists()


# -- output --------------------------------------------------------------------------------------------------------


def _heading(place: Here, text: str) -> None:
    place.screen.line()
    place.screen.line(text)
    place.screen.line("-" * len(text))


def _say_verified(place: Here, report: "AuditReport") -> None:
    _heading(place, "The ledger")
    if report.ok:
        place.screen.line(f"  all {report.size} receipts verify: signatures, chain, tree, head and mirror")
    else:
        first = report.problems[0]
        place.screen.line(f"  DOES NOT VERIFY: {first.code}: {first.reason}")


def _say_next(place: Here, commands: list[str], *, seconds: float) -> None:
    _heading(place, "Try next")
    activate = Path(sys.executable).with_name("activate")
    if shutil.which("tally") is None and activate.is_file():
        # `make demo` runs the command by its path; in a plain shell `tally` must be on the PATH.
        place.screen.line(f"  . {shlex.quote(str(activate))}")
    place.screen.line(f"  cd {shlex.quote(str(place.workspace))}")
    for line in commands:
        place.screen.line(f"  {line}")
    place.screen.note(f"{seconds:.1f} s")
