"""`tally mcp serve` as clients really start it: a process, over stdio or HTTP."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import uvicorn

from tallystick.doors.http.protocol import uvicorn_options
from tallystick.doors.serve import Server
from tallystick.settings import load_settings

TALLY = [sys.executable, "-m", "tallystick"]
CONFIG = '[gate]\ntools = ["tools.py"]\n[ledger]\ndurability = "os"\n'
TOOLS = """
import asyncio, os
from tallystick import report_progress, tool

@tool(effect="read", roles={"viewer"})
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
        process.communicate(timeout=120)


@contextmanager
def http_server_here(workspace: Path) -> Iterator[str]:
    """The same in this process, on a thread, so that what it runs is measured."""
    settings = load_settings(workspace)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening,
        closing(Server(workspace, settings, mcp_wait_s=0)) as served,
    ):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(**uvicorn_options(served.app, settings.server)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            thread.join(30)
