"""Whole turns with a model that misbehaves on the wire: the right code each time, no tool run, no hang."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.tool import Tool, tool
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.turns.agent import Agent, Endpoint
from tallystick.turns.loop import Request, TurnResult, TurnToolPolicy, run_turn
from tallystick.turns.model import Ask, Model, ModelError, Said
from tests.gates import every_byte, kinds, open_gate, receipts
from tests.scripted_server import (
    Behaviour,
    Drops,
    Endless,
    HalfAStream,
    Hangs,
    HangsMidway,
    Raw,
    RefusesForm,
    Says,
    ScriptedServer,
    Seen,
    Status,
)

KEY = "sk-turn-0d2f77aa91"
POLICY = TurnToolPolicy(require_tool=True, allowed_tools=frozenset({"reader"}))
AGENT = Agent(agent_id="writer", name="Writer", role="writer", purpose="Writes.")


class Runs(list[str]):
    """What the tool was really called with."""

    def tool(self) -> Tool:
        @tool(name="reader", effect="read")
        async def reader(path: str, start: int = 1) -> dict[str, Any]:
            """Read a file."""
            self.append(path)
            return {"text": "rain", "path": path, "start": start}

        return reader


class Streamed:
    """The same model, listened to piece by piece."""

    def __init__(self, model: Model) -> None:
        self.speech, self.provider, self.name = model.speech, model.provider, model.name
        self._model = model

    async def ask(self, ask: Ask, *, hear: Any = None) -> Said | ModelError:
        return await self._model.ask(ask, hear=lambda _: None)


def call(seen: Seen, nonce: str | None = None) -> str:
    return json.dumps({"tool": "reader", "args": {"path": "note.md"}, "nonce": nonce or seen.nonce})


def turn_with(
    gate: Gate, server: ScriptedServer, *, timeout_s: float = 20.0, streams: bool = False, **endpoint: Any
) -> TurnResult:
    model = OpenAiCompatible(
        Endpoint(
            agent_id="writer", model="m", base_url=server.base_url, timeout_s=timeout_s,
            **{"provider": "lmstudio", **endpoint},
        ),
        memory=CapabilityBook(),
        key=KEY,
        pause=lambda _: asyncio.sleep(0),
    )  # fmt: skip

    async def run() -> TurnResult:
        turn = gate.turn(agent="writer")

        def check(reply: str, *, tools_ran: bool, receipts: Any, conference: bool) -> Any:
            return gate.check_reply(reply, session=turn.session, tools_ran=tools_ran, conference=conference)

        request = Request(message="Read note.md.", agent=AGENT, policy=POLICY)
        async with asyncio.timeout(60):
            return await run_turn(request, model=Streamed(model) if streams else model, turn=turn, check=check)

    return asyncio.run(run())


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def gate(tmp_path: Path, runs: Runs):
    (tmp_path / "note.md").write_text("rain all day\n", encoding="utf-8")
    with open_gate(tmp_path, runs.tool()) as opened:
        yield opened


def says(words: Callable[[Seen], str]) -> Says:
    return Says(words)


REFUSED = [
    pytest.param(says(lambda seen: "Sure, here it is:\n" + call(seen)), "tool_call_invalid_format", id="prose before"),
    pytest.param(says(lambda seen: call(seen) + "\nDone!"), "tool_call_invalid_format", id="prose after"),
    pytest.param(says(lambda seen: f"```json\n{call(seen)}\n```"), "tool_call_invalid_format", id="fenced"),
    pytest.param(says(lambda seen: call(seen) * 2), "tool_call_multiple", id="two objects"),
    pytest.param(says(lambda seen: f"[{call(seen)}, {call(seen)}]"), "tool_call_invalid_format", id="a list of calls"),
    pytest.param(says(lambda seen: call(seen, "0" * 32)), "tool_call_nonce_invalid", id="made-up nonce"),
    pytest.param(says(lambda seen: call(seen)[:-8]), "tool_call_invalid_format", id="cut off"),
    pytest.param(says(lambda seen: "reader(path='note.md')"), "tool_call_invalid_format", id="call syntax"),
    pytest.param(Says(""), "tool_call_invalid_format", id="nothing at all"),
    pytest.param(Says("null"), "tool_call_invalid_format", id="null"),
]
UNHEARD = [
    pytest.param([Status(429)] * 3, "endpoint_rate_limited", id="429"),
    pytest.param([Status(500)] * 3, "endpoint_failed", id="500"),
    pytest.param([Drops()] * 3, "endpoint_failed", id="socket closed"),
    pytest.param([Says("x" * 10_000_000)], "answer_too_large", id="10 MB"),
    pytest.param([Endless()], "answer_too_large", id="endless"),
    pytest.param([Raw(b"{nope")], "endpoint_bad_answer", id="no JSON"),
    pytest.param([HalfAStream("{")] * 3, "endpoint_failed", id="half an answer"),
    pytest.param([HalfAStream("{", politely=True)], "endpoint_bad_answer", id="a stream nobody asked for"),
    pytest.param([Status(401, {"error": {"message": f"bad key {KEY}"}})], "key_refused", id="401"),
]


@pytest.mark.promise("providers.misbehaving")
@pytest.mark.parametrize(("behaviour", "code"), REFUSED)
def test_a_malformed_call_ends_the_turn_with_its_code_and_nothing_runs(gate, runs, behaviour, code) -> None:
    with ScriptedServer(behaviour) as server:
        result = turn_with(gate, server)
    assert result.stop_hook == f"STOP_HOOK: tool_call_rejected {code}"
    assert result.reply is None
    assert result.receipts == ()
    assert runs == []
    # The refusal itself leaves a receipt, and nothing else does.
    assert kinds(gate) == ["outcome"]


@pytest.mark.promise("providers.misbehaving", "turns.unheard")
@pytest.mark.parametrize(("script", "code"), UNHEARD)
def test_a_model_that_cannot_be_heard_ends_the_turn_with_its_code_and_nothing_runs(gate, runs, script, code) -> None:
    with ScriptedServer(*script) as server:
        result = turn_with(gate, server)
    assert result.model_error is not None
    assert result.model_error.code == code
    assert result.stop_hook == f"STOP_HOOK: model_unheard {code}"
    assert result.reply is None
    assert runs == []


@pytest.mark.promise("providers.misbehaving")
@pytest.mark.parametrize("behaviour", [HalfAStream('{"tool"'), HalfAStream('{"tool"', politely=True)])
def test_half_a_stream_is_no_answer(gate, runs, behaviour) -> None:
    with ScriptedServer(behaviour) as server:
        result = turn_with(gate, server, streams=True)
    assert result.stop_hook == "STOP_HOOK: model_unheard endpoint_bad_answer"
    assert runs == []


@pytest.mark.promise("providers.misbehaving", "providers.deadline")
@pytest.mark.parametrize("behaviour", [Hangs(), HangsMidway('{"tool"')])
def test_a_model_that_hangs_is_left_at_its_deadline(gate, runs, behaviour) -> None:
    with ScriptedServer(behaviour) as server:
        result = turn_with(gate, server, timeout_s=0.3, streams=isinstance(behaviour, HangsMidway))
        assert server.wait_until_idle()
    assert result.model_error is not None
    assert result.model_error.code == "endpoint_timeout"
    assert runs == []


@pytest.mark.promise("providers.misbehaving")
def test_the_nonce_of_an_earlier_step_is_refused_at_the_next(gate, runs) -> None:
    nonces: list[str] = []

    def first(seen: Seen) -> str:
        nonces.append(seen.nonce)
        return call(seen)

    def second(seen: Seen) -> str:
        assert seen.nonce != nonces[0]
        return json.dumps({"action": "tool", "tool": "reader", "args": {"path": "b.md"}, "nonce": nonces[0]})

    with ScriptedServer(Says(first), Says(second)) as server:
        result = turn_with(gate, server)
    assert result.stop_hook == "STOP_HOOK: tool_call_rejected tool_call_nonce_invalid"
    assert runs == ["note.md"]


@pytest.mark.promise("providers.misbehaving", "admit.thinking", "turns.thinking")
@pytest.mark.parametrize("cot", ["strip", "reject"])
def test_thinking_before_a_call_is_put_aside_or_refused_as_the_gate_is_set(tmp_path, runs, cot) -> None:
    thinking = Says(lambda seen: "<think>I should read it.</think>\n" + call(seen))
    finish = Says(lambda seen: json.dumps({"action": "final", "nonce": seen.nonce}))
    with (
        open_gate(tmp_path, runs.tool(), gate={"cot": cot}) as gate,
        ScriptedServer(thinking, finish, Says("ABSTAIN")) as server,
    ):
        result = turn_with(gate, server)
    assert runs == (["note.md"] if cot == "strip" else [])
    assert (result.stop_hook is None) == (cot == "strip")


@pytest.mark.promise("providers.misbehaving", "providers.forms")
@pytest.mark.parametrize("provider", ["lmstudio", "openai"])
def test_a_refused_response_format_costs_a_request_and_not_the_turn(gate, runs, provider) -> None:
    script: list[Behaviour] = [RefusesForm(frozenset({"json_schema"}), Says(call))] * (3 if provider == "openai" else 2)
    final = Says(lambda seen: json.dumps({"action": "final", "nonce": seen.nonce}))
    with ScriptedServer(*script, final, Says("ABSTAIN")) as server:
        result = turn_with(gate, server, provider=provider)
        forms = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert result.abstained
    assert runs == ["note.md"]
    assert forms == ["json_schema"] * (len(script) - 1) + ["json_object", "json_object", None]


@pytest.mark.promise("providers.misbehaving", "providers.strict")
def test_a_turn_in_strict_mode_runs_with_nothing_the_model_was_forced_to_write(gate, runs) -> None:
    def forced(seen: Seen) -> str:
        schema = seen.body["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["args"]["required"] == ["path", "start"]
        return json.dumps({"tool": "reader", "args": {"path": "note.md", "start": None}, "nonce": seen.nonce})

    def finish(seen: Seen) -> str:
        return json.dumps({"answer": {"action": "final", "nonce": seen.nonce}})

    with ScriptedServer(Says(forced), Says(finish), Says("ABSTAIN")) as server:
        result = turn_with(gate, server, provider="openai")
    assert result.abstained
    assert runs == ["note.md"]
    assert len(result.receipts) == 1


@pytest.mark.promise(
    "providers.native", "providers.misbehaving", "admit.native-calls", "turns.native", "turns.native-multiple"
)
@pytest.mark.parametrize(
    ("calls", "ran"),
    [
        ([("reader", '{"path": "note.md"}')], ["note.md"]),
        ([("reader", '{"path": "a", "path": "b"}')], []),
        ([("reader", "not json")], []),
        ([("reader", '{"path": "a"}'), ("reader", '{"path": "b"}')], []),
        ([("rm_rf", "{}")], []),
        ([("reader", '{"path": 3}')], []),
    ],
)
def test_native_calls_are_proposals_like_any_other(gate, runs, calls, ran) -> None:
    with ScriptedServer(Says("Looking.", calls=calls), Says("ABSTAIN")) as server:
        result = turn_with(gate, server, protocol="native")
    assert runs == ran
    assert (result.stop_hook is None) == bool(ran)


@pytest.mark.promise("providers.keys")
def test_the_key_is_in_nothing_a_turn_leaves_behind(gate, runs, tmp_path, caplog) -> None:
    caplog.set_level(0)
    body = {"error": {"message": f"the key {KEY} is wrong"}}
    with ScriptedServer(Says(call), *[Status(500, body)] * 3) as server:
        result = turn_with(gate, server)
    assert runs == ["note.md"]
    assert len(receipts(gate, "outcome")) == 1
    assert KEY not in repr(result) + str(result.as_dict()) + caplog.text
    assert KEY.encode() not in every_byte(tmp_path)
