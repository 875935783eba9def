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


RANKED = Columns(
    [
        *_GIVEN[:3],
        Column(key="priority", name="Urgency", kind="value", slot=1, values=("1 - Critical", "2 - High"), filled=9),
        Column(key="status", name="State", kind="value", slot=2, values=("Open", "Solved", "Closed"), filled=9),
        Column(key="Replies", name="Replies", kind="number", slot=3, filled=9, low=0, high=4),
        Column(key="borough", name="borough", kind="value", slot=4, values=("Bronx", "Queens"), filled=9),
        Column(key="city", name="city", kind="value", slot=5, values=("Bronx", "Flushing"), filled=9),
    ]
)


def asked(question: str, **more: Any) -> dict[str, Any]:
    found = read_question(question, RANKED, 1, **more)
    assert found.query is not None, found.trouble
    query = found.query.as_dict()
    assert query.pop("dataset_id") == 1
    return query


@pytest.mark.promise("insight.question.read")
@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("tickets with urgency 1", {"where": [is_value("priority", "1 - Critical")]}),
        ("How many critical tickets?", {"where": [is_value("priority", "1 - Critical")]}),
        ("How many P2 tickets?", {"where": [is_value("priority", "2 - High")]}),
        ("tickets that haven't been closed", {"where": [{"column": "status", "op": "is_not", "values": ["Closed"]}]}),
        (
            "tickets not yet solved or closed",
            {"where": [{"column": "status", "op": "is_not", "values": [each]} for each in ("Solved", "Closed")]},
        ),
        ("tickets without replies", {"where": [{"column": "Replies", "op": "is", "values": ["0"]}]}),
        ("tickets with 3+ replies", {"where": [{"column": "Replies", "op": "at_least", "values": ["3"]}]}),
        ('tickets with the words "lost parcel"', {
            "where": [{"column": "text", "op": "mentions", "values": ["lost parcel"]}]}),
        ("How many different states are there?", {"measure": "distinct", "of": "status"}),
        ("busiest day of the week", {
            "by": [{"column": "created_at", "bucket": "weekday"}], "order": "highest", "limit": 1}),
    ],
)  # fmt: skip
def test_ranked_values_negations_and_counts_are_read(question: str, query: dict[str, Any]) -> None:
    assert asked(question) == {"measure": "count", **query}


@pytest.mark.promise("insight.question.refuse")
def test_a_period_outside_of_the_data_is_refused() -> None:
    found = read_question("How many tickets in March 2019?", RANKED, 1)
    assert found.query is None
    assert "outside" in found.trouble


@pytest.mark.promise("insight.question.read")
def test_of_two_columns_with_one_value_the_broader_is_meant() -> None:
    def nested(where: Any) -> int:
        return 5 if {"borough"} == {one.column for one in where} else 4

    def apart(where: Any) -> int:
        return 4 if len(where) == 1 else 1

    assert asked("tickets from Bronx", count=nested)["where"] == [is_value("borough", "Bronx")]
    assert read_question("tickets from Bronx", RANKED, 1, count=apart).query is None
    assert read_question("tickets from Bronx", RANKED, 1).query is None


class Deaf:
    """Takes every word but names for one that asks for nothing, and finds no likeness."""

    def idle(self, text: str, unknown: Any, columns: frozenset[int], rows: frozenset[int]) -> frozenset[int]:
        return frozenset(one.start for one in unknown if one.written.islower())

    def alike(self, text: str, word: Any, known: Any) -> str | None:
        return None


@pytest.mark.promise("insight.question.idle")
def test_words_that_ask_for_nothing_are_left_out_and_named_and_names_are_not() -> None:
    found = read_question("All told, which state landed the most tickets?", RANKED, 1, sense=Deaf())
    assert found.query is not None
    assert found.idle == ("told", "landed")
    assert read_question("tickets from Bilbao", RANKED, 1, sense=Deaf()).query is None
