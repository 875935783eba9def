"""`tally mcp serve` as clients really start it: a process, over stdio or HTTP."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TALLY = [sys.executable, "-m", "tallystick"]
CONFIG = '[gate]\ntools = ["tools.py"]\n[ledger]\ndurability = "os"\n'
TOOLS = """
import asyncio, os
from tallystick import report_progress, tool

@tool(effect="read")
def noisy(text: str) -> str:
    "Print a lot and give the text back."
    print("this is not JSON-RPC")
    os.system("echo neither is this")
    return text

@tool(effect="read", name="a.b")
async def steady() -> str:
    "Say how far it is."
    for done in (1, 2):
        report_progress(done, 2)
        await asyncio.sleep(0)
    return "done"

@tool(effect="external")
def send_mail(to: str) -> str:
    "Send a mail."
    return to
"""


def workspace_at(folder: Path, more: str = "", tools: str = TOOLS) -> Path:
    folder.mkdir(parents=True)
    (folder / "tools.py").write_text(tools)
    (folder / "tallystick.toml").write_text(CONFIG + more)
    return folder


def command(workspace: Path, *more: str) -> list[str]:
    return [*TALLY, "mcp", "serve", "--workspace", str(workspace), *more]


@contextmanager
def http_server(workspace: Path, *more: str) -> Iterator[str]:
    """A server on a free port; gives the address of its MCP door."""
    process = subprocess.Popen(
        command(workspace, "--http", "0", *more), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env=dict(os.environ),
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = ""
        while not (found := re.search(r"MCP clients: (\S+)", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        # The rest is said in one breath, and the pipe holds it.
        yield found[1]
    finally:
        process.terminate()
        process.communicate(timeout=30)
