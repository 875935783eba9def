"""L03: the client leaves in the middle of a tool run; the receipt says cancelled or finished, and is never missing."""

import asyncio
import json
import threading
from typing import Any

import pytest

from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway
from tests.doors.http.test_server import Running

PATH = "/api/gate/call"


def run_and_cancel(door: Doorway, tool: str, path: str, body: dict[str, Any]) -> None:
    """Ask, wait until the tool has begun, and go."""

    async def leave() -> None:
        async with door.client() as client:
            request = asyncio.ensure_future(client.post(path, json=body))
            await asyncio.to_thread(door.ran.begun.wait, 20)
            request.cancel()
            # A thread cannot be stopped: it is let go, so that the test ends; the receipt is written before that.
            door.ran.go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await request

    asyncio.run(leave())


@pytest.mark.promise("doors.http-leaving")
@pytest.mark.parametrize("tool", ["patient", "endless"])
@pytest.mark.parametrize("durability", ["os", "fsync"])
def test_L03_a_request_that_is_cancelled_leaves_a_cancelled_receipt(
    open_door: OpenDoor, tool: str, durability: str
) -> None:
    door = open_door(ledger={"durability": durability})
    run_and_cancel(door, tool, PATH, {"tool": tool, "args": {"name": "x"}})
    kinds = [receipt.header["kind"] for receipt in door.receipts()]
    assert kinds == ["started", "outcome"]
    outcome = door.outcomes()[0].header
    assert outcome["outcome"]["fault"] == "cancelled"
    assert outcome["links"]["started"] == door.receipts()[0].receipt_id
    assert door.post("/api/audit/verify").json()["ok"] is True
    assert door.call("double", {"number": 1}).status_code == 200


@pytest.mark.promise("doors.http-leaving")
def test_L03_a_turn_whose_client_left_is_recorded_too(open_door: OpenDoor) -> None:
    door = open_door()
    turn = door.post("/api/gate/turns", {}).json()
    text = json.dumps({"tool": "endless", "args": {"name": "x"}, "nonce": turn["nonce"]})
    run_and_cancel(door, "endless", f"/api/gate/turns/{turn['turn_id']}/submit", {"text": text})
    assert [receipt.header["outcome"]["fault"] for receipt in door.outcomes()] == ["cancelled"]


@pytest.mark.promise("doors.http-leaving")
def test_L03_a_connection_that_breaks_lets_the_tool_finish_and_the_receipt_says_so(open_door: OpenDoor) -> None:
    door = open_door()
    running = Running(door.server.app, door.gate.settings.server)
    try:
        body = json.dumps({"tool": "patient", "args": {"name": "x"}}).encode()
        head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection = running.connect()
        connection.sendall(head.encode() + body)
        assert door.ran.begun.wait(20)
        connection.close()
        door.ran.go_on.set()
        recorded = threading.Event()
        watcher = threading.Thread(target=_wait_for_outcome, args=(door, recorded), daemon=True)
        watcher.start()
        assert recorded.wait(20)
    finally:
        running.close()
    outcome = door.outcomes()[0].header["outcome"]
    assert outcome["status"] == "accepted"
    assert outcome.get("fault") in {None, "cancelled"}
    assert door.ran.calls == [("patient", "x")]


def _wait_for_outcome(door: Doorway, recorded: threading.Event) -> None:
    while not door.outcomes():
        threading.Event().wait(0.01)
    recorded.set()
