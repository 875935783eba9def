"""A server made with the official SDK that speaks every revision of the protocol, over stdio or as a web application."""

from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

INSTRUCTIONS = "Ask for sums."
server = MCPServer("revisions", instructions=INSTRUCTIONS, log_level="ERROR")


@server.tool()
def get_sum(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@server.tool()
def get_secret() -> str:
    """Be denied by policy."""
    return "the secret"


@server.tool()
def send_mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


@server.tool()
def get_broken() -> str:
    """Fail."""
    raise ToolError("the tool broke")


@server.tool()
async def get_steps(ctx: Context) -> str:
    """Report progress."""
    for done in (1, 2, 3):
        await ctx.report_progress(done, 3, f"step {done}")
    return "all steps done"


@server.tool()
async def get_forever(note: str) -> str:
    """Run until cancelled, and note both."""
    await anyio.Path(note).write_text("begun")
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.Path(note).write_text("cancelled")
    return "never"


@server.tool()
def get_region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Give back an argument that clients repeat in a header."""
    return region


if __name__ == "__main__":
    server.run("stdio")
