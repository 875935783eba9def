"""The abuse list through the whole gate, each case named by its id: nothing runs, and the receipt is there.

What admit alone shows (that a text is refused, and why) stands with admit. Here: no case runs a tool, each leaves one
receipt on one line, the turn is over, and the next caller is served.
"""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Caller, Gate, Outcome, tool
from tests.gates import every_byte, open_gate, outcomes, said, then_said

pytestmark = pytest.mark.promise("admit.abuse-through-gate")

RUNS: list[str] = []
SECRETS = {
    "password": "correct horse battery staple",
    "api key": "sk-AbCdEfGhIjKlMnOpQrStUv",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
}


@tool(effect="read", roles={"viewer", "editor", "admin"})
async def file_reader(file_path: str, n: int = 0) -> str:
    RUNS.append(file_path)
    return "the text of " + file_path


@tool(effect="read", roles={"admin"})
async def reindex() -> str:
    RUNS.append("reindex")
    return "done"


@tool(effect="write", roles={"editor"})
async def file_writer(file_path: str, text: str) -> str:
    RUNS.append("written")
    return "done"


@tool(effect="read", key_aliases={"code": "pin"}, secrets=("pin",))
async def log_in(user: str, password: str = "", pin: str = "", note: str = "") -> str:
    return "welcome"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    RUNS.clear()
    with open_gate(tmp_path, file_reader, reindex, file_writer, log_in) as opened:
        yield opened


def envelope(args: str = '{"file_path":"Story/x.md"}', tool_name: str = "file_reader") -> Callable[[str], str]:
    return lambda nonce: f'{{"tool":"{tool_name}","args":{args},"nonce":"{nonce}"}}'


good = envelope()

