"""The command `tally tastings`."""

from typing import Annotated

import typer

from tallystick.doors.cli.kit import CallHeld, Exit, Here, Refused, command, counted, group, show_command

Wine = Annotated[str, typer.Argument(metavar="WINE", help="Name and vintage.")]
Score = Annotated[int, typer.Argument(metavar="SCORE", help="Points.")]


def add_to(app: typer.Typer) -> None:
    """Add the command and its subcommands."""
    tastings = group(app, "tastings", "Log wine tastings.")
    command(tastings, "add")(add)
    command(tastings, "list")(list_tastings)


def add(here: Here, wine: Wine, score: Score) -> Exit:
    """Log a tasting."""
    with here.gate(plugins=True, make=True) as gate:
        outcome = gate.call_sync("tastings.add", {"wine": wine, "score": score}, session="tastings")
    if outcome.held is not None:
        raise CallHeld(f"Waits for a person: {show_command(outcome.held.approval_id, here.workspace)}")
    if not outcome.ok:
        raise Refused(outcome.problem()["error"]["message"], code=outcome.code)
    here.screen.data(outcome.as_dict())
    here.screen.line(f"logged {outcome.result['id']}, receipt {outcome.receipt_id}")
    return Exit.OK


def list_tastings(here: Here) -> Exit:
    """List tastings, newest first."""
    with here.gate(plugins=True) as gate:
        found = gate.call_sync("tastings.list", session="tastings").unwrap()
    here.screen.data(found)
    here.screen.table(["wine", "score"], [(one["wine"], one["score"]) for one in found["items"]])
    here.screen.note(counted(found["total"], "tasting"))
    return Exit.OK
