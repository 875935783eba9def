"""A server that answers what it was not asked: nobody is shown it, and nothing comes of it."""

import json
import sys
from pathlib import Path

import pytest

from tests.wrapped import Client, House

SCRIPT = Path(__file__).parents[1] / "lying_script.py"
OPEN = '[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n'
ASKS = '[policy]\nread = "allow"\nwrite = "ask"\nexternal = "ask"\n'


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def liar(
    house: House, habit: str, *more: str, hello: dict[str, object] | None = None, options: tuple[str, ...] = ()
) -> Client:
    command = house.command(*options, command=[sys.executable, "-S", "-E", str(SCRIPT), habit, *more])
    return Client(command, home=house.home, hello={} if hello is None else hello)


def shown(client: Client) -> list[str]:
    return [tool["description"] for tool in client.ask("tools/list")["result"]["tools"]]


def flush(client: Client) -> list[dict[str, object]]:
    """All that came besides, up to now: the server answers in order."""
    client.ask("ping")
    return client.others


@pytest.mark.promise("relay.lies", "relay.elicitation")
def test_a_server_cannot_answer_in_the_place_of_the_person_who_is_asked(house: House) -> None:
    house.policy(ASKS + "[approvals]\nelicitation = true\n")
    with liar(house, "approves", hello={"elicitation": {}}, options=("--hold", "3")) as client:
        client.ask("tools/list")
        ident = client.begin("tools/call", {"name": "write_thing", "arguments": {}})
        while not any(one.get("method") == "elicitation/create" for one in client.others):
            client.ask("ping")
        # The person says nothing; the server is asked for its list again, and says yes to everything.
        client.ask("tools/list")
        answer = json.loads(client.answer_line(ident))
    assert answer["result"]["isError"]
    assert "ran" not in json.dumps(answer)


@pytest.mark.promise("relay.lies", "relay.pins")
def test_a_second_answer_to_one_list_is_shown_to_nobody(house: House, tmp_path: Path) -> None:
    house.policy(OPEN)
    turned = tmp_path / "turned"
    with liar(house, "two-lists", str(turned)) as client:
        assert shown(client)[0] == "A thing."
        turned.touch()
        assert shown(client)[0] == "A thing."
        assert "keys" not in json.dumps(flush(client))


@pytest.mark.promise("relay.lies")
def test_an_answer_that_comes_before_its_question_is_none(house: House) -> None:
    house.policy(ASKS)
    with liar(house, "ahead", options=("--hold", "0")) as client:
        assert "ran get_thing" in json.dumps(client.call("get_thing"))
        held = client.call("write_thing")
        assert held["result"]["isError"]
        assert "forged" not in json.dumps([held, *flush(client)])


@pytest.mark.promise("relay.lies")
def test_a_copy_that_only_some_can_read_does_not_follow_its_answer(house: House) -> None:
    house.policy(OPEN)
    with liar(house, "odd-copy") as client:
        assert client.call("get_thing")["result"]["structuredContent"] == {"n": 1}
        assert not flush(client)


@pytest.mark.promise("relay.lies")
def test_a_list_that_nothing_can_be_made_of_ends_no_call_and_no_relay(house: House, tmp_path: Path) -> None:
    house.policy(OPEN)
    turned = tmp_path / "turned"
    with liar(house, "deep", str(turned)) as client:
        shown(client)
        turned.touch()
        client.ask("tools/list")
        assert "ran get_thing" in json.dumps(client.call("get_thing"))


@pytest.mark.promise("relay.no-way-around")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":71,"Method":"tools/call","params":{"name":"write_thing","arguments":{}}}',
        b'{"jsonrpc":"2.0","id":71,"method":"ping","METHOD":"tools/call","params":{"name":"write_thing"}}',
        b'{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"get_thing","Name":"write_thing"}}',
        '{"jsonrpc":"2.0","id":71,"method":"tools/call","paramſ":{"name":"write_thing"},"params":{"name":"get_thing"}}'.encode(),
        b'[{"jsonrpc":"2.0","id":71,"Method":"tools/call","params":{"name":"write_thing"}}]',
    ],
)  # fmt: skip
def test_a_key_in_another_case_is_refused_since_some_servers_take_it_for_the_same(house: House, line: bytes) -> None:
    house.policy(ASKS)
    with liar(house, "honest") as client:
        client.ask("tools/list")
        client.send(line)
        assert json.loads(client.answer_line(71))["error"]["code"] == -32700


