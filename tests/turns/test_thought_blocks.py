"""Thinking before an answer is put aside; what remains is the answer, untouched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.turns.thought_blocks import put_aside

TAGS = ["<think>", "</think>", "<thinking>", "</thinking>", "[thinking]", "[/thinking]", "<THINK>", "İ", "\n", "a"]


@pytest.mark.promise("turns.thinking")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>hm</think>\n\nNine.", "Nine."),
        ("  <Thinking>hm</THINKING> [thinking]so[/thinking] Nine.", "Nine."),
        ("the template began it</think>Nine.", "Nine."),
        ("<think>it never ends. Nine.", "<think>it never ends. Nine."),
        ("Nine. <think>late</think>", "Nine. <think>late</think>"),
        ("Nine < ten, [see] there", "Nine < ten, [see] there"),
        ("", ""),
    ],
)
def test_only_a_block_in_front_is_put_aside(text: str, answer: str) -> None:
    assert put_aside(text)[0] == answer


@pytest.mark.promise("turns.thinking")
@given(st.lists(st.sampled_from(TAGS)).map("".join))
def test_nothing_of_the_answer_is_lost(text: str) -> None:
    answer, thinking = put_aside(text)
    assert text.endswith(answer)
    assert "".join((thinking + answer).split()) == "".join(text.split())
