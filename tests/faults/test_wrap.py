"""Servers and clients that do what they should not, behind and before `tally mcp wrap`."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.sizes import size
from tests.wrapped import Client, House, refusal, server, text_of

ALLOW = '[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n'


@pytest.fixture
def house(tmp_path):
    made = House(tmp_path)
    made.policy(ALLOW)
    return made


def children_of(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_gone(pid):
    """Whether a process is gone; one that nobody reaped counts as there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until(true):
    end = time.monotonic() + 240
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.02)


def faults(house):
    return [one.header["outcome"].get("fault") for one in house.receipts("outcome")]


@pytest.mark.promise("relay.server-dies")
def test_a_server_that_dies_in_a_call_leaves_a_receipt_and_no_process(house):
    client = house.wrap()
    upstream = children_of(client.process.pid)
    answer = refusal(client.call("die"))
    assert answer["category"] == "downstream_error"
    assert client.close() == 1
    assert "it ended with code 3" in client.errors
    assert faults(house) == ["tool_failed"]
    assert house.verified()
    assert all(map(is_gone, upstream))


@pytest.mark.promise("relay.server-dies")
def test_a_server_that_is_killed_while_calls_wait_answers_each_of_them(house):
    client = house.wrap()
    upstream = children_of(client.process.pid)[0]  # the other one is its guard
    first = client.begin("tools/call", {"name": "hang", "arguments": {}})
    while len(house.receipts("started")) < 1:
        client.send({"jsonrpc": "2.0", "method": "notifications/x"})
    os.killpg(upstream, signal.SIGKILL)
    assert refusal(json.loads(client.answer_line(first)))["category"] == "downstream_error"
    assert client.close() == 1
    assert faults(house) == ["tool_failed"]


@pytest.mark.promise("relay.garbage")
def test_garbage_and_floods_on_its_output_do_not_reach_the_answer(house):
    with house.wrap() as client:
        assert text_of(client.call("garbage")) == "{}"
        assert text_of(client.call("flood")) == "{}"
        assert len(client.others) == 20000
        assert text_of(client.call("echo", {"text": "x"})) == '{"text": "x"}'
    assert faults(house) == [None, None, None]


ODD_ANSWERS = [
    '{"jsonrpc":"2.0","id":ID.0,"result":RESULT}',
    '{"jsonrpc":"2.0","id":IDe0,"result":RESULT}',
    '{"jsonrpc":"2.0","id":"ID","result":RESULT}',
    '{"jsonrpc":"2.0","id":" 0ID","result":RESULT}',
    '{"jsonrpc":"2.0","id":ID,"method":null,"result":RESULT}',
    '{"jsonrpc":"2.0","id":ID,"method":"x","result":RESULT}',
    '[{"jsonrpc":"2.0","id":ID,"method":null,"result":RESULT}]',
]


@pytest.mark.promise("relay.lies", "relay.receipts")
@pytest.mark.parametrize("answer", ODD_ANSWERS)
def test_an_answer_that_a_lenient_client_would_take_goes_by_way_of_the_gate(house, answer):
    line = answer.replace("RESULT", '{"content":[{"type":"text","text":"found"}]}')
    with house.wrap("--timeout", "20") as client:
        client.begin("tools/call", {"name": "odd_id", "arguments": {"line": line}})
        assert json.loads(client.line())["result"]["content"][0]["text"] == "found"
        assert client.ask("ping")
    assert client.others == []
    assert faults(house) == [None]


@pytest.mark.promise("relay.lies")
@pytest.mark.parametrize("ident", ["true", "[ID]", '{"a":ID}', "null", "ID.5"])
def test_an_answer_to_nobody_and_one_in_a_nested_batch_are_left_out(house, ident):
    result = '"result":{"content":[{"type":"text","text":"not asked"}]}'
    with house.wrap("--timeout", "1") as client:
        for line in (f'{{"jsonrpc":"2.0","id":{ident},{result}}}', f'[[{{"jsonrpc":"2.0","id":ID,{result}}}]]'):
            said = client.call("odd_id", {"line": line})
            assert refusal(said)["category"] == "downstream_error"
    assert client.others == []
    assert faults(house) == ["timeout", "timeout"]


