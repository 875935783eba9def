"""What endpoints refused is remembered, for a while, across processes, and never in the way."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.providers.chat.capabilities import FORGOTTEN_AFTER_S, CapabilityBook, Learnt
from tests.providers.chat.asking import SCHEMA, ask_at, asking
from tests.scripted_server import RefusesForm, Says, ScriptedServer


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.promise("providers.forms")
def test_the_next_process_knows_what_this_one_learnt(tmp_path) -> None:
    file = tmp_path / "agents" / "capabilities.json"
    book = CapabilityBook(file)
    book.takes("a", "object")
    book.refuses("a", frozenset({"temperature"}))
    book.refuses("b", frozenset({"stream_options"}))
    again = CapabilityBook(file)
    assert (again.of("a").form, again.of("a").without) == ("object", {"temperature"})
    assert (again.of("b").form, again.of("b").without) == (None, {"stream_options"})
    assert again.of("c") == Learnt()


@pytest.mark.promise("providers.forms")
def test_what_was_learnt_is_tried_again_after_a_while() -> None:
    clock = Clock()
    memory = CapabilityBook(clock=clock)
    refusing = RefusesForm(frozenset({"json_schema"}), Says("{}"))
    with ScriptedServer(*[refusing] * 3, Says("{}")) as server:
        for _ in range(2):
            ask_at(server, asking(schema=SCHEMA), memory=memory)
        clock.now += FORGOTTEN_AFTER_S
        ask_at(server, asking(schema=SCHEMA), memory=memory)
        forms = [request.body["response_format"]["type"] for request in server.requests]
    assert forms == ["json_schema", "json_object", "json_object", "json_schema"]


@pytest.mark.promise("providers.forms")
def test_a_clock_that_was_set_back_keeps_nothing() -> None:
    clock = Clock()
    book = CapabilityBook(clock=clock)
    book.takes("a", "plain")
    clock.now -= 1
    assert book.of("a") == Learnt()


@pytest.mark.promise("providers.forms")
@given(
    st.one_of(
        st.binary(max_size=30),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4)),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(st.sampled_from(["k", "form", "without", "at"]), inner, max_size=3)
            ),
        ).map(lambda value: json.dumps({"k": value}).encode()),
    )
)
def test_a_damaged_file_is_as_good_as_none(tmp_path_factory, damaged) -> None:
    file = tmp_path_factory.mktemp("book") / "capabilities.json"
    file.write_bytes(damaged)
    book = CapabilityBook(file)
    book.of("k")
    book.takes("other", "plain")
    assert CapabilityBook(file).of("other").form == "plain"


@pytest.mark.promise("providers.forms")
def test_a_file_that_cannot_be_written_stops_nothing(tmp_path) -> None:
    (tmp_path / "agents").write_text("in the way", encoding="utf-8")
    book = CapabilityBook(tmp_path / "agents" / "capabilities.json")
    book.takes("a", "plain")
    assert book.of("a").form == "plain"


@pytest.mark.promise("providers.forms")
def test_the_book_stays_small() -> None:
    clock = Clock()
    book = CapabilityBook(clock=clock)
    for number in range(400):
        clock.now += 1
        book.takes(str(number), "plain")
    assert book.of("0") == Learnt()
    assert book.of("399").form == "plain"
    assert len(book._learnt) == 256
