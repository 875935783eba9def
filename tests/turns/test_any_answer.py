"""Whatever a model says, in either speech: the turn ends, is closed, and only what the gate let through ran."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Gate, tool
from tallystick.turns.loop import Injected, TurnToolPolicy
from tallystick.turns.model import ModelError, NativeCall, Said, Usage
from tests.gates import open_gate
from tests.sizes import size
from tests.turns.scripted import Scripted, asked, call, done, play

GONE = ModelError(code="endpoint_failed", message="The script is at its end.")
any_text = st.text(alphabet=st.characters(exclude_categories=()))
arguments = st.one_of(st.sampled_from(['{"text": "x"}', "{}", "", "[]", '{"text": 1}']), any_text)
native_call = st.builds(
    NativeCall, call_id=st.just("c"), name=st.one_of(st.sampled_from(["look", "note", "nobody"]), any_text),
    arguments=arguments,
)  # fmt: skip
answer = st.one_of(
    any_text,
    st.sampled_from([
        call("look", {"text": "x"}), call("note", {"text": "x"}), call("look"), call("nobody"), done, "ABSTAIN",
        "look(text=1)", "{", '{"action":"final"}', "<think>", "</think>{}", GONE,
    ]),
    st.builds(
        Said, text=any_text, calls=st.lists(native_call, max_size=3).map(tuple),
        usage=st.builds(Usage, input_tokens=st.integers(0, 10**9), output_tokens=st.integers(0, 10**9)),
    ),
)  # fmt: skip
requests = st.fixed_dictionaries({
    "message": any_text,
    "max_steps": st.integers(0, 4),
    "skip_tools": st.booleans(),
    "conference": st.booleans(),
    "parallel_reads": st.booleans(),
    "cot": st.sampled_from(["strip", "reject"]),
    "policy": st.builds(
        TurnToolPolicy, require_tool=st.booleans(),
        allowed_tools=st.sampled_from([None, frozenset(), frozenset({"look"})]),
    ),
    "injected": st.lists(
        st.builds(Injected, tool=st.just("look"), receipt_id=st.just("r"), text=any_text, sha256=st.just("0"),
                  full_size=st.just(1)), max_size=1,
    ).map(tuple),
})  # fmt: skip


class Patient(Scripted):
    """A script that says it is at its end instead of failing."""

    async def ask(self, ask, *, hear=None):
        if not self.left:
            return GONE
        try:
            return await super().ask(ask, hear=hear)
        except IndexError:
            # It was to answer with a nonce, and was asked for something else.
            return GONE


@pytest.fixture(scope="module")
def anything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("anything")


@pytest.mark.promise("turns.no-retry", "turns.cancelled")
@pytest.mark.parametrize("speech", ["envelope", "native"])
def test_any_answers_end_the_turn_and_only_what_was_let_through_ran(anything: Path, speech: str) -> None:
    ran: list[str] = []

    @tool(effect="read")
    async def look(text: str = "") -> str:
        ran.append("look")
        return text

    @tool(effect="write")
    async def note(text: str) -> str:
        ran.append("note")
        return text

    with open_gate(anything / speech, look, note) as gate:

        @settings(max_examples=size(150, 3000))
        @given(fields=requests, answers=st.lists(answer, max_size=6), tool_phase=st.booleans())
        def any_turn(*, fields: dict, answers: list, tool_phase: bool) -> None:
            ran.clear()
            request = asked(tool_phase=tool_phase and fields["conference"], **fields)
            check_one(gate, request, answers, speech, ran)

        any_turn()


def check_one(gate: Gate, request, answers: list, speech: str, ran: list[str]) -> None:
    turn = gate.turn(session="s1", agent="clerk", may_finish=request.tool_phase)
    model = Patient(*answers, speech=speech)
    result = asyncio.run(play(gate, request, model, turn=turn))
    assert not turn.open
    assert len(result.receipts) == len(ran) <= request.max_steps
    assert not ran or request.has_tools
    assert request.policy.allowed_tools is None or set(ran) <= request.policy.allowed_tools
    # Exactly one way to end, or the tool phase, which may end without anything to say.
    ends = [result.reply is not None, result.rejected is not None, result.abstained, result.model_error is not None]
    stopped = (result.stop_hook or "").startswith("STOP_HOOK: tool_call_rejected")
    assert sum(ends) + stopped == 1 or (request.tool_phase and sum(ends) + stopped == 0)
