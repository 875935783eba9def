import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.doors.mcp.lines import EDGE, LineReader, LineWriter


def read_all(pieces, longest=1000):
    """What a reader makes of these pieces."""

    async def run():
        there, here = os.pipe()
        lines, longs, ended = [], [], asyncio.Event()
        reader = LineReader(
            there, longest=longest, on_line=lines.append, on_long=lambda *said: longs.append(said), on_end=ended.set
        )
        reader.start()
        for piece in pieces:
            os.write(here, piece)
            await asyncio.sleep(0)
        os.close(here)
        await ended.wait()
        reader.finish()
        os.close(there)
        return lines, longs

    return asyncio.run(run())


@pytest.mark.promise("relay.passes")
@given(st.lists(st.binary(max_size=30), max_size=8))
def test_lines_are_the_same_however_the_bytes_come(pieces):
    lines, longs = read_all(pieces)
    whole = b"".join(pieces)
    assert lines == [line for line in whole.split(b"\n")[:-1] if line]
    assert longs == []


@pytest.mark.promise("relay.size")
@given(st.lists(st.integers(1, 900), min_size=1, max_size=5))
def test_of_a_line_that_is_too_long_both_ends_are_kept(cuts):
    text = bytes(range(65, 91)) * 40
    pieces, rest = [], text
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    lines, longs = read_all([b"a\n", *pieces, rest, b"\nb\n"], longest=500)
    assert lines == [b"a", b"b"]
    ((head, tail, size),) = longs
    assert size == len(text)
    assert text.startswith(head)
    assert text.endswith(tail[-EDGE:])
    assert head


@pytest.mark.promise("relay.flow")
@given(st.lists(st.binary(max_size=6), max_size=20), st.booleans())
def test_a_pause_counts_at_once_and_nothing_is_lost_by_it(pieces, finishing):
    """Also in the middle of what was read together; what is left comes first afterwards."""
    whole = b"\n".join([*pieces, b""])

    async def run():
        there, here = os.pipe()
        ended = asyncio.Event()
        got = []

        def take(line):
            got.append(line)
            reader.pause()

        reader = LineReader(there, longest=1000, on_line=take, on_long=lambda *_: None, on_end=ended.set)
        reader.start()
        os.write(here, whole)
        os.close(here)
        while not ended.is_set():
            before = len(got)
            await asyncio.sleep(0)
            assert len(got) <= before + 1
            if finishing and got:
                reader.finish()
            reader.resume()
        os.close(there)
        return got

    assert asyncio.run(run()) == [line for line in whole.split(b"\n")[:-1] if line]


@pytest.mark.promise("relay.passes")
def test_a_plain_file_can_be_read_too(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(b"one\ntwo\nhalf")

    async def run():
        lines, ended = [], asyncio.Event()
        with source.open("rb") as file:
            LineReader(
                file.fileno(), longest=10, on_line=lines.append, on_long=lambda *_: None, on_end=ended.set
            ).start()
            await ended.wait()
        return lines

    assert asyncio.run(run()) == [b"one", b"two"]


@pytest.mark.parametrize("source", ["/dev/null", "/"])
@pytest.mark.promise("relay.passes")
def test_what_the_system_cannot_watch_ends_at_once(source):
    async def run():
        lines, ended = [], asyncio.Event()
        fd = os.open(source, os.O_RDONLY)
        LineReader(fd, longest=10, on_line=lines.append, on_long=lambda *_: None, on_end=ended.set).start()
        await ended.wait()
        os.close(fd)
        return lines

    assert asyncio.run(run()) == []


@pytest.mark.promise("relay.flow")
def test_a_writer_keeps_what_is_not_taken_and_says_when_there_is_room():
    async def run():
        there, here = os.pipe()
        writer = LineWriter(here, on_gone=lambda: None)
        line, room = b"x" * 999_999, asyncio.Event()
        for _ in range(10):
            writer.send(line)
        assert writer.full
        writer.when_room(room.set)
        got = 0
        loop = asyncio.get_running_loop()
        while got < 10_000_000:
            got += len(await loop.run_in_executor(None, os.read, there, 1 << 20))
        await room.wait()
        await writer.flush(5)
        writer.close(end=True)
        os.close(there)
        return got

    assert asyncio.run(run()) == 10_000_000


@pytest.mark.promise("relay.client-gone")
def test_a_writer_notices_that_nobody_reads_any_more():
    async def run():
        there, here = os.pipe()
        gone = asyncio.Event()
        writer = LineWriter(here, on_gone=gone.set)
        os.close(there)
        writer.send(b"x")
        await gone.wait()
        writer.send(b"y")
        await writer.flush(1)
        assert writer.gone
        writer.close(end=True)

    asyncio.run(run())


@pytest.mark.promise("relay.client-gone")
@pytest.mark.parametrize("gone", [True, False])
def test_who_waits_for_room_and_goes_is_missed(gone):
    async def run():
        there, here = os.pipe()
        ended = asyncio.Event()
        reader = LineReader(
            there, longest=99, on_line=lambda _: reader.pause(), on_long=print, on_end=ended.set, stuck_s=0.05
        )
        reader.start()
        os.write(here, b"a\nb\n")
        if gone:
            os.close(here)
            await asyncio.wait_for(ended.wait(), 30)
        else:
            await asyncio.sleep(0.3)
            assert not ended.is_set()
            os.close(here)
        reader.finish()
        os.close(there)

    asyncio.run(run())
