"""Questions in words: how they are read, and that what is not understood is refused."""

from importlib.resources import files
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.rooms.insight.query.columns import Column, Columns, computed_columns
from tallystick.rooms.insight.question.reader import read_question

DAY = 86_400
FIRST = 19_737 * DAY
"""2024-01-15."""
_GIVEN = (
    Column(key="created_at", name="Opened", kind="time", filled=9, low=FIRST, high=FIRST + 75 * DAY),
    Column(key="resolved_at", name="Resolved", kind="time", filled=8),
    Column(key="text", name="Body", kind="words", filled=9),
    Column(key="department", name="Team", kind="value", slot=1, values=("Billing", "Web Support"), filled=9),
    Column(key="priority", name="Priority", kind="value", slot=2, values=("low", "high"), filled=9),
    Column(key="risk", name="Risk", kind="value", slot=3, values=("low", "none"), filled=9),
    Column(key="Assignee", name="Assignee", kind="value", slot=4, values=("Ada", "Bo"), filled=7),
    Column(key="fee_eur", name="fee_eur", kind="number", slot=5, filled=5),
)
COLUMNS = Columns([*_GIVEN, *computed_columns(_GIVEN)])
FEBRUARY = [
    {"column": "created_at", "op": "at_least", "values": ["2024-02-01"]},
    {"column": "created_at", "op": "under", "values": ["2024-03-01"]},
]


def read(question: str) -> dict[str, Any]:
    found = read_question(question, COLUMNS, 1)
    assert found.query is not None, found.trouble
    query = found.query.as_dict()
    assert query.pop("dataset_id") == 1
    return query


def is_value(column: str, *values: str) -> dict[str, Any]:
    return {"column": column, "op": "is", "values": list(values)}


@pytest.mark.promise("insight.question.read")
@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("How many tickets are there?", {}),
        ("How many tickets came from Billing in February?", {"where": [is_value("department", "Billing"), *FEBRUARY]}),
        ("Tickets per team", {"by": [{"column": "department"}]}),
        ("monthly count by priority", {"by": [{"column": "created_at", "bucket": "month"}, {"column": "priority"}]}),
        (
            "Which team opened the most tickets?",
            {"by": [{"column": "department"}], "order": "highest", "limit": 1},
        ),
        (
            "median resolution time per assignee",
            {"measure": "median", "of": "resolution_hours", "by": [{"column": "Assignee"}]},
        ),
        (
            "What share of tickets from web support took longer than two days?",
            {
                "measure": "share",
                "where": [is_value("department", "Web Support")],
                "part": [{"column": "resolution_hours", "op": "over", "values": ["48"]}],
            },
        ),
        ("total fees", {"measure": "sum", "of": "fee_eur"}),
        ("How many tickets have no assignee?", {"where": [{"column": "Assignee", "op": "unknown"}]}),
        ("tickets with priority low", {"where": [is_value("priority", "low")]}),
        ("How many tickets mention a parcel or a courier?", {
            "where": [{"column": "text", "op": "mentions", "values": ["parcel", "courier"]}]}),
        ("how many tickets are still open", {"where": [{"column": "resolved_at", "op": "unknown"}]}),
        (
            "Which assignees have more than 20 tickets?",
            {"by": [{"column": "Assignee"}], "having": {"op": "over", "number": 20.0}},
        ),
        ("tickets opened at the weekend", {
            "where": [{"column": "created_at", "op": "is", "values": ["Saturday", "Sunday"], "bucket": "weekday"}]}),
    ],
)  # fmt: skip
def test_a_question_is_read_as_the_query_that_it_means(question: str, query: dict[str, Any]) -> None:
    assert read(question) == {"measure": "count", **query}


@pytest.mark.promise("insight.question.read")
def test_two_months_are_compared_the_earlier_first() -> None:
    found = read("Were there more tickets in March than in February?")
    assert found["compare"]["first"] == FEBRUARY
    assert read("How many more tickets has Ada than Bo?")["compare"]["show"] == "difference"


@pytest.mark.promise("insight.question.refuse")
@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How many tickets will we get in May?", "asks for more"),
        ("How many tickets mention nothing of the price and the weather of gardening", "Not understood"),
        ("How happy are the customers of Billing?", "happy"),
        ("Which assignee is the kindest?", "kindest"),
        ("How many low tickets?", "several columns"),
        ("What is the median?", "of what"),
        ("tickets per team and priority and assignee", "two columns"),
        ("Why?", "asks for more"),
        ("How many tickets came from Bilbao?", "Bilbao"),
    ],
)
def test_what_is_not_understood_is_refused_and_named(question: str, says: str) -> None:
    found = read_question(question, COLUMNS, 1)
    assert found.query is None
    assert says in found.trouble


@pytest.mark.promise("insight.question.refuse")
@pytest.mark.parametrize("verb", ["opened", "created", "resolved", "came in", "arrived", "gardened"])
def test_no_word_of_a_question_is_searched_for_in_the_texts(verb: str) -> None:
    found = read_question(f"Which team {verb} the most tickets?", COLUMNS, 1)
    filters = () if found.query is None else found.query.where
    assert not [one for one in filters if one.op == "mentions"]


@pytest.mark.promise("insight.question.refuse")
@settings(max_examples=200)
@given(st.text(max_size=120))
def test_any_text_is_read_or_refused(text: str) -> None:
    found = read_question(text, COLUMNS, 1)
    assert (found.query is None) == bool(found.trouble)


@pytest.mark.promise("insight.question.grammar")
def test_the_grammar_is_one_file_of_at_most_150_entries() -> None:
    given_file = files("tallystick.rooms.insight.question").joinpath("grammar.json")
    grammar = orjson.loads(given_file.read_bytes())
    entries = [*grammar["words"].values(), *grammar["degrees"].values(), *grammar["columns"]]
    assert sum(map(len, entries)) <= 150
