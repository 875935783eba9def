import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp.relay.sse import EventReader

STREAM = b': hello\n\nid: 1\nevent: message\ndata: {"a":1}\n\ndata: x\r\ndata: y\r\nid: 2\r\n\r\ndata:\n\nretry: 5\n\n'
EVENTS = [(b'{"a":1}', "1"), (b"x\ny", "2"), (b"", "2")]


@pytest.mark.promise("relay.web")
@pytest.mark.parametrize("end", [None, b"\n", b"\r", b"\r\n"])
@given(st.lists(st.integers(1, 20), min_size=1))
def test_events_are_the_same_however_the_bytes_come_and_the_lines_end(end, cuts):
    stream = STREAM if end is None else STREAM.replace(b"\r\n", b"\n").replace(b"\n", end)
    reader, found, place = EventReader(1000), [], 0
    while place < len(stream):
        for cut in cuts:
            found += reader.feed(stream[place : place + cut])
            place += cut
    assert [(event.data, event.ident) for event in found] == EVENTS


@pytest.mark.promise("relay.size")
def test_an_event_that_is_too_large_is_dropped_and_the_next_one_read():
    reader = EventReader(10)
    assert reader.feed(b"data: " + b"x" * 50) == []
    assert reader.feed(b"x" * 50 + b"\n\ndata: ok\n\n")[-1].data == b"ok"
    assert reader.dropped >= 50


@pytest.mark.promise("relay.size")
@pytest.mark.parametrize("large", [b"data: " + b"x" * 50 + b"\n", b"data: 123456\n" * 2, b"data:\n" * 12])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_of_an_event_that_is_too_large_nothing_is_shown(large, size):
    reader, found = EventReader(10), []
    stream = b"data: 1234567890\n\n" + large + b"data: end\n\ndata: ok\n\n"
    for place in range(0, len(stream), size):
        found += reader.feed(stream[place : place + size])
    assert [event.data for event in found] == [b"1234567890", b"ok"]
    assert reader.dropped


@pytest.mark.promise("relay.size")
def test_lines_without_anything_in_them_fill_no_memory():
    reader, lines = EventReader(100_000), b"data:\n" * 10_000
    tracemalloc.start()
    try:
        for _ in range(100):
            reader.feed(lines)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.dropped
    assert most < 5_000_000


@pytest.mark.promise("relay.size")
def test_a_long_line_in_small_pieces_takes_no_longer_than_its_bytes():
    reader = EventReader(32_000_000)
    reader.feed(b"data: " + b"a" * 12_000_000)
    before = time.process_time()
    for _ in range(20_000):
        reader.feed(b"a")
    # To go through all of it again for each byte would take minutes.
    assert time.process_time() - before < 5
    (event,) = reader.feed(b"\r\r")
    assert len(event.data) == 12_020_000
