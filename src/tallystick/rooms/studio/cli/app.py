"""`tally studio`: the group that the writing room's commands are added to, each from a module of its own."""

import typer

studio_app = typer.Typer(
    help="Write: the project's files, its book, its canon.",
    no_args_is_help=True,
    # Rich's help costs as much again as everything else that --help has to load.
    rich_markup_mode=None,
    add_completion=False,
)


def add_to(app: typer.Typer) -> None:
    """Add the group, with whatever commands it has by then."""
    app.add_typer(studio_app, name="studio")
