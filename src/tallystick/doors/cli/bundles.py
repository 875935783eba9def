"""prove, bundle, check."""

import json

import typer

from tallystick.doors.cli.audit import find
from tallystick.doors.cli.command import command
from tallystick.doors.cli.screen import Force, Output
from tallystick.doors.cli.workspace import Here


def add_to(app: typer.Typer) -> None:
    """Add these."""
    command(app, "prove")(prove)


def prove(here: Here, receipt: str, output: Output = None, force: Force = False) -> None:
    """Give a proof."""
    with here.gate() as gate:
        find(gate.ledger, receipt)
        proof = gate.ledger.prove(receipt)
    here.screen.document((json.dumps(proof.as_dict()) + "\n").encode(), output, force=force)
