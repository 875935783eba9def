"""`tally mcp`: serve tools to MCP clients, and put the gate in front of one MCP server or many.

`tally mcp wrap` is declared here for the help and for programs that call the app; a real command line is parsed by
`wrap_args.py`, which loads almost nothing.
"""

from typing import Annotated, Any

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, UsageMistake
from tallystick.doors.cli.mcp import init as mcp_init
from tallystick.doors.cli.mcp import review as mcp_review
from tallystick.doors.cli.mcp.wrap_args import GATEWAY, WordsError, read_words
from tallystick.doors.cli.workspace import Here


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    mcp = group(app, "mcp", "Serve tools to MCP clients, and wrap MCP servers.")
    command(mcp, "serve")(serve)
    command(mcp, "wrap", workspace="Folder of the receipts. Default: ~/.tallystick/relay/NAME.")(wrap)
    command(mcp, "gateway", workspace="Folder of the gateway. Default: ~/.tallystick/gateway.")(gateway)
    mcp_review.add_to_group(mcp)
    mcp_init.add_to_group(mcp)


WAIT_S = 45.0
"""The same value as in `doors.presentation.approval_wait`, which is too slow to load for --help."""


def serve(
    here: Here,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=0, max=65535, help="Serve over HTTP at /mcp. Default: stdio."),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="S", min=0, max=3600, help="How long a held call waits for approval.")
    ] = WAIT_S,
    show_receipts: Annotated[
        bool, typer.Option("--show-receipts", help="Add each receipt's id to the result's text, for models that cite.")
    ] = False,
) -> Exit:
    """Serve the workspace's tools to MCP clients.

    Over stdin and stdout by default; with --http at /mcp, with the access rules of `tally serve`.
    Every call goes through the gate; receipts can be read as resources.
    """
    from tallystick.extras import need

    need("mcp")
    if http is not None:
        from tallystick.doors.serve import run_server

        run_server(here.open_workspace(), port=http, worker=False, mcp_wait_s=wait, show_receipts=show_receipts)
        return Exit.OK
    from tallystick.doors.mcp.serve.stdio import serve_stdio

    with here.gate(plugins=True, make=True) as gate:
        serve_stdio(gate, wait_s=wait, show_receipts=show_receipts)
    return Exit.OK


Words = Annotated[list[str] | None, typer.Argument(metavar="-- COMMAND…", help="The command that starts the server.")]
Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="Instead of a command: a server with streamable HTTP.")
]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="'NAME: VALUE'", help="With --url; ${NAME} stands for a variable. Repeatable."),
]
PolicyFile = Annotated[
    str | None, typer.Option("--policy", metavar="FILE", help="Instead of the workspace's tallystick.toml.")
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="Name of the server here. Default: from its command.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Reject arguments that a tool's schema does not name.")]
TrustNew = Annotated[bool, typer.Option("--trust-new", help="Allow tools that the server adds later without a review.")]
Hold = Annotated[float, typer.Option("--hold", metavar="S", help="How long a held call waits for approval.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="S", help="How long one call may take.")]
StartTimeout = Annotated[
    float, typer.Option("--start-timeout", metavar="S", help="How long the server may take to start.")
]
MaxOutput = Annotated[int, typer.Option("--max-output", metavar="BYTES", help="Maximum size of a result.")]


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

    Speaks MCP on stdin and stdout. Messages pass unchanged; each tool call is checked, decided by policy and recorded.
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


def gateway(
    here: Here,
    view: Annotated[
        str | None, typer.Option("--view", metavar="NAME", help="Only the servers of this view. Default: all.")
    ] = None,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=0, max=65535, help="Serve over HTTP at /mcp. Default: stdio."),
    ] = None,
    policy: PolicyFile = None,
    strict: Strict = False,
    trust_new: TrustNew = False,
    hold: Hold = 45,
    timeout: Timeout = 600,
    start_timeout: StartTimeout = 60,
    max_output: MaxOutput = 16 * 1024 * 1024,
) -> Exit:
    """Put one gate in front of many MCP servers.

    Speaks MCP on stdin and stdout; with --http at /mcp on this machine, for several clients at once. The servers are
    those of servers.json in the workspace, which is read again when it changes; each tool has its server's name in
    front. One policy, one ledger and one list of approvals are for all.
    """
    if http is not None:
        from tallystick.extras import need

        need("mcp")
    limits = {"hold_s": hold, "timeout_s": timeout, "start_timeout_s": start_timeout, "max_output": max_output}
    return _gateway(here, view=view, port=http, policy=policy, strict=strict, trust_new=trust_new, **limits)


def _gateway(here: Here, **options: Any) -> Exit:
    from tallystick.doors.mcp.gateway.run import run_gateway
    from tallystick.doors.mcp.relay.options import Wrapping

    workspace = str((here.named or GATEWAY).expanduser().absolute())
    quiet = here.screen.quiet
    return Exit(run_gateway(Wrapping(name="gateway", gateway=True, workspace=workspace, quiet=quiet, **options)))
