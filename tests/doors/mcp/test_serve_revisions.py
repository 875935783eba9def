"""`tally mcp serve` under the official client, unmodified, in both kinds of revision and over both transports."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

from mcp import StdioServerParameters
from mcp.client.client import Client

from tallystick import Gate
from tests.doors.mcp.processes import command, http_server, workspace_at
from tests.verifying import verify

PATIENCE_S = 60
REVISIONS = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}
TOOLS = """
import asyncio, pathlib
from tallystick import ToolError, tool

@tool(effect="read")
def add(a: int, b: int) -> dict[str, int]:
    "Add two numbers."
    return {"sum": a + b}

@tool(effect="read")
def forbidden() -> str:
    "Be denied by policy."
    return "ran"

@tool(effect="read")
def broken() -> str:
    "Fail."
    raise ToolError("the tool broke")

@tool(effect="external")
def send_mail(to: str) -> str:
    "Send a mail."
    return to

@tool(effect="read")
async def endless(note: str) -> str:
    "Run until cancelled."
    pathlib.Path(note).write_text("begun")
    await asyncio.Event().wait()
    return note
"""


@pytest.fixture(params=[(transport, mode) for transport in ("stdio", "http") for mode in REVISIONS], ids="-".join)
def served(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, str]:
    more = f'[storage]\nstate_dir = "{tmp_path / "state"}"\n[tools.forbidden]\ndecision = "deny"\n'
    return workspace_at(tmp_path / "ws", more, TOOLS), *request.param


def talk(served: tuple[Path, str, str], what: Callable[[Client], Awaitable[Any]]) -> Any:
    workspace, transport, mode = served
    program, *words = command(workspace, "--wait", "0")

    @asynccontextmanager
    async def client(url: str | None) -> AsyncIterator[Client]:
        server = url or StdioServerParameters(command=program, args=words, env=dict(os.environ))
        async with asyncio.timeout(PATIENCE_S), Client(server, mode=mode) as made:
            assert made.session.protocol_version == REVISIONS[mode]
            yield made

    async def run(url: str | None) -> Any:
        async with client(url) as made:
            return await what(made)

    with http_server(workspace, "--wait", "0") if transport == "http" else nullcontext() as url:
        return asyncio.run(run(url))


@pytest.mark.promise("mcp.revisions")
def test_every_end_of_a_call_reaches_the_model_in_every_revision(served: tuple[Path, str, str]) -> None:
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "POLICY_VIOLATION": ("forbidden", {}), "approval_required": ("send_mail", {"to": "a"}),
        "INVALID_TOOL_NAME": ("no_such_tool", {}), "INVALID_PAYLOAD": ("add", {"a": "x", "b": 1}),
        "downstream_error": ("broken", {}), "": ("add", {"a": 1, "b": 2}),
    }  # fmt: skip

    async def ask(client: Client) -> dict[str, Any]:
        await client.list_tools()
        return {code: await client.call_tool(*call) for code, call in calls.items()}

    came = talk(served, ask)

    good = came.pop("")
    assert (good.structured_content, good.is_error) == ({"sum": 3}, False)
    for code, result in came.items():
        assert result.is_error
        assert result.content[0].text.startswith(code)
        assert result.structured_content["code"] == code
    assert verify(served[0]).ok


@pytest.mark.promise("mcp.revisions", "mcp.cancel")
def test_a_client_that_cancels_a_call_can_make_the_next_one(served: tuple[Path, str, str], tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def leave(client: Client) -> Any:
        calling = asyncio.ensure_future(client.call_tool("endless", {"note": str(note)}))
        while not note.exists():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        return await client.call_tool("add", {"a": 2, "b": 2})

    assert talk(served, leave).structured_content == {"sum": 4}
    with Gate.open(served[0], plugins=False) as gate:
        outcomes = [one.header["outcome"] for one in gate.ledger.read() if one.header["kind"] == "outcome"]
    assert sorted(str(one.get("fault")) for one in outcomes) == ["None", "cancelled"]
