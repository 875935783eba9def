"""A model proposes the typed query of a question; code holds it to the dataset's columns and values.

The model sees the columns, some values of each, and the question. Its answer is one JSON object under a schema that
names the columns; what does not hold is told to it once. It sees no ticket, and nothing of it is shown but the query.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from tallystick.errors import ToolError
from tallystick.gate.admit.schema import compile_schema
from tallystick.records import record
from tallystick.rooms.insight.query.columns import Column, Columns
from tallystick.rooms.insight.query.model import BUCKETS, MEASURES, OPERATORS, ORDERED, SHOWS, TypedQuery, query_from
from tallystick.rooms.insight.query.validation import validated
from tallystick.rooms.insight.question.reader import QuestionReading

MOST_SHOWN = 8
"""Values of a column that the model sees."""
MOST_TOKENS = 300
_NONE = "none"
_LONGEST_VALUE = 40
_TRIES = 2
SayJson = Callable[[str, Mapping[str, Any]], str | None]
"""Asks a model: a message and the schema of its answer → its text; None: it gave none."""

_TASK = """Turn the question about support tickets into one JSON query over these columns.

{columns}

measure: count | share (percent of the tickets in "where" that also fit "part") | mean, median, sum, minimum, maximum, \
percentile (of the number column "of") | distinct (how many different values of "of") | tickets (a list) | \
none (the columns cannot answer)
where: conditions. op: is, is_not, under, at_most, over, at_least, known, unknown; mentions only for column text.
Times are days such as 2026-03-31 ("under" is before that day); with "bucket" a weekday, hour or month is meant.
by: groups. order highest or lowest with limit 1 finds the group with most or least. \
having: a bound on the value of a group.
compare: two sides, each with conditions; show difference or ratio.

Examples of another file with columns city, status, rating (number), created_at:
How many open ones did Oslo have? {{"measure":"count","where":[{{"column":"city","op":"is","values":["Oslo"]}},\
{{"column":"status","op":"is","values":["open"]}}]}}
Which city rates us best? {{"measure":"mean","of":"rating","by":[{{"column":"city"}}],"order":"highest","limit":1}}
What percent of Oslo's are closed? {{"measure":"share","where":[{{"column":"city","op":"is","values":["Oslo"]}}],\
"part":[{{"column":"status","op":"is","values":["closed"]}}]}}
How many came in after 6 pm in March 2026? {{"measure":"count","where":[{{"column":"created_at","op":"at_least",\
"values":["18"],"bucket":"hour"}},{{"column":"created_at","op":"is","values":["2026-03"],"bucket":"month"}}]}}
What do our vans cost? {{"measure":"none"}}

Question: {question}"""
_AGAIN = """{task}

This answer does not hold: {answer}
{problem}
Answer again."""


@record
class Proposed:
    """A query that holds, or why there is none."""

    query: TypedQuery | None
    problem: str = ""


def propose_query(text: str, columns: Columns, dataset_id: int, say: SayJson) -> QuestionReading:
    """Ask a model for the query of a question.

    Args:
        text: The question.
        columns: Of the dataset.
        dataset_id: Which dataset.
        say: Asks the model.
    """
    schema = schema_for(columns)
    task = message = _TASK.format(columns="\n".join(map(_shown, columns.all)), question=text)
    problem = ""
    for _ in range(_TRIES):
        answer = say(message, schema)
        if answer is None:
            return QuestionReading(query=None, trouble="The model gave no answer.")
        found = _held(answer, columns, dataset_id, schema)
        if found.query is not None or not found.problem:
            trouble = "" if found.query is not None else "The model finds no columns that could answer this."
            return QuestionReading(query=found.query, trouble=trouble, proposed=True)
        problem = found.problem
        message = _AGAIN.format(task=task, answer=answer[:500], problem=problem)
    return QuestionReading(query=None, trouble=f"The model proposed no query that holds: {problem}")


def _held(answer: str, columns: Columns, dataset_id: int, schema: Mapping[str, Any]) -> Proposed:
    """The proposal, held to the schema, the columns and their values."""
    try:
        given = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return Proposed(query=None, problem="It is no JSON object.")
    compiled = compile_schema(schema, closed=True)
    if not compiled.accepts(given):
        return Proposed(query=None, problem=" ".join(("It breaks the schema at", *compiled.explain(given))))
    if given["measure"] == _NONE:
        return Proposed(query=None)
    try:
        return Proposed(query=validated(query_from({**given, "dataset_id": dataset_id}), columns))
    except ToolError as error:
        return Proposed(query=None, problem=f"{error} {error.hint or ''}".strip())


def schema_for(columns: Columns) -> dict[str, Any]:
    """The schema of a proposal: no column can be named that there is not."""
    name = {"type": "string", "enum": columns.names}
    bucket = {"type": "string", "enum": list(BUCKETS)}
    condition = _closed(
        {
            "column": name,
            "op": {"type": "string", "enum": list(OPERATORS)},
            "values": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 200}},
            "bucket": bucket,
        },
        "column",
        "op",
    )
    conditions = {"type": "array", "maxItems": 8, "items": condition}
    return _closed(
        {
            "measure": {"type": "string", "enum": [*(one for one in MEASURES if one != "rate"), _NONE]},
            "of": name,
            "percent": {"type": "number"},
            "where": conditions,
            "part": conditions,
            "by": {"type": "array", "maxItems": 2, "items": _closed({"column": name, "bucket": bucket}, "column")},
            "having": _closed(
                {"op": {"type": "string", "enum": list(ORDERED)}, "number": {"type": "number"}}, "op", "number"
            ),
            "order": {"type": "string", "enum": ["highest", "lowest", "key"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
            "compare": _closed(
                {"first": conditions, "second": conditions, "show": {"type": "string", "enum": list(SHOWS)}},
                "first",
                "second",
                "show",
            ),
        },
        "measure",
    )


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _shown(column: Column) -> str:
    """A column as the model sees it."""
    said = f"{column.key} ({column.kind}"
    said += f", called {column.name})" if column.name != column.key else ")"
    if column.kind == "value" and column.key != "customer":
        shown = [value[:_LONGEST_VALUE] for value in column.values[:MOST_SHOWN]]
        said += f": {' | '.join(shown)}{' | …' if len(column.values) > MOST_SHOWN else ''}"
    elif column.kind == "time" and column.low is not None and column.high is not None:
        days = (datetime.fromtimestamp(moment, UTC).date().isoformat() for moment in (column.low, column.high))
        said += f": {' to '.join(days)}"
    elif column.kind == "number" and column.low is not None and column.high is not None:
        said += f": {column.low:g} to {column.high:g}"
    elif column.labels:
        said += f": {' | '.join(f'{key} = {label}' for key, label in list(column.labels.items())[:MOST_SHOWN])}"
    return said
