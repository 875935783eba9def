import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp.relay.json_edit import member, with_entry

NAMES = st.sampled_from(["a", "servers", 'x "y', "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TABLES = st.dictionaries(NAMES, VALUES, max_size=3)
LAYOUTS = st.sampled_from([None, 2, 4, "\t"])


@pytest.mark.promise("relay.init")
@given(TABLES, TABLES, LAYOUTS, NAMES, TABLES, st.booleans())
def test_exactly_one_entry_changes(rest, servers, indent, name, entry, with_breaks):
    whole = {**rest, "servers": servers}
    text = json.dumps(whole, indent=indent)
    text = text.replace("\n", "\r\n") if with_breaks else text
    made = with_entry(text, ("servers", name), entry)
    assert json.loads(made) == {**whole, "servers": {**servers, name: entry}}
    found, was = member(made, ("servers", name)), member(text, ("servers", name))
    assert found is not None
    if was is not None:
        assert (made[: found.value], made[found.end :]) == (text[: was.value], text[was.end :])


@pytest.mark.promise("relay.init")
@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", '{\n  "s": {\n    "n": {\n      "c": 1\n    }\n  }\n}\n'),
        ("{}", '{"s": {"n": {"c": 1}}}'),
        ('{"a":1}', '{"a":1, "s": {"n": {"c": 1}}}'),
        ('{\n\t"s": {}\n}\n', '{\n\t"s": {\n\t\t"n": {\n\t\t\t"c": 1\n\t\t}\n\t}\n}\n'),
        ('{\n "s": {\n  "m": 0\n }\n}', '{\n "s": {\n  "m": 0,\n  "n": {\n   "c": 1\n  }\n }\n}'),
        ('{\n  "s": {"n": {"c": 0, "d" : [ ]}}\n}', '{\n  "s": {"n": {\n    "c": 1\n  }}\n}'),
        ('{ "s": {"n": {"c" : 0}} }', '{ "s": {"n": {"c" : 1}} }'),
        ('{"s": {"n": 1, "n": {"c": 0}}}', '{"s": {"n": 1, "n": {"c": 1}}}'),
    ],
)
def test_it_is_laid_out_like_the_rest_of_the_file(text, made):
    assert with_entry(text, ("s", "n"), {"c": 1}) == made