@pytest.mark.promise("relay.garbage")
@pytest.mark.parametrize("args", [{"text": "x"}, {}])
def test_an_answer_with_half_a_character_or_no_number_fails_at_once_and_says_why(house, args):
    with house.wrap() as client:
        assert refusal(client.call("half", args))["category"] == "downstream_error"
        assert text_of(client.call("echo", {"text": "x"}))
    assert faults(house) == ["tool_failed", None]
    assert "Traceback" not in client.errors


@pytest.mark.promise("relay.no-way-around", "relay.bad-input")
@pytest.mark.parametrize("ident", ["1" + "0" * 30, "18446744073709551616", "1.5", "true", "[1]", "null"])
@pytest.mark.parametrize("method", ["tools/call", "tools/list"])
def test_an_id_that_is_none_is_refused_and_the_relay_goes_on(house, ident, method):
    with house.wrap() as client:
        client.send(f'{{"jsonrpc":"2.0","id":{ident},"method":"{method}","params":{{"name":"echo"}}}}'.encode())
        assert json.loads(client.line())["error"]["code"] == -32600
        assert text_of(client.call("echo", {"text": "x"}))
    assert client.process.returncode == 0


@pytest.mark.promise("relay.refused")
@pytest.mark.parametrize("text", [r'"\ud83d"', "NaN"])
def test_whoever_waits_for_a_call_that_cannot_be_read_in_one_way_is_told(house, text):
    with house.wrap() as client:
        call = '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo","arguments":{"text":TEXT}}}'
        client.send(call.replace("TEXT", text).encode())
        assert json.loads(client.answer_line(77))["error"]["code"] == -32700


@pytest.mark.promise("relay.receipts")
@pytest.mark.parametrize(
    ("name", "kept"), [(r'"a\ud800\n\u202eb"', "ab"), ("5", None), ("null", None), ('"\\u0000"', None)]
)
def test_whatever_a_client_calls_itself_its_calls_are_recorded(house, name, kept):
    with Client(house.command(), home=house.home) as client:
        hello = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":5,"clientInfo":{"name":NAME}}}'
        client.send(hello.replace("NAME", name).encode())
        client.answer_line(0)
        assert text_of(client.call("echo", {"text": "x"}))
    assert [one.header.get("agent_id") for one in house.receipts("outcome")] == [kept]


@pytest.mark.promise("relay.size")
def test_a_result_that_is_too_large_is_refused_and_the_relay_goes_on(house):
    megabytes = size(12, 100)
    with house.wrap("--max-output", "2000000") as client:
        said = refusal(client.call("huge", {"megabytes": megabytes}))
        assert said["category"] == "downstream_error"
        # Small enough for a line, too large for a result.
        assert refusal(client.call("huge", {"megabytes": 3}))["category"] == "downstream_error"
        assert len(text_of(client.call("huge", {"megabytes": 1}))) == 1_000_000
        assert peak_of(client) < 250_000
        client.send(b'{"jsonrpc":"2.0","id":"big","method":"x","params":"' + b"y" * 5_000_000 + b'"}')
        assert "error" in json.loads(client.answer_line("big"))
    assert faults(house) == ["tool_failed", "tool_failed", None, "format"]
    assert house.verified()


@pytest.mark.promise("relay.hang")
def test_a_call_that_takes_too_long_is_ended_and_the_server_told(house, tmp_path):
    log = tmp_path / "log"
    with house.wrap("--timeout", "0.3", command=server("--log", str(log))) as client:
        assert refusal(client.call("hang"))["category"] == "downstream_error"
        assert text_of(client.call("echo", {"text": "x"})) == '{"text": "x"}'
    assert "notifications/cancelled" in log.read_text()
    assert faults(house) == ["timeout", None]


