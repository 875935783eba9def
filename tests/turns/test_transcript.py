"""Transcripts: complete as JSON lines, readable as Markdown, whatever a turn contained."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.turns.loop import HandedBack, Rejected, Step, TurnResult
from tallystick.turns.model import Message, ModelError, NativeCall
from tallystick.turns.transcript import Transcript, fenced
from tests.turns.conftest import LINE
from tests.turns.scripted import asked, call, done, native, played

PLAIN = f'Nine.\n\nEvidence: "{LINE}" log.md:L3'


def written(result: TurnResult, **more: object) -> Transcript:
    return Transcript(request=asked(), result=result, session_id="s1", at="2026-01-01T00:00:00Z", **more)  # type: ignore[arg-type]


@pytest.mark.promise("turns.transcript")
def test_json_lines_hold_the_prompt_the_steps_and_the_end(desk: Gate) -> None:
    result = played(desk, asked(), call("read_log"), done, PLAIN)
    lines = [json.loads(line) for line in written(result).as_json_lines().splitlines()]
    assert [line["kind"] for line in lines] == [
        "turn", *["message"] * 7, *["step"] * 3, "end",
    ]  # fmt: skip
    assert (lines[0]["turn_id"], lines[0]["agent_id"], lines[0]["model"]) == (result.turn_id, "clerk", "script-1")
    assert [line["step"] for line in lines if line["kind"] == "step"] == ["call", "decision", "final"]
    assert lines[8]["outcome"]["receipt_id"] == result.receipts[0]
    assert lines[-1]["rejected"]["code"] == "evidence_invalid"
    assert lines[-1]["stop_hook"] == result.stop_hook


@pytest.mark.promise("turns.transcript")
def test_native_calls_stand_in_the_transcript(desk: Gate) -> None:
    result = played(desk, asked(), native(("read_log", "{}")), "ABSTAIN", speech="native")
    lines = [json.loads(line) for line in written(result).as_json_lines().splitlines()]
    (spoken,) = [line for line in lines if line.get("calls")]
    assert spoken["calls"] == [{"call_id": "c0", "name": "read_log", "arguments": "{}"}]
    assert [line["call_id"] for line in lines if line.get("role") == "tool"] == ["c0"]


@pytest.mark.promise("turns.transcript")
def test_markdown_tells_the_turn_in_order(desk: Gate) -> None:
    text = written(played(desk, asked(), call("read_log"), done, PLAIN)).as_markdown()
    places = [text.index(part) for part in ("## Asked", "## Step 1: call", LINE, "## Step 2", "## Step 3", "## End")]
    assert places == sorted(places)
    assert "STOP_HOOK: reply_rejected evidence_invalid" in text


@pytest.mark.promise("turns.transcript")
@pytest.mark.parametrize(
    ("result", "end"),
    [
        (TurnResult(turn_id="t", reply="Nine."), "Nine."),
        (TurnResult(turn_id="t", abstained=True), "Abstained."),
        (
            TurnResult(
                turn_id="t", model_error=ModelError(code="key_missing", message="Set the key."), stop_hook="STOP"
            ),
            "Set the key.",
        ),
        (TurnResult(turn_id="t", handed_back=(HandedBack(receipt_id="r", tool="their_own", args={}),)), "their_own"),
        (TurnResult(turn_id="t", stop_hook="STOP_HOOK: approval_required"), "approval_required"),
        (TurnResult(turn_id="t"), "No reply was asked for."),
    ],
)
def test_every_end_is_told(result: TurnResult, end: str) -> None:
    assert end in written(result).as_markdown().split("## End")[1]


@pytest.mark.promise("turns.transcript")
@given(st.text(), st.text(alphabet=st.characters(exclude_categories=())))
@example("a", "half a character: \ud800")
def test_any_text_can_be_written_down(said: str, odd: str) -> None:
    result = TurnResult(
        turn_id="t",
        steps=(Step(index=1, kind="final", text=odd, commentary=said),),
        rejected=Rejected(text=odd, code="format_error"),
        stop_hook="STOP_HOOK: reply_rejected format_error",
        messages=(Message(role="assistant", content=odd, calls=(NativeCall(call_id="c", name=said, arguments=odd),)),),
    )
    lines = [json.loads(line) for line in written(result).as_json_lines().split(b"\n")[:-1]]
    assert [line["kind"] for line in lines] == ["turn", "message", "step", "end"]
    assert odd.encode("utf-8", "replace") in written(result).as_markdown().encode()


@pytest.mark.promise("turns.transcript")
@given(st.text(alphabet="`\na"))
def test_no_text_closes_its_fence(text: str) -> None:
    first, *between, last = fenced(text).split("\n")
    assert first == last
    assert set(first) == {"`"}
    assert not any(line.lstrip().startswith(first) for line in between)
