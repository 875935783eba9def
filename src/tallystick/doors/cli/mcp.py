"""`tally mcp`: MCP clients before the gate, MCP servers behind it."""

import typer

from tallystick.doors.cli import mcp_init, mcp_review, mcp_serve, mcp_wrap
from tallystick.doors.cli.command import group


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    mcp = group(app, "mcp", "Serve MCP clients, and stand before MCP servers.")
    mcp_serve.add_to_group(mcp)
    mcp_wrap.add_to_group(mcp)
    mcp_review.add_to_group(mcp)
    mcp_init.add_to_group(mcp)