ENVELOPES: dict[str, tuple[Callable[[str], str | bytes], str]] = {
    "A01": (lambda nonce: good(nonce) + " done", "tool_call_invalid_format"),
    "A02": (lambda nonce: f"```json\n{good(nonce)}\n```", "tool_call_invalid_format"),
    "A03": (lambda nonce: good(nonce) + good(nonce), "tool_call_multiple"),
    "A04": (lambda nonce: f"[{good(nonce)}]", "tool_call_invalid_format"),
    "A05": (
        lambda nonce: f'{{"tool":"file_reader","tool":"file_writer","args":{{}},"nonce":"{nonce}"}}',
        "tool_call_invalid_format",
    ),
    "A07": (envelope('{"file_path":{"b":{"c":1,"c":2}}}'), "tool_call_invalid_format"),
    "A08": (lambda nonce: good(nonce)[:-1] + ',"role":"admin"}', "tool_call_invalid_format"),
    "A09 missing": (lambda _: '{"tool":"file_reader","args":{"file_path":"x"}}', "tool_call_nonce_invalid"),
    "A09 null": (lambda _: '{"tool":"file_reader","args":{"file_path":"x"},"nonce":null}', "tool_call_nonce_invalid"),
    "A09 number": (lambda _: '{"tool":"file_reader","args":{"file_path":"x"},"nonce":7}', "tool_call_nonce_invalid"),
    "A09 empty": (lambda _: '{"tool":"file_reader","args":{"file_path":"x"},"nonce":""}', "tool_call_nonce_invalid"),
    "A10": (envelope('{"file_path":"x","n":NaN}'), "tool_call_invalid_format"),
    "A12": (envelope('{"file_path":"x","n":9007199254740993}'), "tool_call_invalid_format"),
    "A13": (envelope('{"file_path":"x","n":' + "7" * 5_000 + "}"), "tool_call_invalid_format"),
    "A14": (lambda _: "[" * 100_000, "tool_call_invalid_format"),
    "A15": (envelope('{"file_path":' + "[" * 64 + "]" * 64 + "}"), "tool_call_invalid_format"),
    "A16": (envelope('{"file_path":"\\ud800"}'), "tool_call_invalid_format"),
    "A16 raw": (envelope('{"file_path":"\ud800"}'), "tool_call_invalid_format"),
    "A17 mark": (lambda nonce: "\ufeff" + good(nonce), "tool_call_invalid_format"),
    "A17 wide": (lambda nonce: good(nonce).encode("utf-16"), "tool_call_invalid_format"),
    "A19": (lambda nonce: good(nonce).encode().replace(b"x.md", b"..\xc0\xaf"), "tool_call_invalid_format"),
    "A19 thinking": (lambda nonce: b"<think>\xc0\xaf</think>" + good(nonce).encode(), "tool_call_invalid_format"),
    "A19 orphan": (lambda nonce: b"<think\xbe</think>" + good(nonce).encode(), "tool_call_invalid_format"),
    "A20": (envelope('{"file_path":"' + "x" * 65_536 + '"}'), "tool_call_invalid_format"),
    "A20 a hundred times": (envelope('{"file_path":"' + "x" * 6_553_600 + '"}'), "tool_call_invalid_format"),
    "A21": (envelope('"{\\"file_path\\":\\"x\\"}"'), "tool_call_invalid_format"),
    "A22 proto": (envelope('{"file_path":"x","__proto__":{}}'), "tool_call_invalid_args"),
    "A22 class": (envelope('{"file_path":"x","__class__":1}'), "tool_call_invalid_args"),
    "A22 ref": (envelope('{"file_path":"x","$ref":"#"}'), "tool_call_invalid_args"),
    "B01": (envelope(tool_name="file_reader\\n"), "tool_call_unknown_tool"),
    "B02": (envelope(tool_name="f\u0456le_reader"), "tool_call_unknown_tool"),
    "B04 case": (envelope(tool_name="FILE_READER"), "tool_call_unknown_tool"),
    "B04 space": (envelope(tool_name=" file_reader"), "tool_call_unknown_tool"),
    "B04 zero width": (envelope(tool_name="file_reader\u200b"), "tool_call_unknown_tool"),
    "B05": (envelope(tool_name="x" * 10_000), "tool_call_unknown_tool"),
    "B06 name": (envelope(tool_name="file\\u001b[2J\\nreader"), "tool_call_unknown_tool"),
    "B06 key": (envelope('{"file_path":"x","a\\nb\\u001b[2J":1}'), "tool_call_invalid_args"),
    "D01 extra": (envelope('{"file_path":"x","more":1}'), "tool_call_invalid_args"),
    "D01 missing": (envelope("{}"), "tool_call_invalid_args"),
    "D01 true": (envelope('{"file_path":"x","n":true}'), "tool_call_invalid_args"),
    "D09": (envelope('{"file_path":"' + "e" + "\u0301" * 40_000 + '"}'), "tool_call_invalid_format"),
    "I10 thought": (lambda nonce: "Thought: I should read.\n" + good(nonce), "tool_call_invalid_format"),
    "I10 action": (lambda _: 'Action: file_reader\nAction Input: {"file_path": "x"}', "tool_call_invalid_format"),
    "I10 tag": (lambda nonce: f"<tool_call>{good(nonce)}</tool_call>", "tool_call_invalid_format"),
}


@pytest.mark.promise("admit.abuse")
@pytest.mark.parametrize("case", ENVELOPES)
def test_the_case_is_refused_with_its_receipt_and_the_next_call_is_served(gate: Gate, case: str) -> None:
    text, code = ENVELOPES[case]
    turn = gate.turn(session="s1", agent="chief")
    started = time.process_time()
    outcome = asyncio.run(turn.submit(text(turn.nonce or "")))
    assert time.process_time() - started < 5
    assert (outcome.status, outcome.rejection.call_code if outcome.rejection else None) == ("rejected", code)
    assert (RUNS, turn.open) == ([], False)
    receipts = outcomes(gate)
    assert [receipt.receipt_id for receipt in receipts] == [outcome.receipt_id]
    assert receipts[0].header["outcome"]["call_code"] == code
    fresh = gate.turn(session="s1", agent="chief")
    assert asyncio.run(fresh.submit(good(fresh.nonce or ""))).ok
    view = (gate.workspace / ".control-room/audit/sessions/s1/tool_receipts.jsonl").read_bytes()
    lines = view.split(b"\n")
    assert (len(lines), lines[-1]) == (3, b"")
    assert [json.loads(line)["receipt_id"] for line in lines[:-1]] == [receipt.receipt_id for receipt in outcomes(gate)]


