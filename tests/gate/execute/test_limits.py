"""The time limit of a coroutine, which starts at its first wait."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.execute.limits import OutOfTimeError, run_async, within

ENDS = st.sampled_from(["returns", "raises", "hangs"])
LIMIT_S, AMPLE_S = 0.01, 30.0


def came_of(work: Any) -> tuple[str, Any]:
    """What a call comes to: its result, or the kind of its error."""
    try:
        return "returned", asyncio.run(work)
    except (LookupError, OutOfTimeError, asyncio.CancelledError) as error:
        return "raised", type(error)


@given(waits=st.integers(0, 3), end=ENDS, value=st.integers())
def test_the_limit_from_the_first_wait_comes_to_what_a_limit_from_the_start_comes_to(
    waits: int, end: str, value: int
) -> None:
    async def handler(value: int) -> int:
        for _ in range(waits):
            await asyncio.sleep(0)
        if end == "hangs":
            await asyncio.get_running_loop().create_future()
        if end == "raises":
            raise LookupError
        return value

    limit_s = LIMIT_S if end == "hangs" else AMPLE_S
    from_first_wait = came_of(run_async(handler, {"value": value}, limit_s))
    from_the_start = came_of(within(handler(value), limit_s))
    assert from_first_wait == from_the_start
