"""The Typer declaration of `tally mcp wrap`, for the help and for programs that call the app.

A real command line is parsed by `wrap_args.py`, which loads almost nothing.
"""

from typing import Annotated

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, UsageMistake
from tallystick.doors.cli.mcp.wrap_args import WordsError, read_words
from tallystick.doors.cli.workspace import Here

Words = Annotated[
    list[str] | None, typer.Argument(metavar="-- COMMAND…", help="The server's command, as the client would start it.")
]
Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="Instead of a command: a server that speaks streamable HTTP.")
]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="'NAME: VALUE'", help="With --url; ${NAME} stands for a variable. Repeatable."),
]
PolicyFile = Annotated[
    str | None, typer.Option("--policy", metavar="FILE", help="Instead of the workspace's tallystick.toml.")
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What the server is called here. Default: by its command.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Take no arguments that a tool's schema does not name.")]
TrustNew = Annotated[bool, typer.Option("--trust-new", help="Use tools that the server gets later without a review.")]
Hold = Annotated[float, typer.Option("--hold", metavar="S", help="How long a call waits for a person.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="S", help="How long one call may take.")]
StartTimeout = Annotated[
    float, typer.Option("--start-timeout", metavar="S", help="How long the server may take to begin.")
]
MaxOutput = Annotated[int, typer.Option("--max-output", metavar="BYTES", help="The largest result that is passed on.")]


def add_to_group(mcp: typer.Typer) -> None:
    """Add the command to the group `mcp`."""
    command(mcp, "wrap", workspace="Where the receipts lie. Default: ~/.tallystick/relay/NAME.")(wrap)


def wrap(  # noqa: PLR0913, PLR0917 - each parameter is a named option
    here: Here,
    words: Words = None,
    url: Url = None,
    header: Headers = None,
    policy: PolicyFile = None,
    name: Name = None,
    strict: Strict = False,
    trust_new: TrustNew = False,
    hold: Hold = 45,
    timeout: Timeout = 600,
    start_timeout: StartTimeout = 60,
    max_output: MaxOutput = 16 * 1024 * 1024,
) -> Exit:
    """Put the gate in front of an MCP server.

    Speaks MCP on stdin and stdout. Everything passes as it is; each tool call is checked, decided by the policy and
    recorded.
    """
    from tallystick.doors.mcp.relay.wrap import wrap as begin

    options = [
        f"--hold={hold}",
        f"--timeout={timeout}",
        f"--start-timeout={start_timeout}",
        f"--max-output={max_output}",
    ]
    given = (("--url", url), ("--policy", policy), ("--name", name), ("--workspace", here.named))
    options += [f"{option}={value}" for option, value in given if value is not None]
    options += [f"--header={value}" for value in header or ()]
    options += [*(["--strict"] if strict else []), *(["--trust-new"] if trust_new else [])]
    options += ["--quiet"] if here.screen.quiet else []
    try:
        wrapping = read_words([*options, *(["--", *words] if words else [])])
    except WordsError as error:
        raise UsageMistake(str(error)) from None
    return Exit(begin(wrapping))
