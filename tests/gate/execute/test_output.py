"""Results as bytes: what is recorded is what JSON says, and what is shown is cut between characters."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tallystick.gate.execute.output import NotJsonError, show, to_output


@dataclass(slots=True)
class Slotted:
    score: float


@dataclass
class Plain:
    inner: Any


class Model(BaseModel):
    score: float
    tags: list[str] = []


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.promise("execute.output-check")
@given(JSON)
def test_json_comes_out_as_it_went_in(value: Any) -> None:
    output = to_output(value)
    assert output.value == value
    assert orjson.loads(output.data) == value


@pytest.mark.promise("execute.output-check")
@given(JSON, st.sampled_from([math.nan, math.inf, -math.inf]), st.data())
def test_a_number_that_is_none_is_found_wherever_it_stands(value: Any, number: float, data: st.DataObject) -> None:
    wrap = data.draw(
        st.sampled_from([
            lambda: [value, number], lambda: {"a": {"b": [number]}, "v": value}, lambda: (value, (number,)),
            lambda: Plain([Slotted(number)]), lambda: Plain({"m": Model(score=number)}), lambda: [Slotted(number), None],
            lambda: Model(score=number), lambda: number,
        ])
    )  # fmt: skip
    with pytest.raises(NotJsonError):
        to_output(wrap())


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, 2), [1, 2]),
        ({3, 1}, [1, 3]),
        (Slotted(0.5), {"score": 0.5}),
        (Plain(None), {"inner": None}),
        (Model(score=1.5, tags=["a"]), {"score": 1.5, "tags": ["a"]}),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        ([None, 1.0], [None, 1.0]),
    ],
)
def test_what_python_has_besides_becomes_what_the_receipt_will_say(value: Any, plain: Any) -> None:
    assert to_output(value).value == plain


@pytest.mark.parametrize(
    "value",
    [object(), {1: 2}, {1, "a"}, b"x", "\udfff", 2**70, [[]] * 1 + [lambda: 1]],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(NotJsonError):
        to_output(value)


def test_a_value_nested_without_end_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotJsonError):
        to_output(endless)


@pytest.mark.promise("execute.shown")
@given(st.text() | st.lists(st.text(), max_size=3), st.integers(0, 40), st.integers(-5, 40))
def test_what_is_shown_is_a_beginning_within_both_budgets(value: Any, step: int, left: int) -> None:
    output = to_output(value)
    shown = show(output, step_bytes=step, left_bytes=left)
    whole = value if isinstance(value, str) else output.data.decode()
    assert whole.startswith(shown.text)
    assert len(shown.text.encode()) <= max(0, min(step, left))
    assert shown.truncated == (shown.text != whole)
    assert (shown.full_size, shown.sha256) == (len(output.data), sha256(output.data).hexdigest())