@pytest.mark.promise("relay.lies")
def test_an_answer_to_a_call_that_was_not_passed_on_is_dropped(house, tmp_path):
    house.policy('[policy]\nread = "allow"\nwrite = "ask"\nexternal = "ask"\n')
    with house.wrap("--hold", "0.5") as client:
        held = client.begin("tools/call", {"name": "write_note", "arguments": {"text": "x"}})
        client.call("early", {"id": held})
        assert refusal(json.loads(client.answer_line(held)))["reason"] == "approval_required"
        # One call, one answer.
        assert text_of(client.call("twice")) == "first"
    assert [message for message in client.others if "id" in message] == []


@pytest.mark.promise("relay.client-gone")
def test_when_the_client_is_gone_so_is_the_server_even_a_stubborn_one(house):
    client = house.wrap(command=server("--stubborn"))
    upstream = children_of(client.process.pid)
    client.call("echo", {"text": "x"})
    assert client.close() in {0, 1}
    assert upstream
    assert all(map(is_gone, upstream))
    assert faults(house) == [None]


@pytest.mark.promise("relay.client-gone")
def test_a_client_that_leaves_in_the_middle_leaves_receipts(house):
    client = house.wrap("--hold", "45")
    upstream = children_of(client.process.pid)
    client.begin("tools/call", {"name": "hang", "arguments": {}})
    wait_until(lambda: house.receipts("started"))
    client.process.send_signal(signal.SIGTERM)
    client.close()
    assert all(map(is_gone, upstream))
    assert faults(house) == ["cancelled"]
    assert house.verified()


@pytest.mark.promise("relay.client-gone")
@pytest.mark.parametrize("habits", [(), ("--stubborn",)])
def test_a_relay_that_is_killed_leaves_no_process_not_even_a_stubborn_one_behind_a_launcher(house, habits):
    client = house.wrap(command=["/bin/sh", "-c", '"$@"; true', "launcher", *server(*habits)])
    started = children_of(client.process.pid)
    launched = children_of(started[0])
    client.call("echo", {"text": "x"})
    client.process.kill()
    client.close()
    assert launched
    wait_until(lambda: all(map(is_gone, [*started, *launched])))
    assert house.verified()


@pytest.mark.promise("relay.refusals")
def test_a_flood_of_garbage_from_the_client_is_answered_and_recorded_and_fills_no_memory(house):
    count = size(1500, 20_000)
    with house.wrap() as client:
        client.call("echo", {"text": "x"})
        before = peak_of(client)
        flood = threading.Thread(target=lambda: [client.send(b"\\u" + b"x" * 3000) for _ in range(count)])
        flood.start()
        for _ in range(count):
            assert json.loads(client.line())["error"]["code"] == -32700
        flood.join()
        assert text_of(client.call("echo", {"text": "y"})) == '{"text": "y"}'
        assert peak_of(client) - before < 25_000
    assert faults(house).count("format") == count
    assert house.verified()


