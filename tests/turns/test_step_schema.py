"""The schema that is remembered is the schema that would be made anew."""

import pytest

from tallystick import Gate, tool
from tallystick.gate.admit.turn_schema import turn_schema
from tallystick.turns.step_schema import step_schema


@pytest.mark.promise("turns.schema")
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("may_finish", [True, False])
def test_only_the_nonce_differs_from_step_to_step(desk: Gate, *, first: bool, may_finish: bool) -> None:
    entries = tuple(desk.turn(session="s1").tools())
    for nonce in ("n0", "n1", "n0"):
        made = turn_schema(entries, nonce, first=first, may_finish=may_finish)
        assert step_schema(entries, nonce, first=first, may_finish=may_finish) == made


@pytest.mark.promise("turns.schema")
def test_a_tool_that_changes_changes_the_schema(desk: Gate) -> None:
    @tool(effect="read")
    async def read_log(page: int) -> str:
        """Read a page."""
        return str(page)

    turn = desk.turn(session="s1")
    before = turn.schema
    desk.unregister("read_log")
    desk.register(read_log)
    after = turn.schema
    assert before != after
    assert any("page" in form["properties"].get("args", {}).get("properties", {}) for form in after["anyOf"])
