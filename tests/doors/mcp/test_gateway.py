"""`tally mcp gateway`: many servers behind one gate, under the official client and under one that speaks lines."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="left out: the gateway under the official client, the mcp extra is not there")

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.types import ElicitResult

from tallystick import Gate
from tests.doors.mcp.test_held_calls import approve
from tests.verifying import verify
from tests.wrapped import PATIENCE_S, server
from tests.wrapped import Client as Lines

ROOT = str(Path(__file__).parents[3])
SDK = {"command": sys.executable, "args": ["-m", "tests.doors.mcp.revision_server"], "cwd": ROOT}
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


def script(*options):
    command, *args = server(*options)
    return {"command": command, "args": args}


class Place:
    """One gateway's workspace."""

    def __init__(self, folder):
        self.workspace = folder / "ws"
        self.home = folder / "home"
        self.home.mkdir()
        self.workspace.mkdir()

    def servers(self, views=None, **entries):
        whole = {"mcpServers": entries, **({"views": views} if views else {})}
        (self.workspace / "servers.json").write_text(json.dumps(whole))

    def policy(self, text):
        (self.workspace / "tallystick.toml").write_text('[ledger]\ndurability = "os"\n' + text)

    def command(self, *options):
        own = [sys.executable, "-m", "tallystick", "mcp", "gateway", "--workspace", str(self.workspace)]
        return [*own, "--hold", "0", *options]

    def lines(self, *options):
        return Lines(self.command(*options), home=self.home, hello={})

    @asynccontextmanager
    async def client(self, *options, **how):
        program, *words = self.command(*options)
        environ = {**os.environ, "HOME": str(self.home)}
        parameters = StdioServerParameters(command=program, args=words, env=environ, cwd=ROOT)
        async with asyncio.timeout(PATIENCE_S), Client(parameters, **how) as client:
            yield client

    def receipts(self):
        with Gate.open(self.workspace, plugins=False) as gate:
            return [one.header for one in gate.ledger.read() if one.header["kind"] == "outcome"]


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    made.servers(sums=SDK, notes=script())
    return made


def text_of(result):
    return result.content[0].text


def names(listed):
    return {tool["name"] for tool in listed["result"]["tools"]}


async def listed(client):
    return {tool.name for tool in (await client.list_tools(cache_mode="reload")).tools}


@pytest.mark.promise("gateway.many")
@pytest.mark.parametrize("mode", MODES)
def test_the_tools_of_all_servers_are_there_and_each_call_reaches_its_own(place, mode):
    async def talk():
        async with place.client(mode=mode) as client:
            assert client.session.protocol_version == MODES[mode]
            tools = {tool.name for tool in (await client.list_tools()).tools}
            calls = [("sums__get_sum", {"a": 1, "b": 2}), ("notes__echo", {"text": "hi"}), ("notes__get_sum", {}),
                     ("notes__write_note", {"text": "x"}), ("sums__get_broken", {})]  # fmt: skip
            return tools, [await client.call_tool(*call) for call in calls]

    tools, (total, echo, unknown, held, broken) = asyncio.run(talk())
    assert {"sums__get_sum", "sums__send_mail", "notes__echo", "notes__write_note"} <= tools
    assert total.structured_content == {"sum": 3}
    assert json.loads(text_of(echo)) == {"text": "hi"}
    assert "UNKNOWN_TOOL" in text_of(unknown)
    assert "tally approvals approve appr_" in text_of(held)
    assert "the tool broke" in text_of(broken)
    ran = [one["tool_id"] for one in place.receipts() if one["outcome"]["status"] == "accepted"]
    assert ran == ["sums.get_sum", "notes.echo", "sums.get_broken"]
    assert verify(place.workspace).ok


@pytest.mark.promise("gateway.policy")
def test_the_first_policy_has_a_section_for_each_server_and_its_tools(place):
    with place.lines() as client:
        client.call("notes__echo", {"text": "x"})
    text = (place.workspace / "tallystick.toml").read_text()
    sums, notes = text.index("# ---- the server sums ----"), text.index("# ---- the server notes ----")
    assert sums < text.index('[tools."sums.get_sum"]')
    assert notes < text.index('[tools."notes.echo"]')
    assert '[tools."notes.echo"]\n# read' in text


@pytest.mark.promise("gateway.policy", "relay.policy-reload")
def test_a_changed_policy_counts_from_the_next_call_and_one_that_is_wrong_changes_nothing(place):
    place.policy('[policy]\nread = "allow"\n')
    with place.lines() as client:
        first = client.call("notes__echo", {"text": "1"})
        place.policy('[policy]\nread = "allow"\n[tools."notes.echo"]\ndecision = "deny"\n')
        second = client.call("notes__echo", {"text": "2"})
        place.policy('[policy]\nread = "perhaps"\n')
        third = client.call("notes__echo", {"text": "3"})
        place.policy('[policy]\nread = "allow"\n[tools."notes.ecco"]\ndecision = "deny"\n')
        fourth = client.call("notes__echo", {"text": "4"})
    assert [one["result"].get("isError", False) for one in (first, second, third, fourth)] == [False, True, True, True]
    assert client.errors.count("the policy stays as it was") == 2
    assert verify(place.workspace).ok


