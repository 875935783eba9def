"""`tally doctor`: check the installation and the workspace, and advise what to fix. The checks are in `checkup.py`."""

import typer

from tallystick.doors.cli.checkup import examine
from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "doctor")(doctor)


def doctor(here: Here) -> Exit:
    """See whether everything here is in order.

    One line each: ok, warn or fail, with what to do. Changes nothing.
    """
    findings = list(examine(here))
    failed = any(finding.health == "fail" for finding in findings)
    here.screen.data(
        {
            "ok": not failed,
            "checks": [{"check": f.what, "status": f.health, "message": f.says} for f in findings],
        }
    )
    here.screen.table(["", "check", "finding"], [(f.health, f.what, f.says) for f in findings])
    return Exit.REFUSED if failed else Exit.OK
