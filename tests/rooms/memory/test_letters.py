"""Letters are compared alike on every Python, and two copies of a text are known as such however they are set."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.memory.ids import composed, folded, name_key, skeleton, text_key
from tallystick.rooms.memory.recall.answers import RecallRequest
from tests.rooms.memory.remembering import Notebook, Remembering

ALL_SIGNS = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
ON_PYTHON_3_11 = "e8fc22399c8766efd35c053f352a74b5a94ce7ed7393f3dbcdb2e4a6b1c17650"


@pytest.mark.promise("reading.same-bytes")
def test_every_sign_is_compared_as_it_was_when_this_was_written() -> None:
    made = "\n".join(f"{folded(sign)}\x00{skeleton(sign)}\x00{composed(sign)}" for sign in ALL_SIGNS)
    assert sha256(made.encode()).hexdigest() == ON_PYTHON_3_11


@pytest.mark.promise("reading.same-bytes")
def test_letters_of_newer_editions_are_taken_as_they_stand() -> None:
    # Garay has case and Tulu-Tigalari puts letters together, both since Unicode 16.
    assert name_key("\U00010d50") == "\U00010d50"
    assert name_key("\U00011382\U000113c9") == "\U00011382\U000113c9"
    assert name_key("STRASSE Ά Ж ﬀ") == name_key("straße ά ж ff")


@pytest.mark.promise("memory.laundering")
@pytest.mark.parametrize(
    "copy",
    [
        "Mars has two moons", "MARS HAS TWO MOONS!", "“Mars” has\u00a0two – moons.", "Mars has t\u200bw\u00ado moons.",
        "\ufeffMars has two mo\u043ens.", "Mars has twó moons.", "  Mars\nhas\ttwo moons…",
    ],
)  # fmt: skip
def test_a_copy_that_is_only_set_otherwise_is_no_second_source(copy: str) -> None:
    book = Notebook()
    name = book.propose("Mars has two moons", book.observe("Mars has two moons.", "site-1"))
    alone = book[name].figures
    book.support(name, book.observe(copy, "site-2"))
    assert book[name].figures == alone


@pytest.mark.promise("memory.laundering")
@pytest.mark.parametrize(
    "other", ["Mars has 2 moons.", "Mars has two moon s.", "火星", "!?", "Mars has two moons. Yes."]
)
def test_other_words_are_another_text(other: str) -> None:
    assert text_key(other) != text_key("Mars has two moons.")
    assert text_key("It costs 1.5") != text_key("It costs 15")
    assert text_key("!?") != text_key("?!")


@pytest.mark.promise("memory.laundering")
@given(st.text(), st.text(alphabet="\u200b\u2060\u00ad\ufeff", max_size=3), st.integers(min_value=0))
def test_what_does_not_show_makes_no_other_text(text: str, unseen: str, place: int) -> None:
    at = place % (len(text) + 1)
    changed = text[:at] + unseen + text[at:]
    assert skeleton(changed) == skeleton(text)
    assert skeleton(skeleton(text)) == skeleton(text)


@pytest.mark.promise("reading.words")
@pytest.mark.parametrize("name", ["caf\udcff", "\ud800", "a\x00b", "x" * 5_000])
@pytest.mark.parametrize("by", ["entity", "predicate"])
def test_a_name_that_no_database_takes_is_one_that_nobody_has(memory: Remembering, by: str, name: str) -> None:
    memory.propose(memory.observe())
    found = memory.room.queries.recall(RecallRequest(query="Lisbon", **{by: name}), now=memory.now)
    assert not found.facts
    known = memory.room.queries.recall(RecallRequest(query="", entity="Ada", predicate="lives in"), now=memory.now)
    assert known.facts
