from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.insight.ingest.dates import is_open, likely_order, order_of, read_moment

NOON = int(datetime(2026, 1, 31, 12, 0, tzinfo=UTC).timestamp())
MIDNIGHT = NOON - 12 * 3600
MOMENTS = st.integers(157_766_400, 4_102_358_400).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))

WRITTEN = {
    NOON: [
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00:00",
        "2026-01-31 12:00",
        "2026-01-31T13:00:00+01:00",
        "2026-01-31 12:00:00 UTC",
        "2026-01-31 13:00:00 +0100",
        "2026/01/31 12:00:00",
        "2026-01-31T12:00:00.123456Z",
        "20260131T120000Z",
        str(NOON),
        f"{NOON}000",
        f"{NOON}.0",
        "Sat, 31 Jan 2026 12:00:00 +0000",
        "Sat, 31 Jan 2026 13:00:00 +0100",
        "31 Jan 2026 12:00:00 GMT",
        "Jan 31, 2026 12:00 PM",
        "31-Jan-2026 12:00",
        "January 31, 2026 at 12:00",
        "46053.5",
    ],
    MIDNIGHT: ["2026-01-31", "20260131", "31 January 2026", "Jan 31 2026", "46053", "31. Januar 2026"],
}


@pytest.mark.promise("insight.dates")
@pytest.mark.parametrize(("text", "moment"), [(text, moment) for moment, texts in WRITTEN.items() for text in texts])
def test_a_time_is_read_however_it_is_written(text: str, moment: int) -> None:
    assert read_moment(text) == read_moment(text, day_first=True) == moment


@pytest.mark.promise("insight.dates")
@pytest.mark.parametrize(
    ("american", "european"),
    [
        ("1/31/2026", "31/1/2026"),
        ("01/31/26", "31.01.26"),
        ("01-31-2026 00:00", "31-01-2026 00:00"),
        ("1/31/2026 12:00 AM", "31/1/2026 00:00:00"),
        ("1/31/2026, 12:00:00 a.m.", "31.1.2026, 0:00"),
    ],
)
def test_the_order_of_day_and_month_is_said(american: str, european: str) -> None:
    assert read_moment(american) == read_moment(european, day_first=True) == MIDNIGHT
    # A day above twelve says by itself which number is the day.
    assert read_moment(european) == read_moment(american, day_first=True) == MIDNIGHT
    assert read_moment("2/1/2026") != read_moment("2/1/2026", day_first=True)


@pytest.mark.promise("insight.dates")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "31/31/2026",
        "2026-02-30",
        "2026-13-01",
        "99999999999999999999",
        "1",
        "12:30",
        "1e9",
        "nan",
        "-5",
        "31 Foo 2026",
        "2026-01-31T25:00:00",
        "0001-01-01",
        "9999-12-31",
        "1/2/2026 25:00",
        "1/2/2026 noon",
        "½",
        "٣",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_moment(text) is None


@pytest.mark.promise("insight.dates")
def test_one_value_above_twelve_settles_the_column() -> None:
    assert order_of(["01/02/2026", "x", "13/02/2026"]) is True
    assert order_of(["01/02/2026", "", "01/13/2026"]) is False
    assert order_of(["01/02/2026", "2026-01-13"]) is None
    assert is_open(["", "01/02/2026"])
    assert not is_open(["2026-01-13", "x"])


@pytest.mark.promise("insight.dates")
def test_what_no_value_settles_is_read_as_keeps_the_dates_together() -> None:
    assert likely_order([f"{day:02}/03/2026" for day in range(1, 12)]) is True
    assert likely_order([f"03/{day:02}/2026" for day in range(1, 12)]) is False
    assert likely_order(["01.02.2026"]) is True
    assert likely_order(["01/02/2026 10:00 AM", "02/02/2026 11:00 AM"]) is False


@given(MOMENTS, st.integers(-12 * 60, 14 * 60))
def test_iso_mail_and_epoch_agree(moment: datetime, minutes: int) -> None:
    there = moment.astimezone(timezone(timedelta(minutes=minutes)))
    expected = int(moment.timestamp())
    assert read_moment(there.isoformat()) == expected
    assert read_moment(format_datetime(there)) == expected
    if expected >= 10**9:
        assert read_moment(str(expected)) == read_moment(str(expected * 1000 + 7)) == expected


@given(MOMENTS)
def test_both_orders_agree(moment: datetime) -> None:
    expected = int(moment.timestamp())
    assert read_moment(moment.strftime("%m/%d/%Y %I:%M:%S %p")) == expected
    assert read_moment(moment.strftime("%d.%m.%Y %H:%M:%S"), day_first=True) == expected


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    moment = read_moment(text)
    assert moment is None or isinstance(moment, int)
