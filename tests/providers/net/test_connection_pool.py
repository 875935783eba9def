import asyncio

import pytest

from tallystick.errors import ConfigError
from tallystick.providers.net.connection_pool import ConnectionPool, ConnectionPoolError, can_be_sent


@pytest.mark.promise("relay.web")
@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("abc", True), ("", True), ("a b\tc", True), ("~!", True), (" a", False), ("a ", False), ("a\r\nX: y", False),
        ("a\n", False), ("\u00e9", False), ("a\0", False), ("\x7f", False),
    ],
)  # fmt: skip
def test_a_header_holds_visible_signs_on_one_line(value, fits):
    assert can_be_sent(value) is fits


@pytest.mark.promise("relay.web")
@pytest.mark.parametrize("name", ["", "a b", "a:", "\u00e9", "a\n"])
def test_a_header_s_name_is_one_word(name):
    assert not can_be_sent("x", name=name)


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize(
    "url", ["http://u:secret@h:port/", "http://u:secret@h:99999/", "http://u:secret@[::1/", "http://a..b/"]
)
def test_an_address_that_is_none_is_said_without_showing_it(url):
    with pytest.raises(ConfigError) as caught:
        ConnectionPool(url, [])
    assert caught.value.code == "url_unusable"
    assert "secret" not in str(caught.value)


async def _asked(path, answer):
    """What a server at this path is asked, and what comes of its answer."""
    heard = asyncio.get_running_loop().create_future()

    async def meet(reader, writer):
        heard.set_result(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(meet, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        server = ConnectionPool(f"http://u:secret@127.0.0.1:{port}{path}", [])
        try:
            reply = await server.ask("GET", {})
            body = b"".join([piece async for piece in reply.pieces()])
            server.done(reply)
        except ConnectionPoolError as error:
            body = error
        server.close()
        return await heard, body


@pytest.mark.promise("relay.web")
def test_letters_that_an_address_cannot_have_are_written_as_their_numbers():
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    heard, body = asyncio.run(_asked("/\u00e9 %20?a=\u00e9&b=%41", answer))
    assert heard.startswith(b"GET /%C3%A9%20%20?a=%C3%A9&b=%41 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert body == b"ok"


@pytest.mark.promise("relay.web")
@pytest.mark.parametrize(
    "answer",
    [
        b"", b"\xff\xfe\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000,
    ],
)  # fmt: skip
def test_an_answer_that_breaks_off_or_is_none_is_an_error_of_its_own_kind(answer):
    assert isinstance(asyncio.run(_asked("/", answer))[1], ConnectionPoolError)
