import pytest

from tallystick.gate.record.clock import ClockMonitor, SystemClock
from tests.gate.record.test_record_signer import StillClock


def test_a_timestamp_is_rfc_3339_in_utc_with_microseconds() -> None:
    clock = StillClock()
    clock.wall = 1_700_000_000_123_456_789
    assert ClockMonitor(clock).stamp() == ("2023-11-14T22:13:20.123456Z", None)


@pytest.mark.promise("record.clock-jump")
def test_a_clock_that_is_set_back_or_forward_is_flagged_once() -> None:
    clock = StillClock()
    watch = ClockMonitor(clock)
    watch.stamp()
    clock.go(1)
    assert watch.stamp()[1] is None
    clock.go(1, wall=-3600)
    assert watch.stamp()[1] == "back"
    clock.go(1)
    assert watch.stamp()[1] is None
    clock.go(1, wall=3600)
    assert watch.stamp()[1] == "forward"
    clock.go(60)
    assert watch.stamp()[1] is None


def test_a_clock_that_is_slewed_or_a_long_sleep_is_not_flagged() -> None:
    clock = StillClock()
    watch = ClockMonitor(clock)
    watch.stamp()
    clock.go(10, wall=11.5)
    assert watch.stamp()[1] is None
    clock.go(100_000)
    assert watch.stamp()[1] is None


def test_a_time_before_that_of_another_process_s_record_is_flagged() -> None:
    clock = StillClock()
    watch = ClockMonitor(clock)
    watch.seen("2099-01-01T00:00:00.000000Z")
    assert watch.stamp()[1] == "back"
    assert watch.stamp()[1] is None


def test_the_machine_s_own_clock_runs() -> None:
    watch = ClockMonitor(SystemClock())
    first, second = watch.stamp()[0], watch.stamp()[0]
    assert first <= second