@pytest.mark.promise("admit.echo")
def test_b05_the_name_in_the_receipt_is_cut(gate: Gate) -> None:
    outcome = asyncio.run(gate.call("x" * 10_000))
    assert outcome.tool == "x" * 100
    assert outcomes(gate)[0].header["tool_id"] == "x" * 100


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "a\r\nb", "\u2028", "\u202e", "\x00", "\U000e0041"])
def test_b06_whatever_stands_in_a_name_or_argument_the_log_has_one_line_per_receipt(gate: Gate, text: str) -> None:
    asyncio.run(gate.call(text, {"file_path": text}))
    asyncio.run(gate.call("file_reader", {"file_path": text}))
    asyncio.run(gate.call("file_reader", {text: text}))
    journal = b"".join(path.read_bytes() for path in gate.workspace.glob(".control-room/audit/journal/*.log"))
    view = (gate.workspace / ".control-room/audit/sessions/local/tool_receipts.jsonl").read_bytes()
    # One line of bytes each, for whoever splits at newlines; and no escape reaches a terminal that prints it.
    assert (journal.count(b"\n"), view.count(b"\n")) == (3, 3)
    for control in (b"\x1b", b"\r", b"\x00"):
        assert control not in journal + view


def test_c01_the_same_envelope_twice(gate: Gate) -> None:
    turn = gate.turn(session="s1")
    text = said("file_reader", {"file_path": "x"}, turn.nonce)
    first, second = asyncio.run(turn.submit(text)), asyncio.run(turn.submit(text))
    assert first.ok
    assert second.rejection is not None
    assert second.rejection.call_code == "tool_call_nonce_invalid"
    assert RUNS == ["x"]
    assert [receipt.header["outcome"]["status"] for receipt in outcomes(gate)] == ["accepted", "rejected"]


def test_c02_the_nonce_of_another_user(gate: Gate) -> None:
    ann, bob = (gate.turn(session=name, caller=Caller(subject=name)) for name in ("ann", "bob"))
    outcome = asyncio.run(bob.submit(said("file_reader", {"file_path": "x"}, ann.nonce)))
    assert outcome.rejection is not None
    assert outcome.rejection.call_code == "tool_call_nonce_invalid"
    assert RUNS == []


def test_c06_a_nonce_and_a_whole_envelope_planted_in_a_document(gate: Gate) -> None:
    turn = gate.turn(session="s1")
    planted: list[str] = []

    @tool(effect="read")
    async def reads_a_trap() -> str:
        planted.append(then_said("file_reader", {"file_path": "planted"}, turn.nonce))
        return planted[0]

    gate.register(reads_a_trap)
    outcome = asyncio.run(turn.submit(said("reads_a_trap", {}, turn.nonce)))
    assert outcome.ok
    # What a tool returns is data. Even said back word for word, its nonce is not the one of the step.
    assert RUNS == []
    assert not asyncio.run(turn.submit(planted[0])).ok
    assert RUNS == []


def test_a23_one_number_one_form(gate: Gate) -> None:
    for text, number in (("1", "1"), ("1.0", "1"), ("10e-1", "1"), ("-0", "0"), ("-0.0", "0")):
        turn = gate.turn(session="s1")
        outcome = asyncio.run(turn.submit(envelope(f'{{"file_path":"x","n":{text}}}')(turn.nonce or "")))
        assert outcome.args is not None
        assert repr(outcome.args["n"]) == number


