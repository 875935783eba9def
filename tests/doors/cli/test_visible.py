"""Characters that cannot be seen are shown, everywhere and always."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.presentation.visible import hidden_in, is_hidden, visible, visible_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
any_text = st.text(st.characters(codec=None, exclude_categories=[]))


@pytest.mark.promise("doors.cli-visible")
@given(any_text)
def test_whatever_the_text_nothing_hidden_is_left_in_it(text: str) -> None:
    shown = visible(text)
    assert not any(map(is_hidden, shown))
    assert "\n" not in shown


@pytest.mark.promise("doors.cli-visible")
@given(json_values, st.sampled_from([None, 2]))
def test_visible_json_says_the_same_and_hides_nothing(value: object, indent: int | None) -> None:
    shown = visible_json(value, indent=indent)
    assert json.loads(shown) == value
    assert not any(is_hidden(letter) for letter in shown.replace("\n", ""))


@pytest.mark.promise("doors.cli-visible")
@pytest.mark.parametrize(
    "letter",
    ["\x00", "\x07", "\x08", "\r", "\x1b", "\x7f", "\x9b", "\xa0", "\xad", "\u061c", "\u115f", "\u180e", "\u200b",
     "\u200d", "\u2028", "\u202e", "\u2066", "\u2800", "\u3164", "\ufe0f", "\ufeff", "\ue000", "\ud800", "\U000e0041",
     "\U000e0100", "\U0010ffff"],
    ids=lambda letter: f"U+{ord(letter):04X}",
)  # fmt: skip
def test_what_nobody_sees_is_escaped_and_flagged(letter: str) -> None:
    assert letter not in visible(f"a{letter}b")
    assert hidden_in({"key": f"a{letter}b"})[0].startswith("/key: U+")


@pytest.mark.parametrize("text", ["plain", "naïve café", "日本語", "Ελληνικά", "עברית", "😀", "a b"])
def test_what_everybody_sees_is_left_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert hidden_in([text]) == []


def test_names_of_members_are_looked_at_too() -> None:
    assert hidden_in({"a\u200b/b": [1]}) == ["/a\\u200b~1b: U+200B ZERO WIDTH SPACE, 1 times"]


def test_a_text_full_of_hidden_characters_gives_a_list_with_an_end() -> None:
    assert hidden_in("".join(map(chr, range(0xE0020, 0xE007F))))[-1] == "and more"


def test_emoji_sequences_of_the_standard_show_their_joiners(data: Path) -> None:
    listed = data / "unicode" / "shared" / "emoji-zwj-sequences.txt"
    if not listed.exists():
        pytest.skip("left out: the list of joined emoji, TALLY_DATA not there")
    joined = [
        "".join(chr(int(point, 16)) for point in line.split(";")[0].split())
        for line in listed.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    assert joined
    assert all("\\u200d" in visible(sequence) for sequence in joined)
