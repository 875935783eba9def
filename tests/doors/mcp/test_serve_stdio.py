"""`tally mcp serve` over stdio: the SDK's client, odd lines, and how it ends."""

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tallystick import Gate
from tallystick.doors.mcp.serve.server import Serving
from tallystick.doors.mcp.serve.stdio import WAITING, _Wire
from tallystick.settings import load_settings
from tests.doors.mcp.processes import command, workspace_at
from tests.doors.mcp.served import ERAS
from tests.verifying import verify

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return workspace_at(tmp_path / "ws")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.promise("mcp.stdio", "mcp.progress")
def test_a_client_calls_over_stdio_and_what_tools_print_never_reaches_it(workspace: Path, era: str) -> None:
    heard: list[float] = []

    async def hear(done: float, _total: float | None, _message: str | None) -> None:
        heard.append(done)

    async def talk() -> list[Any]:
        program, *words = command(workspace, "--wait", "0")
        server = stdio_client(StdioServerParameters(command=program, args=words, env=dict(os.environ)))
        async with Client(server, mode=era) as client:
            return [
                await client.call_tool("noisy", {"text": "ünï\u2028"}),
                await client.call_tool("a__b", {}, progress_callback=hear),
                await client.call_tool("send_mail", {"to": "x"}),
            ]

    noisy, steady, held = asyncio.run(talk())

    assert (noisy.content[0].text, steady.content[0].text) == ("ünï\u2028", "done")
    assert heard == [1, 2]
    assert held.structured_content["code"] == "approval_required"
    assert verify(workspace).ok
    with Gate.open(workspace, plugins=False) as gate:
        # One session, whatever the protocol's era; no session of another client.
        (session,) = [name for name in gate.ledger.sessions() if name.startswith("mcp-")]
        assert {"noisy", "a.b", "send_mail"} <= {each.header.get("tool_id") for each in gate.ledger.session(session)}


@pytest.mark.promise("mcp.strict-json")
def test_what_two_parsers_could_read_differently_is_refused_and_recorded(workspace: Path) -> None:
    twice = (
        '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"noisy","arguments":{"text":"a","text":"b"}}}'
    )
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        twice.encode(), b"not json", b"[1]", b'{"hello":1}', b'{"id":8,"x":"\xff"}', b'{"x":"' + b"a" * 3_000_000 + b'"}',
        json.dumps({"jsonrpc": "2.0", "id": 9, "method": "ping"}).encode(),
    ]  # fmt: skip
    (workspace / "tallystick.toml").write_text(
        (workspace / "tallystick.toml").read_text() + "[server]\nmax_body_bytes = 2000000\n"
    )
    with subprocess.Popen(
        command(workspace), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n".join(lines) + b"\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(8)]
        process.stdin.close()
        assert process.wait(30) == 0

    codes = {(each.get("id"), each["error"]["code"]) for each in answers if "error" in each}
    assert codes == {(7, -32700), (None, -32700), (None, -32600)}
    assert len([each for each in answers if "error" in each]) == 6
    assert {each["id"] for each in answers if "result" in each} == {1, 9}
    with Gate.open(workspace, plugins=False) as gate:
        for each in answers:
            if "error" in each:
                assert gate.ledger.find(each["error"]["data"]["receipt_id"]) is not None


@pytest.mark.promise("mcp.strict-json")
def test_a_call_that_is_none_leaves_a_receipt_and_whoever_waits_is_told(workspace: Path) -> None:
    params = ["[]", "{}", '{"name":5}', '{"name":"noisy","arguments":[]}', '{"name":"noisy","arguments":"x"}']
    texts = [r'"\ud83d"', "NaN", "1e999"]
    asked = [*params, *(f'{{"name":"noisy","arguments":{{"text":{text}}}}}' for text in texts)]
    calls = [f'{{"jsonrpc":"2.0","id":{at},"method":"tools/call","params":{one}}}' for at, one in enumerate(asked, 10)]
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    with subprocess.Popen(
        command(workspace), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n".join([hello, *calls, ""]).encode())
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(1 + len(calls))]
        process.stdin.close()
        assert process.wait(30) == 0

    errors = {each["id"]: each["error"] for each in answers if "error" in each}
    assert [errors[at]["code"] for at in range(10, 18)] == [-32602] * 5 + [-32700] * 3
    with Gate.open(workspace, plugins=False) as gate:
        assert all(gate.ledger.find(each["data"]["receipt_id"]) for each in errors.values())


@pytest.mark.parametrize("how", ["stdin closed", "terminated", "killed pipe"])
@pytest.mark.promise("mcp.stdio")
def test_the_server_ends_with_its_client_and_leaves_a_sound_ledger(workspace: Path, how: str) -> None:
    process = subprocess.Popen(
        command(workspace), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}).encode() + b"\n"
    )
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["capabilities"]["tools"]["listChanged"]
    if how == "terminated":
        process.send_signal(signal.SIGTERM)
    elif how == "killed pipe":
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        process.stdin.flush()
    else:
        process.stdin.close()
    try:
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()
    assert verify(workspace).ok


@pytest.mark.promise("mcp.stdio", "mcp.strict-json")
def test_a_client_that_sends_everything_at_once_gets_every_answer(workspace: Path) -> None:
    to_server, from_server = os.pipe(), os.pipe()
    pings = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(10, 10 + 2 * WAITING)]
    first = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    sent = b"".join(json.dumps(message).encode() + b"\n" for message in [*first, *pings])
    sent += b'{"id":2,"id":3}\n{"hello":1}\n' + b"x" * 300_000 + b"\n"

    async def talk(gate: Gate) -> list[dict[str, Any]]:
        wire = _Wire(gate, Serving(gate, session_id="mcp-x", wait_s=0), "mcp-x", to_server[0], from_server[1])
        answers: list[dict[str, Any]] = []

        def client() -> None:
            with os.fdopen(to_server[1], "wb") as out, os.fdopen(from_server[0], "rb", closefd=False) as back:
                out.write(sent)
                out.flush()
                answers.extend(json.loads(back.readline()) for _ in range(len(pings) + 4))

        async with asyncio.TaskGroup() as group:
            group.create_task(wire.serve())
            group.create_task(asyncio.to_thread(client))
        return answers

    settings = load_settings(workspace)
    small = settings.model_copy(update={"server": settings.server.model_copy(update={"max_body_bytes": 200_000})})
    try:
        with Gate.open(workspace, settings=small) as gate:
            answers = asyncio.run(talk(gate))
    finally:
        for fd in (to_server[0], *from_server):
            os.close(fd)

    assert {each["id"] for each in answers if "result" in each} == {1, *(ping["id"] for ping in pings)}
    assert [each["error"]["code"] for each in answers if "error" in each] == [-32700] * 3