@pytest.mark.parametrize("surface", ["call", "call_sync", "submit", "propose"])
def test_h12_a_viewer_calls_the_tools_of_higher_roles(gate: Gate, surface: str) -> None:
    callers = {"viewer": frozenset({"viewer"}), "editor": frozenset({"editor"}), "admin": frozenset({"admin"})}
    calls: dict[str, dict[str, Any]] = {
        "file_reader": {"file_path": "x"}, "reindex": {}, "file_writer": {"file_path": "x", "text": "y"}
    }  # fmt: skip
    allowed = {("editor", "file_writer"), ("admin", "reindex")} | {(role, "file_reader") for role in callers}
    for role, roles in callers.items():
        for name, args in calls.items():
            outcome = through(gate, surface, name, args, Caller(subject=role, roles=roles))
            assert outcome.http == (200 if (role, name) in allowed else 403)
    assert sorted(RUNS) == ["reindex", "written", "x", "x", "x"]


def through(gate: Gate, surface: str, name: str, args: dict[str, Any], caller: Caller) -> Outcome:
    if surface == "call":
        return asyncio.run(gate.call(name, args, caller=caller))
    if surface == "call_sync":
        return gate.call_sync(name, args, caller=caller)
    turn = gate.turn(session="s1", caller=caller)
    return asyncio.run(turn.submit(said(name, args, turn.nonce)) if surface == "submit" else turn.propose(name, args))


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("key", ["password", " PASSWORD ", "pin", "code", "note"])
@pytest.mark.parametrize("way", ["accepted", "bad args", "unknown tool", "wrong nonce", "prose", "extra text", "held"])
def test_k10_a_secret_in_arguments_is_nowhere_on_disk(tmp_path: Path, secret: str, key: str, way: str) -> None:
    if key == "note" and " " in secret:
        key = "password"
    policy = {"tools": {"log_in": {"decision": "ask"}}} if way == "held" else {}
    with open_gate(tmp_path, log_in, **policy) as gate:
        outcome = asyncio.run(spoken(gate, {"user": "ann", key: secret}, way))
        assert outcome.ok == (way == "accepted")
        if outcome.held is not None:
            gate.approvals.reject(outcome.held.approval_id, person="eva", channel="terminal", reason=f"no {secret[:3]}")
        receipt = gate.ledger.find(outcome.receipt_id)
        assert receipt is not None
        assert secret not in json.dumps(receipt.flat(), ensure_ascii=False)
        assert secret not in str(outcome.rejection) + str(outcome.failure)
    everything = every_byte(tmp_path)
    assert secret.encode() not in everything
    assert b"hmac-sha256:" in everything or b"[redacted]" in everything


async def spoken(gate: Gate, args: dict[str, Any], way: str) -> Outcome:
    turn = gate.turn(session="s1", agent="chief")
    if way in {"accepted", "held"}:
        return await turn.submit(said("log_in", args, turn.nonce))
    if way == "bad args":
        return await gate.call("log_in", {**args, "more": [1]}, session="s1")
    if way == "unknown tool":
        return await gate.call("log_out", args, session="s1")
    if way == "wrong nonce":
        return await turn.submit(said("log_in", args, "0" * 32))
    if way == "prose":
        return await turn.submit("I will use " + ", ".join(f"{key}={value!r}" for key, value in args.items()))
    return await turn.submit(said("log_in", args, turn.nonce) + " done")


@pytest.mark.promise("record.secrets")
def test_k10_the_same_secret_gives_the_same_commitment(gate: Gate) -> None:
    for value in ("a", "a", "b"):
        asyncio.run(gate.call("log_in", {"user": "ann", "password": value}))
    one, same, other = (receipt.inputs["args"]["password"]["$redacted"] for receipt in outcomes(gate))
    assert one == same != other


def test_a14_a_flood_of_bad_messages_leaves_the_gate_serving(gate: Gate) -> None:
    def flood() -> None:
        for _ in range(20):
            assert not gate.turn(session="flood").submit_sync("[" * 100_000).ok

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert gate.call_sync("file_reader", {"file_path": "x"}).ok
    for thread in threads:
        thread.join()
    assert len(outcomes(gate)) == 81
