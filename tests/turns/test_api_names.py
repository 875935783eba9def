"""Shown names: what any API takes, and always back to the one tool that is meant."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.turns.api_names import ApiNames

IDS = st.from_regex(r"[A-Za-z0-9_.-]{1,128}", fullmatch=True)
CLOSE = st.lists(st.sampled_from(["a", "b", ".", "__", "_"]), min_size=1, max_size=6).map("".join)


@given(st.sets(st.one_of(IDS, CLOSE), max_size=20))
@pytest.mark.promise("mcp.names")
def test_every_shown_name_leads_back_to_its_own_tool(ids: set[str]) -> None:
    names = ApiNames(ids)
    shown = {tool_id: names.shown(tool_id) for tool_id in ids}

    assert len(set(shown.values())) == len(ids)
    for tool_id, name in shown.items():
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert names.meant(name) == tool_id
        assert names.meant(tool_id) == tool_id


@pytest.mark.promise("mcp.names")
def test_a_dot_is_two_underscores_and_a_name_that_is_taken_keeps_its_owner() -> None:
    names = ApiNames(["tool.search.nn", "plain", "a.b", "a__b"])

    assert (names.shown("tool.search.nn"), names.shown("plain")) == ("tool__search__nn", "plain")
    assert names.shown("a__b") == "a__b"
    assert names.shown("a.b").startswith("a__b_")
    assert names.meant("nobody") == "nobody"
