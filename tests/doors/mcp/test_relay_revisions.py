"""`tally mcp wrap` under the official client, unmodified, in both kinds of revision and before both kinds of server."""

import asyncio
import json
import os
import socket
import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvicorn

pytest.importorskip("mcp", reason="left out: the relay under the official client, the mcp extra is not there")

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.types import Implementation

from tallystick import Gate
from tallystick.doors.mcp.relay.pins import FILE
from tallystick.settings import CONTROL_ROOM
from tests.doors.mcp import revision_server
from tests.wrapped import PATIENCE_S, House

SERVER = [sys.executable, "-m", "tests.doors.mcp.revision_server"]
ROOT = str(Path(__file__).parents[3])
HANDSHAKE, SESSIONLESS = "2025-11-25", "2026-07-28"
MODES = {"legacy": HANDSHAKE, "auto": SESSIONLESS, SESSIONLESS: SESSIONLESS}
"""How the client connects, and the revision that is spoken then."""
POLICY = """
[policy]
read = "allow"
write = "ask"
external = "ask"
[tools."s.get_secret"]
decision = "deny"
[tools."s.send_mail"]
decision = "ask"
"""
SETTINGS = [(transport, mode) for transport in ("stdio", "http") for mode in MODES]


@pytest.fixture(scope="module")
def url():
    """The address of the server over streamable HTTP."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(revision_server.server.streamable_http_app(), log_level="error")
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        running.should_exit = True
        thread.join(PATIENCE_S)


class Wrapped:
    """One workspace, and clients of the server that is wrapped in it."""

    def __init__(self, folder, transport, mode, url):
        self.house = House(folder)
        self.house.policy(POLICY)
        self.mode = mode
        self._options, self._command = (["--url", url], []) if transport == "http" else ([], SERVER)

    @asynccontextmanager
    async def client(self, *options):
        program, *words = self.house.command(*options, *self._options, command=self._command)
        environ = {**os.environ, "HOME": str(self.house.home)}
        parameters = StdioServerParameters(command=program, args=words, env=environ, cwd=ROOT)
        info = Implementation(name="a client", version="1")
        async with asyncio.timeout(PATIENCE_S), Client(parameters, mode=self.mode, client_info=info) as client:
            yield client

    def approve(self):
        """Say yes to the one call that waits; whether there was one."""
        with Gate.open(self.house.workspace, plugins=False) as gate:
            for hold in gate.approvals.list(state="held"):
                gate.approvals.approve(hold.approval_id, person="p", channel="terminal")
                return True
        return False


@pytest.fixture(params=SETTINGS, ids="-".join)
def wrapped(request, tmp_path, url):
    return Wrapped(tmp_path, *request.param, url)


def text_of(result):
    return result.content[0].text


@pytest.mark.promise("relay.revisions")
def test_what_the_relay_answers_itself_reaches_the_model_in_the_revision_that_was_asked(wrapped):
    calls = {
        "denied": ("get_secret", {}), "held": ("send_mail", {"to": "a"}), "unknown": ("no_such_tool", {}),
        "bad_args": ("get_sum", {"a": "x", "b": 2}), "failed": ("get_broken", {}), "good": ("get_sum", {"a": 1, "b": 2}),
    }  # fmt: skip

    async def talk():
        async with wrapped.client("--hold", "0") as client:
            assert client.session.protocol_version == MODES[wrapped.mode]
            listed = {tool.name for tool in (await client.list_tools()).tools}
            return listed, {name: await client.call_tool(*call) for name, call in calls.items()}

    listed, came = asyncio.run(talk())
    assert {"get_sum", "get_secret", "send_mail"} <= listed
    assert "POLICY_VIOLATION" in text_of(came["denied"])
    assert "tally approvals approve appr_" in text_of(came["held"])
    assert "no such tool: 'no_such_tool'" in text_of(came["unknown"])
    assert "INVALID_PAYLOAD" in text_of(came["bad_args"])
    assert "the tool broke" in text_of(came["failed"])
    assert came["good"].structured_content == {"sum": 3}
    assert [name for name, result in came.items() if result.is_error] == [name for name in calls if name != "good"]
    assert came["denied"].meta["tallystick/code"] == "POLICY_VIOLATION"
    receipts = wrapped.house.receipts("outcome")
    assert len(receipts) == len(calls)
    assert {one.header["agent_id"] for one in receipts} == {"a client"}
    assert wrapped.house.verified()


@pytest.mark.promise("relay.revisions", "relay.held")
def test_a_held_call_that_is_approved_while_it_waits_gives_the_servers_result(wrapped):
    async def approved():
        while not await asyncio.to_thread(wrapped.approve):  # noqa: ASYNC110 - another process holds the call
            await asyncio.sleep(0.1)

    async def talk():
        async with wrapped.client("--hold", str(PATIENCE_S)) as client:
            result, _ = await asyncio.gather(client.call_tool("send_mail", {"to": "b"}), approved())
            return result

    result = asyncio.run(talk())
    assert (text_of(result), result.is_error) == ("sent to b", False)


@pytest.mark.promise("relay.revisions", "relay.cancelled")
def test_progress_and_cancellation_pass_in_every_revision(wrapped, tmp_path):
    note, heard = tmp_path / "note", []

    async def hear(done, _total, message):
        heard.append((done, message))

    async def noted(text):
        while not note.exists() or note.read_text() != text:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.05)

    async def talk():
        async with wrapped.client() as client:
            steps = await client.call_tool("get_steps", {}, progress_callback=hear)
            calling = asyncio.ensure_future(client.call_tool("get_forever", {"note": str(note)}))
            await noted("begun")
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
            await noted("cancelled")
            return steps, await client.call_tool("get_sum", {"a": 2, "b": 2})

    steps, after = asyncio.run(talk())
    assert text_of(steps) == "all steps done"
    assert heard == [(1, "step 1"), (2, "step 2"), (3, "step 3")]
    assert after.structured_content == {"sum": 4}
    ends = [one.header["outcome"].get("fault") for one in wrapped.house.receipts("outcome")]
    assert ends == [None, "cancelled", None]


@pytest.mark.promise("relay.revisions", "relay.instructions")
def test_discovery_lists_and_arguments_in_headers_pass_in_every_revision(wrapped):
    async def talk():
        async with wrapped.client() as client:
            said = client.session.instructions
            regions = [await client.call_tool("get_region", {"region": one}) for one in ("eu", " é\n")]
            return said, regions, await client.list_resources(), await client.list_prompts()

    said, regions, resources, prompts = asyncio.run(talk())
    assert [text_of(one) for one in regions] == ["eu", " é\n"]
    assert (resources.resources, prompts.prompts) == ([], [])
    # A client that names the revision without asking for it has asked for no instructions either.
    assert said == (None if wrapped.mode == SESSIONLESS else revision_server.INSTRUCTIONS)


@pytest.mark.promise("relay.revisions", "relay.pins")
def test_a_list_without_the_tools_that_are_held_is_readable_and_not_kept_by_the_client(wrapped):
    async def listed():
        async with wrapped.client() as client:
            return await client.list_tools()

    first = asyncio.run(listed())
    pins = wrapped.house.workspace / CONTROL_ROOM / FILE
    kept = json.loads(pins.read_text())
    kept["tools"]["get_sum"]["digest"] = "of another definition"
    pins.write_text(json.dumps(kept))
    second = asyncio.run(listed())
    assert {tool.name for tool in first.tools} - {tool.name for tool in second.tools} == {"get_sum"}
    assert (second.ttl_ms, second.cache_scope) == (0, "private")
