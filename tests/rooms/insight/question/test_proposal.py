"""A model proposes a query: only what fits the dataset's columns and values is taken."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.question.proposal import propose_query, schema_for

COLUMNS = Columns(
    [
        Column(key="created_at", name="Opened", kind="time", filled=9, low=0, high=86_400),
        Column(key="status", name="State", kind="value", slot=1, values=("open", "closed"), filled=9),
        Column(key="replies", name="replies", kind="number", slot=2, filled=9),
    ]
)
OPEN = {"measure": "count", "where": [{"column": "status", "op": "is", "values": ["Open"]}]}
UNKNOWN = {"measure": "count", "where": [{"column": "status", "op": "is", "values": ["lost"]}]}


class Says:
    """A model with fixed answers."""

    def __init__(self, *answers: Any) -> None:
        self.answers = [one if one is None or isinstance(one, str) else orjson.dumps(one).decode() for one in answers]
        self.asked: list[str] = []

    def __call__(self, message: str, schema: Mapping[str, Any]) -> str | None:
        assert schema["properties"]["of"]["enum"] == COLUMNS.names
        self.asked.append(message)
        return self.answers[len(self.asked) - 1]


@pytest.mark.promise("insight.question.proposed")
def test_a_proposal_that_holds_is_taken_with_the_datas_own_value() -> None:
    model = Says(OPEN)
    found = propose_query("open ones?", COLUMNS, 4, model)
    assert found.query is not None
    assert found.proposed
    assert (found.query.dataset_id, found.query.where[0].values) == (4, ("open",))
    assert "open | closed" in model.asked[0]


@pytest.mark.promise("insight.question.proposed")
def test_a_proposal_that_does_not_hold_is_told_once() -> None:
    model = Says(UNKNOWN, OPEN)
    assert propose_query("open ones?", COLUMNS, 1, model).query is not None
    assert "no value 'lost'" in model.asked[1]
    model = Says(UNKNOWN, UNKNOWN, OPEN)
    assert propose_query("lost ones?", COLUMNS, 1, model).query is None
    assert len(model.asked) == 2


@pytest.mark.promise("insight.question.proposed")
@pytest.mark.parametrize(
    "answer",
    [
        "not JSON",
        {"measure": "count", "sql": "DROP TABLE tickets"},
        {"measure": "mean", "of": "salary"},
        {"measure": "mean", "of": "status"},
        {"measure": "none"},
        None,
    ],
)
def test_nothing_but_a_query_over_the_columns_is_taken(answer: Any) -> None:
    found = propose_query("anything", COLUMNS, 1, Says(answer, answer))
    assert found.query is None
    assert found.trouble


def test_the_schema_names_the_columns() -> None:
    assert schema_for(COLUMNS)["properties"]["measure"]["enum"][-1] == "none"
