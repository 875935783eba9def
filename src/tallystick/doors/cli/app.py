"""The Typer app, and the place where every error becomes a line on stderr and an exit code."""

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tallystick import __version__
from tallystick.doors.cli import (
    activity,
    agents,
    approvals,
    audit,
    bundles,
    calls,
    chat,
    demo,
    doctor,
    evidence,
    journal,
    keys,
    models,
    policy,
    replay,
    server,
    setup,
)
from tallystick.doors.cli.command import Json, Quiet, Workspace
from tallystick.doors.cli.exits import Exit, exit_of
from tallystick.doors.cli.mcp import commands as mcp
from tallystick.doors.cli.rooms import room_command, room_commands
from tallystick.doors.cli.screen import say_error
from tallystick.doors.cli.workspace import MARKS
from tallystick.errors import PartMissing, TallyError

NAME = "tally"
HELP = ("--help", "-h")
BEFORE_ROOMS = (
    "demo",
    "init",
    "rooms",
    "tools",
    "call",
    "audit",
    "prove",
    "bundle",
    "check",
    "replay",
    "policy",
    "approvals",
    "evidence",
    "chat",
    "notifications",
    "telemetry",
    "agents",
    "models",
    "credits",
)
"""The first commands of the help, from calling to auditing; the rooms' commands come next, then the others."""


class RootCommand(TyperGroup):
    """The root command: runs a command and converts its result to an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the command names in the order of the help."""
        own = super().list_commands(ctx)
        first = sorted(set(own) & set(BEFORE_ROOMS), key=BEFORE_ROOMS.index)
        return [*first, *room_commands(), *(name for name in own if name not in BEFORE_ROOMS)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name; a room's command is loaded on demand."""
        return super().get_command(ctx, cmd_name) or room_command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands without loading a room: its manifest has the help line."""
        lines = {name: found.help for name, found in room_commands().items()}
        limit = formatter.width - 6 - max(map(len, self.list_commands(ctx)))
        rows = [
            (name, lines[name] if name in lines else self.commands[name].get_short_help_str(limit))
            for name in self.list_commands(ctx)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **extra: Any) -> Any:
        """Run one command line; always ends with `SystemExit`."""
        del prog_name  # always `tally`, however it was started
        words = list(sys.argv[1:] if args is None else args)
        asked = words[: words.index("--")] if "--" in words else words
        _make_streams_safe()
        told = self._help_for(words)
        if told is not None:
            sys.stdout.write(told + "\n")
            sys.exit(Exit.OK)
        extra["standalone_mode"] = False
        try:
            ended = super().main(words, NAME, *more, **extra)
            # Flush here, where an error still gets its line and exit code; at interpreter exit it would be 120.
            sys.stdout.flush()
        except Exception as error:  # noqa: BLE001 - the outermost handler: no error may end as a traceback
            ended = _end(error, as_json="--json" in asked)
        sys.exit(int(ended) if isinstance(ended, int) else Exit.OK)

    def _help_for(self, words: list[str]) -> str | None:
        """Return the help text if that is all that was asked for, as in `tally audit list --help`.

        Parsing even one option makes Typer load pydantic, which takes longer than everything else.
        """
        if not words or words[-1] not in HELP:
            return None
        command: Any = self
        context = typer.Context(self, info_name=NAME, **self.context_settings)
        for word in words[:-1]:
            find = getattr(command, "get_command", None)
            command = None if find is None else find(context, word)
            if command is None:
                return None
            context = typer.Context(command, info_name=word, parent=context)
        told: str = command.get_help(context)
        return told


app = typer.Typer(
    cls=RootCommand,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(HELP)},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"tallystick {__version__}")
        raise typer.Exit


@app.callback()
def tally(
    workspace: Workspace = None,
    as_json: Json = False,
    quiet: Quiet = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Every tool call is a proposal, every run leaves a receipt, every claim shows its evidence."""


for part in (
    *(calls, audit, bundles, replay, policy, approvals, evidence, chat, agents, models, mcp, keys, journal),
    *(server, doctor, demo, activity, setup),
):
    part.add_to(app)


def main() -> None:
    """Run the command line of this process."""
    app()


def _end(error: Exception, *, as_json: bool) -> Exit:
    """Print an error as one line and return its exit code."""
    if isinstance(error, TallyError):
        say_error(error.code, str(error), as_json=as_json)
        return exit_of(error)
    if isinstance(error, typer.Abort):
        say_error("interrupted", "nothing was done", as_json=as_json)
        return Exit.INTERRUPTED
    told = getattr(error, "format_message", None)
    if told is not None and getattr(error, "exit_code", None) == Exit.USAGE:
        return _end_usage(error, told(), as_json=as_json)
    if isinstance(error, OSError):
        _drop_output()
        place = f"{error.filename}: " if error.filename else ""
        say_error("io_failed", f"{place}{error.strerror or error}.{_advice(error)}", as_json=as_json)
        return Exit.REFUSED
    if isinstance(error, ImportError) and (missing := _missing_part(error)) is not None:
        say_error(missing.code, str(missing), as_json=as_json)
        return exit_of(missing)
    return _end_bug(error, as_json=as_json)


def _missing_part(error: ImportError) -> PartMissing | None:
    from tallystick.extras import part_of

    return part_of(error)


def _advice(error: OSError) -> str:
    """Return advice for a workspace that is not writable: reading commands also lock it and update its state."""
    ours = not set(MARKS).isdisjoint(Path(str(error.filename)).parts)
    if not ours or error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return ""
    return (
        " A workspace must be writable, also for commands that only read: make the folder writable, or copy it and "
        "give --workspace COPY."
    )


def _drop_output() -> None:
    """Discard output that could not be written; it would fail again when the interpreter exits."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        return
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _end_usage(error: Exception, message: str, *, as_json: bool) -> Exit:
    """Print a usage error with a pointer to the command's help."""
    ctx = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(message + "\n")
        return Exit.USAGE
    hint = "" if ctx is None else f" See '{ctx.command_path} --help'."
    say_error("usage", f"{message}{hint}", as_json=as_json)
    return Exit.USAGE


def _end_bug(error: Exception, *, as_json: bool) -> Exit:
    from tallystick.settings import debugging

    if debugging():
        traceback.print_exception(error)
    hint = "This is a bug. Run it again with TALLY_DEBUG=1 to see where."
    say_error("bug", f"{type(error).__name__}: {error}. {hint}", as_json=as_json)
    return Exit.BUG


def _make_streams_safe() -> None:
    """Write characters that the terminal cannot encode as escapes instead of raising an exception."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
