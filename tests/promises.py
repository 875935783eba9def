"""Every promise of the parts that are built: id → what is promised.

A test names the promises it shows with `@pytest.mark.promise("id", ...)`; `tests/test_promises.py` checks both
directions: no promise without a test, no test that names an unknown promise.
"""

PROMISES: dict[str, str] = {
    # -- admit --
    # -- decide --
    # -- execute --
    # -- record --
    # -- reply --
    # -- doors --
    # -- durable --
    # -- telemetry --
    # -- house --
}