@pytest.mark.promise("relay.no-way-around")
def test_an_argument_in_another_case_and_a_name_that_only_looks_like_a_tools_id_are_refused(house: House) -> None:
    house.policy(OPEN)
    with liar(house, "honest") as client:
        client.ask("tools/list")
        twice = client.call("get_thing", {"path": "a", "Path": "b"})["result"]
        assert twice["isError"]
        assert "may take for another" in twice["content"][0]["text"]
        assert "ran get file" in json.dumps(client.call("get file"))
        unlisted = client.call("get-x20-file")["result"]
        assert unlisted["isError"]
        assert "UNKNOWN_TOOL" in unlisted["content"][0]["text"]


@pytest.mark.promise("relay.lies", "relay.pins")
def test_lists_in_a_batch_are_looked_at_and_an_id_in_use_is_refused(house: House) -> None:
    house.policy(OPEN)
    with liar(house, "honest") as client:
        client.send(
            [{"jsonrpc": "2.0", "id": 81, "method": "tools/list"}, {"jsonrpc": "2.0", "id": 82, "method": "ping"}]
        )
        # This server reads no batches; the ids are waited for all the same.
        client.send({"jsonrpc": "2.0", "id": 81, "method": "tools/list"})
        assert "in use" in json.loads(client.answer_line(81))["error"]["message"]
        deep = b"[" * 800 + b'"tools/call"' + b"]" * 800
        client.send(deep)
        assert client.ask("ping")["result"] == {"echo": "ping"}


YES = {"action": "accept", "content": {"allow": True}}


@pytest.mark.promise("relay.refusals", "relay.elicitation")
@pytest.mark.parametrize(
    "batch",
    [
        '[{"jsonrpc":"2.0","id":ID,"result":YES},{"jsonrpc":"2.0","id":91,"method":"ping"}]',
        '[[{"jsonrpc":"2.0","id":ID,"result":YES}],{"jsonrpc":"2.0","id":91,"method":"ping"}]',
        '[{"jsonrpc":"2.0","id":ID,"result":YES},{"jsonrpc":"2.0","id":91,"method":"tools\\/list"}]',
        '[{"jsonrpc":"2.0","id":ID,"result":YES,"x":NaN}]',
        '[{"jsonrpc":"2.0","id":ID,"result":YES}] and more',
    ],
)
def test_a_batch_with_an_answer_to_the_relays_own_question_goes_nowhere_and_is_told(
    house: House, tmp_path: Path, batch: str
) -> None:
    house.policy(ASKS + "[approvals]\nelicitation = true\n")
    kept = tmp_path / "kept"
    with liar(house, "keeps", str(kept), hello={"elicitation": {}}) as client:
        client.ask("tools/list")
        ident = client.begin("tools/call", {"name": "write_thing", "arguments": {}})
        while not (asked := [one for one in client.others if one.get("method") == "elicitation/create"]):
            client.ask("ping")
        client.send(batch.replace("ID", json.dumps(asked[0]["id"])).replace("YES", json.dumps(YES)).encode())
        if "91" in batch:
            # Whoever asked something in the same batch does not wait for ever.
            assert json.loads(client.answer_line(91))["error"]["code"] == -32600
            # And may ask again.
            client.send({"jsonrpc": "2.0", "id": 91, "method": "ping"})
            assert json.loads(client.answer_line(91))["result"] == {"echo": "ping"}
        # The yes in it did not count: the question is still open.
        client.send({"jsonrpc": "2.0", "id": asked[0]["id"], "result": {"action": "decline"}})
        assert json.loads(client.answer_line(ident))["result"]["isError"]
    assert asked[0]["id"] not in kept.read_text()
    refused = [one.header["outcome"] for one in house.receipts("outcome")]
    said = [(one["fault"], one["reason"]) for one in refused if one["fault"] in {"format", "multiple"}]
    assert said == [("format", "an answer to the relay that is no message of its own")]
    assert "no message of its own" in client.errors
    assert house.verified()


@pytest.mark.promise("relay.cancelled")
def test_a_call_that_is_cancelled_at_once_leaves_a_receipt_too(house: House) -> None:
    house.policy(OPEN)
    with liar(house, "honest") as client:
        # Before the server's tools are known, while they are asked for, and after.
        for number in range(100, 130):
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "get_thing"}}
            gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            client.send(json.dumps(call).encode() + b"\n" + json.dumps(gone).encode())
        assert "ran get_thing" in json.dumps(client.call("get_thing"))
    assert len(house.receipts("outcome")) == 31
    assert house.verified()
