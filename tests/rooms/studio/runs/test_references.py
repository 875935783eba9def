"""References look up what is there, and never make up what is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.rooms.studio.runs.references import holds, places_in, places_in_text, render, resolve

SCOPE: dict[str, Any] = {
    "inputs": {"name": "Mara", "count": 3},
    "found": {
        "results": [{"path": "a.md", "hits": [{"line": 1}]}, {"path": "b.md", "hits": [{"line": 2}, {"line": 3}]}]
    },
    "mixed": [{"path": "a"}, {"other": 1}],
    "empty": [],
    "skipped": None,
}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1).filter(lambda key: not key.startswith("$")), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.promise("runs.references")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"$ref": "found.results.1.path"}, "b.md"),
        ({"$ref": "found.results.*.path"}, ["a.md", "b.md"]),
        ({"$ref": "found.results.*.hits.*.line"}, [1, 2, 3]),
        ({"$ref": "mixed.*.path"}, ["a"]),
        ({"$input": "name"}, "Mara"),
        ({"$ref": "skipped"}, None),
        ({"$ref": "skipped.path", "default": "c.md"}, "c.md"),
        ({"deep": [{"$input": "count"}, {"x": {"$ref": "empty"}}]}, {"deep": [3, {"x": []}]}),
        ({"$ref": "inputs.name", "more": 1}, {"$ref": "inputs.name", "more": 1}),
    ],
)
def test_a_reference_gives_what_stands_at_its_place(value: Any, expected: Any) -> None:
    assert resolve(value, SCOPE) == expected


@pytest.mark.promise("runs.references")
@pytest.mark.parametrize("place", ["nowhere", "found.results.2.path", "found.results.x", "skipped.path", "inputs.age", "inputs.name.*"])  # fmt: skip
def test_what_is_not_there_is_a_problem_and_no_empty_value(place: str) -> None:
    missing = resolve({"args": [{"$ref": place}]}, SCOPE)
    assert isinstance(missing, Problem)
    assert missing.code == "reference_missing"
    assert isinstance(render(f"x {{{{{place}}}}} y", SCOPE), Problem)


@pytest.mark.promise("runs.references")
@given(PLAIN)
def test_a_value_without_references_stays_what_it_is(value: Any) -> None:
    assert resolve(value, SCOPE) == value
    assert list(places_in(value)) == []


def test_a_template_writes_text_as_it_is_and_the_rest_as_json() -> None:
    assert render("{{inputs.name}}: {{ inputs.count }}, {{mixed.*.path}}", SCOPE) == 'Mara: 3, ["a"]'
    assert render("no {place} here, {{{", SCOPE) == "no {place} here, {{{"
    assert render("{{nowhere.at.all | nothing}}, {{inputs.name|x}}, {{skipped | none}}", SCOPE) == "nothing, Mara, none"
    assert places_in_text("{{a.b}} and {{ c }}") == ["a.b", "c"]


def test_text_that_a_slot_holds_is_not_read_as_a_template_again() -> None:
    assert render("{{inputs.name}}", {"inputs": {"name": "{{found}}"}, "found": "secret"}) == "{{found}}"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"$ref": "found"}, True),
        ({"$ref": "empty"}, False),
        ({"$ref": "skipped"}, False),
        ({"$ref": "nowhere"}, False),
        ({"not": {"$ref": "empty"}}, True),
        ({"equals": [{"$input": "count"}, 3]}, True),
        ({"equals": [{"$ref": "nowhere"}, 3]}, False),
    ],
)
def test_a_condition_holds_or_not(condition: Any, *, expected: bool) -> None:
    assert holds(condition, SCOPE) is expected