@pytest.mark.promise("gateway.live")
def test_servers_come_and_go_while_the_client_stays(place):
    place.servers(notes=script())

    async def talk():
        heard = asyncio.Event()

        async def hear(message):
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                heard.set()

        async with place.client(mode="legacy", message_handler=hear) as client:
            before = await listed(client)
            place.servers(notes=script(), sums=SDK)
            await heard.wait()
            heard.clear()
            more = await listed(client)
            total = await client.call_tool("sums__get_sum", {"a": 1, "b": 2})
            place.servers(sums=SDK)
            await heard.wait()
            left = await listed(client)
            return before, more, total, left, await client.call_tool("notes__echo", {"text": "x"})

    before, more, total, left, gone = asyncio.run(talk())
    assert "sums__get_sum" not in before
    assert {"sums__get_sum", "notes__echo"} <= more
    assert total.structured_content == {"sum": 3}
    assert not any(name.startswith("notes__") for name in left)
    assert gone.is_error
    assert "# ---- the server sums ----" in (place.workspace / "tallystick.toml").read_text()


@pytest.mark.promise("gateway.live")
def test_a_client_without_a_session_hears_of_new_servers_on_its_stream(place):
    place.servers(notes=script())

    async def talk():
        async with place.client() as client, client.listen(tools_list_changed=True) as events:
            place.servers(notes=script(), sums=SDK)
            await anext(aiter(events))
            return await listed(client)

    assert "sums__get_sum" in asyncio.run(talk())


@pytest.mark.promise("gateway.pins", "relay.new-tools")
def test_a_new_server_is_pinned_and_a_tool_that_a_known_one_gets_later_is_held(place, tmp_path):
    definitions = tmp_path / "definitions.json"
    tool = {"name": "get_a", "description": "a", "inputSchema": {"type": "object"}}
    definitions.write_text(json.dumps([tool]))
    place.servers(notes=script("--definitions", str(definitions)))
    with place.lines() as client:
        assert names(client.ask("tools/list")) == {"notes__get_a"}
    definitions.write_text(json.dumps([{**tool, "description": "b"}, {**tool, "name": "get_b"}]))
    place.servers(notes=script("--definitions", str(definitions)), sums=SDK)
    with place.lines() as client:
        shown = names(client.ask("tools/list"))
        answer = client.call("notes__get_b")
    assert "sums__get_sum" in shown
    assert not any(name.startswith("notes__") for name in shown)
    assert "tally mcp review" in answer["result"]["content"][0]["text"]


@pytest.mark.promise("gateway.views")
def test_a_view_shows_some_of_the_servers_and_calls_of_others_reach_nobody(place):
    place.servers(views={"small": ["notes"]}, sums=SDK, notes=script())
    with place.lines("--view", "small") as client:
        shown = names(client.ask("tools/list"))
        answer = client.call("sums__get_sum", {"a": 1, "b": 2})
    assert {name.partition("__")[0] for name in shown} == {"notes"}
    assert "UNKNOWN_TOOL" in answer["result"]["content"][0]["text"]


@pytest.mark.promise("gateway.many")
def test_a_server_cannot_answer_for_another_one(place):
    place.servers(notes=script(), evil=script())
    with place.lines() as client:
        client.ask("tools/list")
        waiting = client.begin("tools/call", {"name": "notes__hang", "arguments": {}})
        forged = client.call("evil__early", {"id": waiting})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}})
        assert "result" in client.call("notes__echo", {"text": "x"})
    assert forged["id"] != waiting
    assert all("not asked" not in json.dumps(one) for one in (forged, *client.others))


@pytest.mark.promise("gateway.live")
def test_a_server_that_dies_fails_its_calls_and_is_started_again(place):
    place.policy('[policy]\nread = "allow"\n')
    with place.lines() as client:
        died = client.call("notes__die")
        assert "the server ended" in died["error"]["message"]
        assert client.call("sums__get_sum", {"a": 1, "b": 2})["result"]["structuredContent"] == {"sum": 3}
        while "notes__echo" not in names(client.ask("tools/list")):
            pass
        assert "again" in client.call("notes__echo", {"text": "again"})["result"]["content"][0]["text"]
    assert verify(place.workspace).ok


@pytest.mark.promise("gateway.many", "mcp.held-form")
def test_a_held_call_is_a_form_behind_the_gateway_too(place):
    async def show(_context, _params):
        assert await asyncio.to_thread(approve, place.workspace) == 1
        return ElicitResult(action="accept", content={})

    async def talk():
        async with place.client(elicitation_callback=show) as client:
            return await client.call_tool("sums__send_mail", {"to": "a"})

    assert text_of(asyncio.run(talk())) == "sent to a"


@pytest.mark.promise("gateway.bad-input")
@pytest.mark.parametrize(
    "text",
    ["{", '{"mcpServers": []}', '{"mcpServers": {"a__b": {"command": "x"}}}', '{"mcpServers": {"a": {}}}',
     '{"mcpServers": {"a": {"command": "x", "env": {"N": 1}}}}', '{"mcpServers": {}, "views": {"v": ["a"]}}'],
)  # fmt: skip
def test_a_list_of_servers_that_cannot_be_used_is_said(place, text):
    (place.workspace / "servers.json").write_text(text)
    client = Lines(place.command(), home=place.home)
    assert client.close() == 4
    assert "servers_unusable" in client.errors


@pytest.mark.promise("gateway.bad-input")
def test_a_server_that_cannot_be_started_does_not_stop_the_others(place):
    place.servers(notes=script(), broken={"command": "no-such-program"})
    with place.lines() as client:
        assert "isError" not in client.call("notes__echo", {"text": "x"})["result"]
    assert "broken: command_not_found" in client.errors


@pytest.mark.promise("gateway.memory")
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="left out: memory is read from /proc")
def test_a_further_server_takes_little_of_the_gateways_memory(place):
    def held(count):
        place.servers(**{f"s{number}": script() for number in range(count)})
        with place.lines() as client:
            for number in range(count):
                client.call(f"s{number}__echo", {"text": "x"})
            rollup = Path(f"/proc/{client.process.pid}/smaps_rollup").read_text().splitlines()
            return sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:")) / 1024

    assert held(6) - held(1) < 5 * 30
