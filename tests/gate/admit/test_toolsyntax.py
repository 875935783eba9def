import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.admit.toolsyntax import looks_like_tool_call

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "admit_prose.json").read_text(encoding="utf-8"))
NAMES = ("file_locator", "file_reader", "tool.search.nn", "note")


@pytest.mark.promise("admit.tool-syntax")
@pytest.mark.parametrize("text", VECTORS["calls"])
def test_tool_syntax_in_prose_is_seen(text: str) -> None:
    assert looks_like_tool_call(text, NAMES)
    assert looks_like_tool_call(f"I looked at the outline.\n\n{text}\n\nThat is all.", NAMES)


@pytest.mark.promise("admit.tool-syntax")
@pytest.mark.parametrize("text", VECTORS["prose"])
def test_prose_is_left_alone(text: str) -> None:
    assert not looks_like_tool_call(text, NAMES)


@pytest.mark.promise("admit.tool-syntax")
def test_whole_novels_are_left_alone(data: Path) -> None:
    novels = sorted((data / "gutenberg-novels").rglob("*.txt"))
    if not novels:
        pytest.skip("left out: prose of gutenberg-novels, TALLY_DATA not there")
    for path in novels:
        assert not looks_like_tool_call(path.read_text(encoding="utf-8", errors="replace"), NAMES), path.name


@pytest.mark.promise("admit.linear")
@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "a(",
        "file_locator (",
        '"tool"',
        '"tool" ',
        " ",
        "\n",
        "<",
        "Action",
        "Action: x\n",
        "`",
        "'name':",
        ".",
        "file_reader.",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    looks_like_tool_call(text, NAMES)
    assert time.process_time() - started < 2


@given(st.text(max_size=300))
def test_any_text_gives_an_answer(text: str) -> None:
    assert looks_like_tool_call(text, NAMES) in {True, False}


@pytest.mark.promise("admit.tool-syntax")
@pytest.mark.parametrize(
    "text",
    [
        'Action:\nLookUp\nAction Input:\n{"word": "tide", ',
        "**Action:**\n\n  LookUp\n**Action Input:** {not json",
        "Thought: I should look.\nAction:\r\nLookUp\r\nAction Input: tide",
    ],
)
def test_an_action_whose_name_stands_on_its_own_line_is_a_call(text: str) -> None:
    assert looks_like_tool_call(text)


@pytest.mark.promise("admit.tool-syntax")
def test_an_action_alone_is_prose() -> None:
    assert not looks_like_tool_call("Action:\n\nThe captain draws his sword.")
