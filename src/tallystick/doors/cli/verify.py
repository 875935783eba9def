"""`tally audit verify`."""

import typer


def add_to(app: typer.Typer) -> None:
    """Add this command."""
