"""`tally mcp`: serve tools to MCP clients, and put the gate in front of MCP servers."""

import typer

from tallystick.doors.cli.command import group
from tallystick.doors.cli.mcp import init as mcp_init
from tallystick.doors.cli.mcp import review as mcp_review
from tallystick.doors.cli.mcp import serve as mcp_serve
from tallystick.doors.cli.mcp import wrap as mcp_wrap


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    mcp = group(app, "mcp", "Serve MCP clients, and stand before MCP servers.")
    mcp_serve.add_to_group(mcp)
    mcp_wrap.add_to_group(mcp)
    mcp_review.add_to_group(mcp)
    mcp_init.add_to_group(mcp)
