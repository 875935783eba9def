"""A parameter receives what its annotation says, and a result is written by the same annotation."""

import asyncio
import enum
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import AfterValidator, BaseModel, Field

from tallystick import Gate, Tool, tool
from tallystick.errors import ToolError
from tallystick.gate.annotations import Codec, codec_of


class Line(BaseModel):
    item: str
    price: float


class Order(BaseModel):
    lines: list[Line]
    note: str | None = None


@dataclass(frozen=True)
class Point:
    x: float
    y: float


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def even(value: int) -> int:
    if value % 2:
        raise ValueError("odd")
    return value


class Aliased(BaseModel):
    when: date = Field(alias="theDate")


def takes(hint: Any, received: list[Any]) -> Tool[..., Any]:
    """A tool with one parameter of this type, which keeps what it received."""

    def take(value: Any) -> str:
        received.append(value)
        return "taken"

    take.__annotations__["value"] = hint
    return tool(effect="read", inline=True)(take)


def gives(hint: Any, value: Any) -> Tool[..., Any]:
    """A tool with a result of this type."""

    def give() -> Any:
        return value

    give.__annotations__["return"] = hint
    return tool(effect="read", inline=True)(give)


@pytest.fixture
def gate(tmp_path: Path):
    with Gate.open(tmp_path, plugins=False) as gate:
        yield gate


