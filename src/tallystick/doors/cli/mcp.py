"""`tally mcp`: MCP clients before the gate, MCP servers behind it."""

import typer

from tallystick.doors.cli import mcp_serve
from tallystick.doors.cli.command import group


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    mcp = group(app, "mcp", "Serve tools to MCP clients, and put the gate before MCP servers.")
    mcp_serve.add_to_group(mcp)
