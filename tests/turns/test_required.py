"""When step one must be a call: the flag, and the phrases as a fallback."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.turns.loop import TurnToolPolicy, required_by
from tests.turns.scripted import asked

NAMES = ("file_locator", "tool.search.nn")


@pytest.mark.promise("turns.required")
@pytest.mark.parametrize(
    "message",
    [
        "Use the file_locator tool first.",
        "please USE  THE\n`file-locator` tool first, then answer",
        "Return ONLY the JSON tool call object. No other text. Task: locate the outline file.",
        "Now respond with exactly one JSON object!",
        "use the tool.search.nn tool first",
        "x" * 100_000 + " Return only the JSON tool call object",
    ],
)
def test_the_phrases_of_the_seeds_are_recognised(message: str) -> None:
    assert required_by(asked(message), NAMES) == "heuristic"


@pytest.mark.promise("turns.required")
@pytest.mark.parametrize(
    "message",
    ["Use file_locator to find scenes, then report one issue.", "use the canon_checker tool first", "Which tool?", ""],
)
def test_other_words_are_no_requirement(message: str) -> None:
    assert required_by(asked(message), NAMES) is None


@pytest.mark.promise("turns.required")
def test_the_flag_goes_before_the_phrases() -> None:
    message = "Use the file_locator tool first."
    assert required_by(asked(message, policy=TurnToolPolicy(require_tool=True)), NAMES) == "flag"
    assert required_by(asked("", conference=True, tool_phase=True), NAMES) == "flag"


@given(st.text())
def test_no_text_raises(message: str) -> None:
    assert required_by(asked(message), NAMES) in {None, "heuristic"}
