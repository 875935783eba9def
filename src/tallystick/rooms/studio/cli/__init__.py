"""The studio's commands: `tally studio`, `tally conference`, `tally run` and `tally issues`."""

import typer

from tallystick.doors.cli.kit import group
from tallystick.rooms.studio.cli import check, conference, issues, patches, project, run


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for part in (conference, run, issues):
        part.add_to(app)
    studio = group(app, "studio", "Write: the project's files, its book, its canon.")
    for part in (project, patches, check):
        part.add_to(studio)
