"""A workspace served to the SDK's own client, without a process and without a port."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client

from tallystick import Gate, Tool, ToolError, report_progress, tool
from tallystick.doors.mcp.serve.server import Serving
from tallystick.settings import parse_settings

SESSION = "mcp-test"
ERAS = ("legacy", "auto")
"""The handshake of older clients, and the newest protocol."""


class House:
    """One open gate with tools for every ending, and what really ran."""

    def __init__(self, workspace: Path, **changes: Any) -> None:
        self.gate = Gate.open(
            workspace,
            settings=parse_settings({
                "ledger": {"durability": "os"}, "policy": {"write": "allow"}, "storage": {"state_dir": os.environ["TALLY_STATE_DIR"]},
                "tools": {"forbidden": {"decision": "deny"}}, **changes,
            }),
            plugins=False,
        )  # fmt: skip
        self.ran: list[Any] = []
        self.begun = asyncio.Event()
        self.gate.register(*self._tools())

    def close(self) -> None:
        self.gate.close()

    def receipts(self, session_id: str = SESSION) -> list[dict[str, Any]]:
        return [receipt.flat() for receipt in self.gate.ledger.session(session_id)]

    @asynccontextmanager
    async def client(self, mode: str = "auto", **how: Any) -> AsyncIterator[Client]:
        serving = Serving(self.gate, session_id=SESSION, **{"wait_s": 0.0, **how})
        async with Client(serving.server(), mode=mode) as client:
            yield client

    def talk(self, what: Callable[[Client], Awaitable[Any]], mode: str = "auto", **how: Any) -> Any:
        """Run a conversation with one client."""

        async def run() -> Any:
            async with self.client(mode, **how) as client:
                return await what(client)

        return asyncio.run(run())

    def _tools(self) -> list[Tool]:
        @tool(effect="read", name="math.double", inline=True)
        def double(number: int) -> int:
            "Twice the number."
            self.ran.append(number)
            return 2 * number

        @tool(effect="read", inline=True)
        def about(name: str) -> dict[str, Any]:
            "Say something of a name."
            return {"name": name, "length": len(name)}

        @tool(effect="external")
        def send_mail(to: str) -> str:
            "Send a mail."
            self.ran.append(to)
            return f"sent to {to}"

        @tool(effect="read")
        def forbidden() -> str:
            "Be denied by policy."
            self.ran.append("forbidden")
            return "ran"

        @tool(effect="read", inline=True)
        def absent() -> str:
            "Say that something is not there."
            raise ToolError("no such thing", status=404, hint="Look elsewhere.")

        @tool(effect="read")
        def steady() -> str:
            "Say how far it is, from a thread."
            for done in (1, 2, 2, 3):
                report_progress(done, 3, f"step {done}")
            return "done"

        @tool(effect="write", timeout_s=30)
        async def endless(name: str) -> str:
            "Wait until cancelled."
            self.begun.set()
            await asyncio.Event().wait()
            return name

        return [double, about, send_mail, forbidden, absent, steady, endless]
