"""How a function becomes a command.

    @command(app, "verify")
    def verify(here: Here, path: …) -> Exit | None: ...

Every command takes `--workspace`, `--json` and `--quiet`, before or after the command's name. The function receives
them combined as its first argument, `here`, and returns its exit code (None: success).
"""

import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.rooms import room_of
from tallystick.doors.cli.screen import Screen
from tallystick.doors.cli.workspace import Here

Workspace = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        help="The project's folder. Default: the nearest one above.",
        metavar="DIR",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", show_default=False)]

Command = Callable[..., Exit | None]
_SHARED: dict[str, tuple[Any, Any]] = {
    "workspace": (Workspace, None),
    "as_json": (Json, False),
    "quiet": (Quiet, False),
}


def group(app: typer.Typer, name: str, help_text: str, *, has_listing: bool = False) -> typer.Typer:
    """Add a command group."""
    # Loading Rich for the help would double the time of --help.
    made = typer.Typer(help=help_text, no_args_is_help=not has_listing, rich_markup_mode=None, add_completion=False)
    app.add_typer(made, name=name)
    return made


def command(app: typer.Typer, name: str, *, workspace: str | None = None, **more: Any) -> Callable[[Command], Command]:
    """Register a function as a command; `workspace` replaces the help text of that option."""

    def register(function: Command) -> Command:
        app.command(name, **more)(_with_shared_options(function, workspace=workspace))
        return function

    return register


def listing(app: typer.Typer) -> Callable[[Command], Command]:
    """Register the function that a group runs when no subcommand is given."""

    def register(function: Command) -> Command:
        app.callback(invoke_without_command=True)(_with_shared_options(function, unless_named=True))
        return function

    return register


def _with_shared_options(function: Command, *, unless_named: bool = False, workspace: str | None = None) -> Command:
    def run(ctx: typer.Context, **given: Any) -> Exit | None:
        for name in _SHARED:
            given.pop(name)
        if unless_named and ctx.invoked_subcommand is not None:
            return None
        return function(_here(ctx), **given)

    # Typer reads the signature: the function's own parameters and the shared ones.
    own = list(inspect.signature(function).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    kinds = _SHARED if workspace is None else {**_SHARED, "workspace": (_elsewhere(workspace), None)}
    shared = [
        inspect.Parameter(name, keyword, annotation=kind, default=default) for name, (kind, default) in kinds.items()
    ]
    ctx = inspect.Parameter("ctx", keyword, annotation=typer.Context)
    parameters = [ctx, *(parameter.replace(kind=keyword) for parameter in own), *shared]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    return run


def _elsewhere(help_text: str) -> Any:
    option = typer.Option("--workspace", "-w", help=help_text, metavar="DIR", show_default=False)
    return Annotated[Path | None, option]


def _here(ctx: typer.Context) -> Here:
    """Combine the shared options given before and after the command's name; for the workspace the later one wins."""
    workspace, as_json, quiet = None, False, False
    level: Any = ctx
    while level is not None:
        workspace = workspace or level.params.get("workspace")
        as_json = as_json or bool(level.params.get("as_json"))
        quiet = quiet or bool(level.params.get("quiet"))
        level = level.parent
    there = "" if workspace is None else f" --workspace {shlex.quote(str(workspace))}"
    return Here(named=workspace, screen=Screen(as_json=as_json, quiet=quiet, there=there), room=_room_of(ctx))


def _room_of(ctx: typer.Context) -> str | None:
    """Return the room that brings the command that runs; None for the gate's own commands."""
    words: list[str | None] = []
    level: Any = ctx
    while level is not None:
        words.append(level.info_name)
        level = level.parent
    top = words[-2] if len(words) > 1 else None
    return None if top is None else room_of(top)
