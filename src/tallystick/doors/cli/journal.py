"""`tally journal move`: moves the receipts between files and PostgreSQL."""

from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here
from tallystick.errors import ConfigError

if TYPE_CHECKING:
    from tallystick.app.journal_move import JournalPlace

PLACES: "dict[str, JournalPlace]" = {"files": "files", "postgres": "postgres"}


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    journal = group(app, "journal", "Move the receipts between files and PostgreSQL.")
    command(journal, "move")(move)


def move(
    here: Here,
    to: Annotated[str, typer.Option("--to", metavar="PLACE", help="`postgres` (storage.database_url) or `files`.")],
) -> Exit:
    """Move the journal, verified before and after. Stop every process of the workspace first.

    A move that is interrupted leaves the old journal as it was; run it again.
    """
    if to not in PLACES:
        raise ConfigError("--to: give `postgres` or `files`", code="config_bad_value")
    from tallystick.app.journal_move import move_journal
    from tallystick.providers.net.client import PinnedHttpClient

    report = move_journal(here.require_workspace(), here.settings, PLACES[to], PinnedHttpClient())
    here.screen.data({"journal": to, "size": report.size, "root": report.root})
    here.screen.line(f"The journal is now in {to}: {report.size:,} records, verified, root {report.root}.")
    return Exit.OK
