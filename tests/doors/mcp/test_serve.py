"""`tally mcp serve`: tools, refusals, held calls, receipts, progress, changes, as the SDK's client sees them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

import mcp_types as types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tallystick import tool
from tallystick.doors.mcp.serve.server import Serving
from tallystick.doors.mcp.serve.tools import offer_of
from tallystick.doors.presentation.approval_wait import SAID_NO
from tallystick.doors.presentation.meta import RECEIPT, TOOL
from tallystick.gate.tool import Card
from tests.doors.mcp.served import ERAS, SESSION, House
from tests.verifying import verify

eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "ws")
    yield made
    made.close()


def text_of(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text


@eras
@pytest.mark.promise("mcp.tools")
def test_the_registry_is_listed_with_names_that_clients_may_say(house: House, era: str) -> None:
    listed = {made.name: made for made in house.talk(lambda client: client.list_tools(), era).tools}

    assert {"math__double", "send_mail", "verify", "evidence_check"} <= listed.keys()
    assert listed["math__double"].meta[TOOL] == "math.double"
    assert listed["math__double"].input_schema["required"] == ["number"]
    hints = listed["send_mail"].annotations
    assert (hints.read_only_hint, hints.open_world_hint) == (False, True)
    assert listed["math__double"].annotations.read_only_hint


@eras
@pytest.mark.promise("mcp.calls")
def test_every_call_leaves_a_receipt_of_its_own_in_the_session_of_the_client(house: House, era: str) -> None:
    async def twice(client: Client) -> list[types.CallToolResult]:
        return [await client.call_tool(name, {"number": 21}) for name in ("math__double", "math.double")]

    for result in house.talk(twice, era):
        assert (text_of(result), result.structured_content) == ("42", {"result": 42})
        receipt = house.gate.ledger.find(result.meta[RECEIPT])
        assert receipt is not None
        assert receipt.header["session_id"] == SESSION
        assert receipt.header["tool_id"] == "math.double"
        assert receipt.header["caller"]["channel"] == "mcp"
    assert house.ran == [21, 21]
    assert verify(house.gate.workspace).ok


@eras
@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("math__double", {"number": "21"}, "INVALID_PAYLOAD"),
        ("math__double", {"number": 21, "more": 1}, "INVALID_PAYLOAD"),
        ("math__triple", {}, "INVALID_TOOL_NAME"),
        ("Math__double", {"number": 21}, "INVALID_TOOL_NAME"),
        ("forbidden", {}, "POLICY_VIOLATION"),
        ("absent", {}, "downstream_error"),
    ],
)
@pytest.mark.promise("mcp.refusals")
def test_a_refusal_is_an_error_result_that_names_its_code_to_model_and_program(
    house: House, era: str, name: str, args: dict[str, Any], code: str
) -> None:
    result = house.talk(lambda client: client.call_tool(name, args), era)

    assert result.is_error
    assert text_of(result).startswith(f"{code}: ")
    assert result.structured_content["code"] == code
    assert result.structured_content["receipt_id"] == result.meta[RECEIPT]
    assert house.gate.ledger.find(result.meta[RECEIPT]) is not None
    assert house.ran == []


@pytest.mark.promise("mcp.output-schema")
def test_results_and_refusals_alike_fit_the_published_schema(house: House) -> None:
    async def all_ends(client: Client) -> tuple[list[types.Tool], list[tuple[str, Any]]]:
        calls = [("math__double", {"number": 2}), ("math__double", {}), ("about", {"name": "x"}), ("about", {})]
        calls += [("send_mail", {"to": "a"}), ("verify", {}), ("evidence_check", {"reply": "No evidence."})]
        made = [(name, (await client.call_tool(name, args)).structured_content) for name, args in calls]
        return (await client.list_tools()).tools, made

    tools, made = house.talk(all_ends)
    schemas = {each.name: each.output_schema for each in tools}

    for name, structured in made:
        assert jsonschema_rs.is_valid(schemas[name], structured), (name, structured)


@pytest.mark.promise("mcp.output-schema")
def test_a_schema_that_cannot_be_moved_is_not_published_and_checked_all_the_same(house: House) -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}}, "additionalProperties": False}

    @tool(effect="read", inline=True, input_schema={"type": "object"}, output_schema=tree)
    def grown(**_given: Any) -> Any:
        "Give a tree."
        return {"left": {"right": {}}}

    house.gate.register(grown)
    listed = {made.name: made for made in house.talk(lambda client: client.list_tools()).tools}
    result = house.talk(lambda client: client.call_tool("grown", {}))

    assert listed["grown"].output_schema is None
    assert (result.is_error, result.structured_content["code"]) == (True, "validation_error")


@pytest.mark.promise("mcp.content")
def test_a_tool_that_says_so_gives_content_blocks(house: House) -> None:
    blocks = [{"type": "image", "data": "AAAA", "mimeType": "image/png"}, {"type": "text", "text": "hello"}]

    @tool(effect="read", inline=True, input_schema={"type": "object"}, output_schema={"x-mcp-content": True})
    def picture(**_given: Any) -> Any:
        "Give a picture."
        return blocks

    house.gate.register(picture)
    result = house.talk(lambda client: client.call_tool("picture", {}))

    assert [block.type for block in result.content] == ["image", "text"]
    assert result.structured_content is None


@eras
@pytest.mark.promise("mcp.held")
def test_a_held_call_is_answered_with_the_command_that_lets_it_through_and_the_same_call_then_runs(
    house: House, era: str
) -> None:
    async def ask_again(client: Client) -> tuple[types.CallToolResult, types.CallToolResult]:
        first = await client.call_tool("send_mail", {"to": "ann"})
        approval = first.structured_content["approval_id"]
        house.gate.approvals.approve(approval, person="owner", channel="terminal")
        return first, await client.call_tool("send_mail", {"to": "ann"})

    first, second = house.talk(ask_again, era)

    command = f"tally approvals approve {first.structured_content['approval_id']} --workspace {house.gate.workspace}"
    assert first.is_error
    assert first.structured_content["code"] == "approval_required"
    assert first.structured_content["approve"] == command
    assert command in text_of(first)
    assert (second.is_error, text_of(second)) == (False, "sent to ann")
    assert house.ran == ["ann"]


@pytest.mark.promise("mcp.held")
def test_a_person_who_answers_while_the_call_waits_decides_it(house: House) -> None:
    async def answered(client: Client, answer: Any, to: str) -> types.CallToolResult:
        async def person() -> None:
            while not (waiting := house.gate.approvals.list(state="held")):  # noqa: ASYNC110 - as a person would
                await asyncio.sleep(0.01)
            answer(waiting[0].approval_id)

        async with asyncio.TaskGroup() as group:
            group.create_task(person())
            calling = group.create_task(client.call_tool("send_mail", {"to": to}))
        return calling.result()

    def yes(approval_id: str) -> None:
        house.gate.approvals.approve(approval_id, person="owner", channel="terminal")

    def otherwise(approval_id: str) -> None:
        house.gate.approvals.edit(approval_id, {"to": "bob"}, person="owner", channel="terminal")

    def no(approval_id: str) -> None:
        house.gate.approvals.reject(approval_id, person="owner", channel="terminal", reason="not today")

    granted = house.talk(lambda client: answered(client, yes, "ann"), wait_s=30)
    edited = house.talk(lambda client: answered(client, otherwise, "ann"), wait_s=30)
    refused = house.talk(lambda client: answered(client, no, "ann"), wait_s=30)

    assert (text_of(granted), text_of(edited)) == ("sent to ann", "sent to bob")
    assert refused.is_error
    assert refused.structured_content["reason"] == SAID_NO
    assert house.ran == ["ann", "bob"]


@pytest.mark.promise("mcp.progress")
def test_a_tools_progress_reaches_the_client_in_order_and_each_says_more(house: House) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    house.talk(lambda client: client.call_tool("steady", {}, progress_callback=hear), "legacy")

    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@eras
@pytest.mark.promise("mcp.cancel")
def test_a_cancelled_call_ends_and_its_receipt_says_so(house: House, era: str) -> None:
    async def leave(client: Client) -> None:
        calling = asyncio.ensure_future(client.call_tool("endless", {"name": "x"}))
        await house.begun.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        while len(house.receipts()) < 2:  # noqa: ASYNC110 - nobody tells who left when the receipt is written
            await asyncio.sleep(0.01)

    house.talk(leave, era)

    kinds = [(receipt["kind"], receipt["outcome"].get("fault")) for receipt in house.receipts() if "outcome" in receipt]
    assert kinds[-1] == ("outcome", "cancelled")


@eras
@pytest.mark.promise("mcp.receipts")
def test_receipts_are_resources_and_what_is_not_there_is_an_error(house: House, era: str) -> None:
    async def read(client: Client) -> tuple[str, dict[str, str]]:
        receipt_id = (await client.call_tool("math__double", {"number": 1})).meta[RECEIPT]
        uris = ["tally://sessions", f"tally://sessions/{SESSION}", "tally://head"]
        uris += [f"tally://receipts/{receipt_id}", f"tally://receipts/{receipt_id}/proof"]
        found = {uri: (await client.read_resource(uri)).contents[0].text for uri in uris}
        for absent in ("tally://receipts/rcpt_none", "tally://sessions/none", "tally://other", "file:///etc/passwd"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(absent)
            assert refused.value.error.code == types.INVALID_PARAMS
        listed = await client.list_resources()
        assert f"tally://sessions/{SESSION}" in {str(resource.uri) for resource in listed.resources}
        assert len((await client.list_resource_templates()).resource_templates) == 3
        return receipt_id, found

    receipt_id, found = house.talk(read, era)

    assert SESSION in json.loads(found["tally://sessions"])["sessions"]
    assert json.loads(found[f"tally://receipts/{receipt_id}"])["receipt_id"] == receipt_id
    assert json.loads(found[f"tally://sessions/{SESSION}"].splitlines()[0])["receipt_id"] == receipt_id
    assert json.loads(found[f"tally://receipts/{receipt_id}/proof"])


@pytest.mark.promise("mcp.receipts")
def test_ids_are_completed_from_what_there_is(house: House) -> None:
    async def complete(client: Client) -> tuple[list[str], list[str]]:
        receipt_id = (await client.call_tool("about", {"name": "x"})).meta[RECEIPT]
        sessions = types.ResourceTemplateReference(uri="tally://sessions/{session_id}")
        receipts = types.ResourceTemplateReference(uri="tally://receipts/{receipt_id}")
        first = await client.complete(sessions, {"name": "session_id", "value": "mcp-"})
        second = await client.complete(receipts, {"name": "receipt_id", "value": receipt_id[:20]})
        assert second.completion.values == [receipt_id]
        return first.completion.values, second.completion.values

    assert house.talk(complete)[0] == [SESSION]


@pytest.mark.promise("mcp.own-tools")
def test_verify_and_evidence_check_are_tools_that_leave_receipts(house: House) -> None:
    (house.gate.workspace / "story.md").write_text("She had never once set foot on a boat.\n")

    async def ask(client: Client) -> list[types.CallToolResult]:
        receipt_id = (await client.call_tool("math__double", {"number": 1})).meta[RECEIPT]
        good = 'She never sails.\nEvidence: "never once set foot on a boat" story.md:L1'
        return [
            await client.call_tool("verify", {}),
            await client.call_tool("verify", {"receipt_id": receipt_id}),
            await client.call_tool("verify", {"receipt_id": "rcpt_none"}),
            await client.call_tool("evidence_check", {"reply": good}),
            await client.call_tool("evidence_check", {"reply": good.replace("never once", "always")}),
        ]

    whole, one, none, holds, fails = (result.structured_content for result in house.talk(ask))

    assert (whole["ok"], one["ok"], none["ok"]) == (True, True, False)
    assert (holds["ok"], fails["ok"]) == (True, False)
    assert {"verify", "evidence_check"} <= {receipt.get("tool_id") for receipt in house.receipts()}


@pytest.mark.promise("mcp.own-tools")
def test_a_workspace_that_has_a_tool_of_that_name_keeps_it(house: House) -> None:
    @tool(effect="read", inline=True)
    def verify() -> str:
        "Mine."
        return "mine"

    house.gate.register(verify)

    async def both(client: Client) -> tuple[Any, Any]:
        return (await client.call_tool("verify", {})), (await client.call_tool("tally__verify", {}))

    mine, ours = house.talk(both)
    assert text_of(mine) == "mine"
    assert ours.structured_content["ok"]


@pytest.mark.promise("mcp.list-changes")
def test_a_client_of_the_older_protocol_is_told_when_a_tool_comes_or_goes(house: House) -> None:
    told = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    async def run() -> None:
        serving = Serving(house.gate, session_id=SESSION, wait_s=0)
        async with Client(serving.server(), mode="legacy", message_handler=hear) as client:
            await client.list_tools()
            for change in (lambda: house.gate.unregister("about"), lambda: house.gate.register(new_tool)):
                told.clear()
                await asyncio.to_thread(change)
                async with asyncio.timeout(20):
                    await told.wait()
            names = {made.name for made in (await client.list_tools()).tools}
            assert "about" not in names
            assert "new_tool" in names

    @tool(effect="read", inline=True)
    def new_tool() -> str:
        "Come later."
        return "here"

    asyncio.run(run())


@pytest.mark.promise("mcp.list-changes")
def test_a_client_of_the_newest_protocol_hears_it_on_the_stream_it_opened(house: House) -> None:
    async def listen(client: Client) -> Any:
        async with client.listen(tools_list_changed=True) as stream:
            house.gate.unregister("about")
            async with asyncio.timeout(20):
                return await anext(aiter(stream))

    assert type(house.talk(listen)).__name__ == "ToolsListChanged"


@pytest.mark.promise("mcp.calls")
def test_the_receipts_id_stands_in_the_text_where_that_is_wanted(house: House) -> None:
    result = house.talk(lambda client: client.call_tool("about", {"name": "x"}), show_receipts=True)

    assert result.content[-1].text == f"Receipt: {result.meta[RECEIPT]}"


@pytest.mark.promise("mcp.tools")
def test_a_card_without_a_type_is_published_as_an_object(house: House) -> None:
    card = Card(name="bare", description="Bare.", input_schema={})
    assert offer_of(card, "bare").tool.input_schema == {"type": "object"}
