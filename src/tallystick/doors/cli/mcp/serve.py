"""`tally mcp serve`: offer the workspace's tools to MCP clients."""

from typing import Annotated

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here

WAIT_S = 45.0
"""The same value as in `doors.presentation.approval_wait`, which is too slow to load for --help."""


def add_to_group(mcp: typer.Typer) -> None:
    """Add the command to the group `mcp`."""
    command(mcp, "serve")(serve)


def serve(
    here: Here,
    http: Annotated[
        int | None,
        typer.Option("--http", metavar="PORT", min=0, max=65535, help="Serve over HTTP at /mcp. Default: stdio."),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="S", min=0, max=3600, help="How long a held call waits for a person.")
    ] = WAIT_S,
    show_receipts: Annotated[
        bool, typer.Option("--show-receipts", help="Say each receipt's id in the result's text, for models that cite.")
    ] = False,
) -> Exit:
    """Serve the workspace's tools to MCP clients.

    Over stdin and stdout, as clients start servers; with --http as `tally serve` does, at /mcp, with its rules.
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
