"""`tally mcp gateway --http`: several clients at once, before one set of servers."""

import asyncio
import json
import re
import subprocess
import urllib.error
import urllib.request

import pytest

pytest.importorskip("mcp", reason="left out: the gateway under the official client, the mcp extra is not there")

from mcp.client.client import Client
from mcp.types import ElicitResult, Implementation

from tests.doors.mcp.test_gateway import MODES, SDK, Place, listed, script, text_of
from tests.doors.mcp.test_held_calls import approve
from tests.verifying import verify
from tests.wrapped import PATIENCE_S


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    made.servers(sums=SDK, notes=script())
    made.policy('[policy]\nread = "allow"\nwrite = "ask"\nexternal = "ask"\n')
    return made


@pytest.fixture
def url(place):
    """The address of a running gateway."""
    command = [*place.command("--http", "0")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        said = ""
        while not (found := re.search(r"MCP clients: (\S+)", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield found[1]
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0


def talk(what):
    async def run():
        async with asyncio.timeout(PATIENCE_S):
            return await what()

    return asyncio.run(run())


@pytest.mark.promise("gateway.http")
@pytest.mark.parametrize("mode", MODES)
def test_a_client_of_every_revision_calls_every_server(place, url, mode):
    heard = []

    async def hear(done, _total, message):
        heard.append((done, message))

    async def use():
        async with Client(url, mode=mode) as client:
            assert client.session.protocol_version == MODES[mode]
            tools = await listed(client)
            return tools, [
                await client.call_tool("sums__get_sum", {"a": 1, "b": 2}),
                await client.call_tool("notes__echo", {"text": "hi"}),
                await client.call_tool("notes__no_such", {}),
                await client.call_tool("sums__get_steps", {}, progress_callback=hear),
                await client.call_tool("sums__get_region", {"region": " é\n"}),
            ]

    tools, (total, echo, unknown, steps, region) = talk(use)
    assert {"sums__get_sum", "notes__echo"} <= tools
    assert total.structured_content == {"sum": 3}
    assert json.loads(text_of(echo)) == {"text": "hi"}
    assert "UNKNOWN_TOOL" in text_of(unknown)
    assert (text_of(steps), heard) == ("all steps done", [(1, "step 1"), (2, "step 2"), (3, "step 3")])
    assert text_of(region) == " é\n"


@pytest.mark.promise("gateway.http")
def test_clients_at_once_have_answers_and_receipts_of_their_own(place, url):
    async def one(name):
        async with Client(url, mode="legacy", client_info=Implementation(name=name, version="1")) as client:
            numbers = range(10)
            results = await asyncio.gather(
                *(client.call_tool("notes__echo", {"text": f"{name} {number}"}) for number in numbers)
            )
            return [json.loads(text_of(result))["text"] for result in results]

    async def use():
        return await asyncio.gather(one("anna"), one("bert"))

    assert talk(use) == [[f"{name} {number}" for number in range(10)] for name in ("anna", "bert")]
    receipts = place.receipts()
    assert {one["agent_id"] for one in receipts} == {"anna", "bert"}
    assert len({one["session_id"] for one in receipts}) == 2
    assert verify(place.workspace).ok


@pytest.mark.promise("gateway.http", "mcp.held-form")
def test_a_held_call_is_a_form_over_http(place, url):
    async def show(_context, _params):
        assert await asyncio.to_thread(approve, place.workspace) == 1
        return ElicitResult(action="accept", content={})

    async def use():
        async with Client(url, elicitation_callback=show) as client:
            return await client.call_tool("sums__send_mail", {"to": "a"})

    assert text_of(talk(use)) == "sent to a"


@pytest.mark.promise("gateway.http", "gateway.live")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_hear_of_new_servers(place, url, mode):
    async def use():
        heard = asyncio.Event()

        async def hear(message):
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                heard.set()

        async with Client(url, mode=mode, message_handler=hear) as client:
            await listed(client)
            if mode == "legacy":
                # A call after the client's stream has been opened.
                await client.call_tool("notes__echo", {"text": "x"})
                place.servers(sums=SDK, notes=script(), more=script())
                await heard.wait()
                return await listed(client)
            async with client.listen(tools_list_changed=True) as events:
                place.servers(sums=SDK, notes=script(), more=script())
                await anext(aiter(events))
                return await listed(client)

    assert "more__echo" in talk(use)


@pytest.mark.promise("gateway.http")
@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Host": "evil.example"}, b"{}", 403),
        ({"Origin": "https://evil.example"}, b"{}", 403),
        ({"Mcp-Session-Id": "unknown"}, b"{}", 404),
        ({}, b"{", 400),
        ({}, b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}]', 400),
        ({}, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "method": "tools/call"}', 400),
        ({}, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', 400),
        ({"X-Forwarded-For": "1.2.3.4"}, b"{}", 403),
    ],
)
def test_what_is_no_request_of_this_machine_is_refused(place, url, headers, body, status):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers}, method="POST")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=PATIENCE_S)
    with caught.value:
        assert caught.value.code == status
        assert b"error" in caught.value.read()
