import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.relay.events import EventReader

STREAM = b': hello\n\nid: 1\nevent: message\ndata: {"a":1}\n\ndata: x\r\ndata: y\r\nid: 2\r\n\r\ndata:\n\nretry: 5\n\n'


@pytest.mark.promise("relay.web")
@given(st.lists(st.integers(1, 20), min_size=1))
def test_events_are_the_same_however_the_bytes_come(cuts):
    reader, found, place = EventReader(1000), [], 0
    while place < len(STREAM):
        for cut in cuts:
            # Not between the two halves of a line end, which some writers send; those are joined by the network layer.
            end = place + cut
            while STREAM[end - 1 : end + 1] == b"\r\n":
                end += 1
            found += reader.feed(STREAM[place:end])
            place = end
    assert [(event.data, event.ident) for event in found] == [(b'{"a":1}', "1"), (b"x\ny", "2"), (b"", "2")]


@pytest.mark.promise("relay.size")
def test_an_event_that_is_too_large_is_dropped_and_the_next_one_read():
    reader = EventReader(10)
    assert reader.feed(b"data: " + b"x" * 50) == []
    assert reader.feed(b"x" * 50 + b"\n\ndata: ok\n\n")[-1].data == b"ok"
    assert reader.dropped >= 50
