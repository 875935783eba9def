"""A served workspace without a port: requests go through guard, short way and routes as they would over the wire."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import httpx

from tallystick.doors.serve import Server
from tallystick.gate.record.receipt import Receipt
from tallystick.settings import parse_settings
from tests.doors.http.house import Ran, house_tools
from tests.doors.tokens import SECRET
from tests.doors.tokens import token as make_token
from tests.gates import every_room

PORT = 8787
BASE = f"http://127.0.0.1:{PORT}"
AUTH = {"enabled": True, "jwt_secret": SECRET}
PLAIN: dict[str, Any] = {
    "ledger": {"durability": "os"},
    "policy": {"write": "allow"},
    "tools": {"forbidden": {"decision": "deny"}, "rated": {"rate": 1}, "picky": {"rules": [
        {"name": "small_only", "schema": {"properties": {"number": {"maximum": 9}}}},
    ]}},
}  # fmt: skip


class Doorway:
    """One open server, and the ways to call it."""

    def __init__(self, workspace: Path, **changes: Any) -> None:
        self.workspace = workspace
        self.state = workspace.with_name(f"{workspace.name}-state")
        settings = {**PLAIN, "storage": {"state_dir": str(self.state)}, **changes}
        settings["rooms"] = every_room(changes.get("rooms"))
        self.server = Server(workspace, parse_settings(settings))
        self.gate = self.server.gate
        self.ran = Ran()
        self.gate.register(*house_tools(self.ran, self.gate))

    def close(self) -> None:
        self.server.close()

    @property
    def person(self) -> dict[str, str]:
        """The headers of somebody who has the start-up token."""
        return {"x-tally-token": self.server.startup.value}

    def client(self, app: Any = None) -> httpx.AsyncClient:
        """A client on this machine; `app` instead of what is served."""
        transport = httpx.ASGITransport(
            app=app or self.server.app, client=("127.0.0.1", 50_000), raise_app_exceptions=False
        )
        return httpx.AsyncClient(transport=transport, base_url=BASE)

    def request(self, method: str, path: str, *, app: Any = None, **more: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            async with self.client(app) as client:
                return await client.request(method, path, **more)

        return asyncio.run(ask())

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self.request("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """POST; bytes and text go as they are, anything else as JSON."""
        if isinstance(body, str | bytes):
            return self.request("POST", path, content=body, **more)
        return self.request("POST", path, **({} if body is None else {"json": body}), **more)

    def call(self, tool: str, args: Any = None, **fields: Any) -> httpx.Response:
        return self.post("/api/gate/call", {"tool": tool, "args": {} if args is None else args, **fields})

    def held(self, to: str = "a@example.org", **more: Any) -> str:
        """A call that waits for a person: its approval id."""
        answer = self.post("/api/gate/call", {"tool": "send_mail", "args": {"to": to}}, **more)
        assert answer.status_code == 202, answer.text
        approval_id: str = answer.json()["held"]["approval_id"]
        return approval_id

    def receipts(self, since: int = 0) -> list[Receipt]:
        return list(self.gate.ledger.read(since))

    def outcomes(self, since: int = 0) -> list[Receipt]:
        """The outcome receipts from a place in the log on."""
        return [receipt for receipt in self.receipts(since) if receipt.header["kind"] == "outcome"]


def bearer(*roles: str, subject: str = "ada", **changes: Any) -> dict[str, str]:
    """The headers of a caller with a token."""
    # A day: some are made when a file is loaded, and used at the end of a slow run.
    claims = {"sub": subject, "exp": int(time.time()) + 86_400, "roles": list(roles)}
    return {"authorization": f"Bearer {make_token(claims, **changes)}"}


def together(client: httpx.AsyncClient, requests: Iterable[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Run all at once on one loop."""

    async def run() -> list[Any]:
        async with client:
            return list(await asyncio.gather(*(request() for request in requests)))

    return asyncio.run(run())


def problem(answer: httpx.Response, status: int, category: str) -> dict[str, Any]:
    """Check that an answer is exactly a problem payload; gives its details."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"category", "message", "details"}
    assert body["error"]["category"] == category
    assert body["error"]["details"].keys() <= {"tool_name", "endpoint", "status", "hint"}
    assert "Traceback" not in answer.text
    details: dict[str, Any] = body["error"]["details"]
    return details