@pytest.mark.promise("admit.typed-arguments")
@pytest.mark.parametrize(
    ("hint", "sent", "received"),
    [
        (Order, {"lines": [{"item": "tea", "price": 2}]}, Order(lines=[Line(item="tea", price=2.0)])),
        (Point, {"x": 1, "y": 2.5}, Point(1.0, 2.5)),
        (Colour, "red", Colour.RED),
        (date, "2026-02-28", date(2026, 2, 28)),
        (datetime, "2026-02-28T10:00:00Z", datetime(2026, 2, 28, 10, tzinfo=UTC)),
        (Path, "a/b", Path("a/b")),
        (float, 10, 10.0),
        (float, 10.0, 10.0),
        (list[float], [1, 2.5], [1.0, 2.5]),
        (dict[str, Line], {"a": {"item": "x", "price": 1}}, {"a": Line(item="x", price=1.0)}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (date | None, None, None),
        (Decimal, "1.10", Decimal("1.10")),
        (UUID, "12345678-1234-5678-1234-567812345678", UUID(int=0x12345678123456781234567812345678)),
    ],
)
def test_a_parameter_receives_exactly_the_annotated_type(gate: Gate, hint: Any, sent: Any, received: Any) -> None:
    came: list[Any] = []
    gate.register(takes(hint, came))
    outcome = gate.call_sync("take", {"value": sent})
    assert outcome.ok
    assert came == [received]
    assert type(came[0]) is type(received)
    if isinstance(received, list):
        assert [type(item) for item in came[0]] == [type(item) for item in received]
    # The receipt keeps the JSON form.
    assert outcome.args == {"value": sent}
    kept = gate.ledger.find(outcome.receipt_id)
    assert kept is not None
    assert json.loads(json.dumps(kept.inputs))["args"] == {"value": sent}


@pytest.mark.promise("admit.typed-arguments")
@pytest.mark.parametrize(
    ("hint", "sent"),
    [
        (int, "7"), (int, True), (float, "7"), (float, True), (str, 7), (bool, 1), (Point, {"x": "1", "y": 2}),
        (Order, {"lines": [{"item": 1, "price": 1}]}), (date, "yesterday"), (date, 5), (Colour, "green"), (Path, 1),
        (list[float], ["1"]),
    ],
)  # fmt: skip
def test_types_are_as_strict_as_before(gate: Gate, hint: Any, sent: Any) -> None:
    came: list[Any] = []
    gate.register(takes(hint, came))
    outcome = gate.call_sync("take", {"value": sent})
    assert came == []
    assert (outcome.status, outcome.rejection and outcome.rejection.fault.name) == ("rejected", "bad_args")


@pytest.mark.promise("admit.typed-arguments")
def test_a_value_that_only_the_type_refuses_never_reaches_the_function(gate: Gate) -> None:
    came: list[Any] = []
    gate.register(takes(Annotated[int, AfterValidator(even)], came))
    assert gate.call_sync("take", {"value": 4}).ok
    refused = gate.call_sync("take", {"value": 3})
    assert came == [4]
    assert refused.failed
    assert refused.failure is not None
    assert (refused.failure.fault.name, refused.http) == ("bad_input", 400)
    assert "/value" in refused.failure.message


@pytest.mark.promise("admit.typed-arguments")
def test_an_argument_that_was_not_given_keeps_the_default_of_the_function(gate: Gate) -> None:
    @tool(effect="read")
    def late(day: date = date(2026, 1, 1), factor: float = 1.0) -> str:
        return repr((day, factor))

    gate.register(late)
    assert gate.call_sync(late, {}).unwrap() == repr((date(2026, 1, 1), 1.0))
    assert gate.call_sync(late, {"factor": 2}).unwrap() == repr((date(2026, 1, 1), 2.0))


@pytest.mark.promise("execute.typed-results")
@pytest.mark.parametrize(
    ("hint", "value", "written"),
    [
        (Order, Order(lines=[Line(item="tea", price=2)]), {"lines": [{"item": "tea", "price": 2.0}], "note": None}),
        (Point, Point(1.0, 2.5), {"x": 1.0, "y": 2.5}),
        (list[Point], [Point(1.0, 2.5)], [{"x": 1.0, "y": 2.5}]),
        (Colour, Colour.BLUE, "blue"),
        (date, date(2026, 2, 28), "2026-02-28"),
        (Path, Path("a/b"), "a/b"),
        (Decimal, Decimal("1.10"), "1.10"),
        (dict[date, Path], {date(2026, 1, 1): Path("x")}, {"2026-01-01": "x"}),
        (Aliased, Aliased(theDate=date(2026, 1, 1)), {"theDate": "2026-01-01"}),
        (set[str], {"b", "a"}, ["a", "b"]),
        (tuple[int, str], (1, "a"), [1, "a"]),
    ],
)
def test_a_result_is_written_by_its_annotation_and_read_back_by_it(
    gate: Gate, hint: Any, value: Any, written: Any
) -> None:
    made = gives(hint, value)
    gate.register(made)
    by_name, by_tool = gate.call_sync("give"), gate.call_sync(made)
    assert by_name.result == by_tool.result == written
    assert by_name.unwrap() == written
    assert by_tool.unwrap() == value
    assert type(by_tool.unwrap()) is type(value)


def test_a_result_that_its_type_cannot_write_or_that_breaks_the_schema_is_a_failure(gate: Gate) -> None:
    gate.register(gives(Point, object()))
    assert gate.call_sync("give").failed
    gate.unregister("give")
    gate.register(gives(Point, {"x": "a"}))
    outcome = gate.call_sync("give")
    assert outcome.failure is not None
    assert outcome.failure.fault.name == "bad_result"


def test_an_async_tool_converts_too(gate: Gate) -> None:
    @tool(effect="read")
    async def next_day(day: date) -> date:
        await asyncio.sleep(0)
        return day.replace(day=day.day + 1)

    gate.register(next_day)
    assert gate.call_sync(next_day, {"day": "2026-01-01"}).unwrap() == date(2026, 1, 2)


@tool(effect="read", isolate=True)
def moved(point: Point, by: float) -> Point:
    """Move a point."""
    return Point(point.x + by, point.y + by)


def test_a_tool_in_a_process_of_its_own_converts_there(gate: Gate) -> None:
    gate.register(moved)
    assert gate.call_sync(moved, {"point": {"x": 1, "y": 2}, "by": 1}).unwrap() == Point(2.0, 3.0)


@pytest.mark.parametrize(
    "hint",
    [
        str, int, bool, None, Any, list[str], dict[str, Any], str | None, Literal["a", 1], list[dict[str, int]],
        Annotated[int, Field(ge=1)], Annotated[str, Field(max_length=3)], int | str | None,
    ],
)  # fmt: skip
def test_plain_types_are_passed_as_they_are_and_cost_nothing(hint: Any) -> None:
    assert takes(hint, []).codec is None
    assert gives(hint, None).codec is None


def test_only_the_parameters_that_need_it_are_converted() -> None:
    def mixed(name: str, when: date) -> str:
        return f"{name}{when}"

    codec = codec_of(mixed)
    assert isinstance(codec, Codec)
    assert (set(codec.arguments), codec.result) == ({"when"}, None)
    with pytest.raises(ToolError, match=r"/when .*date"):
        codec.decode({"name": "a", "when": "never"})


def test_a_schema_written_by_hand_leaves_values_as_they_are(gate: Gate) -> None:
    @tool(effect="read", input_schema={"type": "object", "properties": {"day": {"type": "string"}}})
    def day_type(day: date) -> str:
        return type(day).__name__

    gate.register(day_type)
    assert gate.call_sync("day_type", {"day": "2026-01-01"}).result == "str"