def peak_of(client):
    status = Path(f"/proc/{client.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize(
    ("options", "command", "code", "exit_code"),
    [
        ((), ["no-such-command-anywhere"], "command_not_found", 4),
        ((), ["/dev/null"], "command_not_started", 4),
        ((), [], "usage", 2),
        (("--url", "ftp://x"), [], "usage", 2),
        (("--nonsense",), None, "usage", 2),
        (("--timeout", "soon"), None, "usage", 2),
        (("--policy", "no-such-file.toml"), None, "config_unreadable", 4),
        (("--url", "http://127.0.0.1:1/mcp"), [], "server_unreachable", 4),
        (("--url", "http://127.0.0.1:1/mcp", "--header", "A: ${NO_SUCH_VARIABLE_HERE}"), [], "variable_not_set", 4),
    ],
)
def test_what_cannot_be_started_says_why_and_what_to_do(house, options, command, code, exit_code):
    client = Client(house.command(*options, command=command), home=house.home)
    with suppress(BrokenPipeError):  # it may have ended before it could be asked
        client.begin("initialize", {})
    while client.line() is not None:
        pass
    assert client.close() == exit_code
    assert f"error: {code}:" in client.errors
    assert "Traceback" not in client.errors


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize("options", [(), ("--url", "http://127.0.0.1:1/mcp")])
@pytest.mark.parametrize("closed", ["</dev/null", "<&-", "<&- >&-"])
def test_with_nothing_to_read_it_ends_without_a_stack_trace(house, options, closed):
    command = house.command(*options, command=[] if options else None)
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command], capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a = = 1", "config_malformed"),
        ("[policyy]\nread = 'allow'\n", "config_unknown_key"),
        ("[policy]\nread = 'maybe'\n", "config_bad_value"),
        ('[tools."s.echoo"]\ndecision = "deny"\n', "policy_unknown_tool"),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_a_policy_that_cannot_be_used_is_named_by_its_whole_path_without_a_stack_trace(
    house, tmp_path, monkeypatch, text, code, own
):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.toml" if own else house.workspace / "tallystick.toml"
    path.write_text(text)
    client = Client(house.command(*(["--policy", "mine.toml"] if own else [])), home=house.home)
    client.begin("initialize", {})
    client.begin("tools/list", {})
    while client.line() is not None:
        pass
    assert client.close() == 4
    assert f"error: {code}: {path}" in client.errors
    assert "Traceback" not in client.errors
    assert "never retrieved" not in client.errors


@pytest.mark.promise("relay.bad-input")
def test_a_server_that_never_begins_is_given_up(house):
    client = Client(house.command("--start-timeout", "0.3", command=server("--silent")), home=house.home)
    answer = client.ask("initialize", {})
    assert "--start-timeout" in answer["error"]["message"]
    assert client.close() == 4
    assert "error: server_silent:" in client.errors


@pytest.mark.promise("relay.summary")
def test_a_server_that_never_began_leaves_no_workspace_and_none_is_named(house, tmp_path):
    house.workspace = tmp_path / "not made yet"
    client = Client(house.command("--start-timeout", "0.3", command=server("--silent")), home=house.home)
    client.ask("initialize", {})
    client.close()
    assert not house.workspace.exists()
    assert "tally audit verify" not in client.errors


@pytest.mark.promise("relay.bad-input")
def test_a_policy_that_names_a_tool_the_server_never_had_is_refused(house):
    house.policy(ALLOW + '[tools."s.echoo"]\ndecision = "deny"\n')
    client = house.wrap()
    assert "error" in client.call("echo", {"text": "x"})
    assert client.close() == 4
    assert "error: policy_unknown_tool:" in client.errors
    assert re.search(r" and \d+ more\. Correct the file\.", client.errors)
    house.policy(ALLOW + "[tools.echo]\ndecision = 'deny'\n")
    client = house.wrap()
    client.call("echo", {"text": "x"})
    client.close()
    assert "Did you mean 's.echo'?" in client.errors


@pytest.mark.promise("relay.no-sdk")
def test_the_relay_loads_neither_the_sdk_nor_the_gate_before_the_server_runs():
    probe = (
        "import sys, tallystick.doors.cli.mcp.wrap_args, tallystick.doors.mcp.relay.wrap\n"
        "early = sorted(set(sys.modules) & {'mcp', 'pydantic', 'typer', 'asyncio', 'sqlalchemy', 'tallystick.gate'})\n"
        "import tallystick.doors.mcp.relay.session\n"
        "late = sorted(set(sys.modules) & {'mcp', 'pydantic', 'typer', 'sqlalchemy', 'tallystick.gate'})\n"
        "import tallystick.doors.mcp.relay.gate_side\n"
        "last = sorted(set(sys.modules) & {'mcp', 'typer', 'sqlalchemy'})\n"
        "print(early, late, last)"
    )
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[] [] []"
