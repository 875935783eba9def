"""Queries: one line, safe in any text, read back as they were written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.reply.references import references_in
from tallystick.rooms.insight.figures.query import LONGEST, chosen, is_meant, parse, query, values_in, where_field

NAMES = st.text(min_size=1, max_size=300)


@pytest.mark.promise("insight.figures")
@given(NAMES, NAMES)
def test_any_name_makes_a_query_that_a_reply_can_hold_and_that_is_read_back(one: str, other: str) -> None:
    asked = query("tickets", chosen(dataset=1), where_field("category", one, other))
    written = str(asked)
    assert len(written) <= LONGEST
    assert re.search(r"[\s\[\];\"“”'|]", written.replace("|", "", 1)) is None
    assert parse(written) == asked
    meant = values_in(dict(asked.params)["category"])
    assert is_meant(one, meant[0])
    assert is_meant(other, meant[1])
    assert references_in(f"figure 41 = {written}").figure == ("41", written)


@given(st.text(max_size=600))
def test_what_is_no_query_is_none(text: str) -> None:
    found = parse(text)
    assert found is None or str(parse(str(found))) == str(found)


@pytest.mark.parametrize(
    "text", ["", "tickets", "tickets?", "?dataset=1", "Tickets?dataset=1", "tickets?dataset", "x" * 501]
)
def test_a_line_without_measure_or_parameters_is_none(text: str) -> None:
    assert parse(text) is None


def test_sides_are_kept_apart() -> None:
    asked = parse("p_share?a.dataset=1&b.dataset=2&by=category&part.says=late&value=Refund")
    assert asked is not None
    assert (asked.side("a."), asked.side("b."), asked.side("part.")) == (
        {"dataset": "1"},
        {"dataset": "2"},
        {"says": "late"},
    )
    assert asked.plain() == {"by": "category", "value": "Refund"}
