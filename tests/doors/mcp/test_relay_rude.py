"""`tally mcp wrap --url` in front of a server with bad manners: whoever asks is answered all the same."""

import json
import socket
import socketserver
import struct
import threading
import time

import pytest

from tests.wrapped import Client, refusal, text_of

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "w", "version": "1"}}
NOTE = b'{"jsonrpc":"2.0","method":"notifications/x"}'
EVENTS, CHUNKED = "Content-Type: text/event-stream", "Transfer-Encoding: chunked"
LINE, DRIPS = 12 * 2**20, 20_000


def http(status, *headers, body=b"", length=None):
    own = [f"HTTP/1.1 {status}", *headers]
    if CHUNKED not in headers and length != 0:
        own.append(f"Content-Length: {length or len(body)}")
    return "\r\n".join([*own, "", ""]).encode("latin1") + body


def said(ident, result):
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode()


def result(text):
    return {"content": [{"type": "text", "text": text}]}


RUDE = {
    "cut_short": lambda _: http("200 OK", body=b'{"json', length=500),
    "reset": lambda _: http("200 OK", body=b'{"json', length=500),
    "bad_chunk": lambda _: http("200 OK", CHUNKED, body=b"ZZ\r\nfoo\r\n"),
    "cut_stream": lambda _: http("200 OK", EVENTS, CHUNKED, body=b"5\r\ndata:\r\n"),
    "no_stream": lambda _: http("200 OK", EVENTS),
    "nothing": lambda _: http("200 OK"),
    "accepted": lambda _: http("202 Accepted"),
    "found": lambda _: http("302 Found", "Location: http://127.0.0.1:1/"),
    "moved": lambda _: http("307 Temporary Redirect", "Location: http://127.0.0.1:1/"),
    "page": lambda _: http("200 OK", "Content-Type: text/html", body=b"<html>log in</html>"),
    "large_header": lambda _: http("200 OK", "X: " + "a" * 200_000),
    "other_id": lambda _: http("200 OK", body=said(4242, {})),
    "odd_session": lambda ident: http("200 OK", "Mcp-Session-Id: s\xe9", body=said(ident, {})),
    "odd_place": lambda _: http("200 OK", EVENTS, body="id: \u00e9\ndata: ".encode() + NOTE + b"\n\n"),
    "lost_place": lambda _: http("200 OK", EVENTS, body=b"id: 7\ndata: " + NOTE + b"\n\n"),
    "endless": lambda _: http("200 OK", length=0, body=b"a" * 3_000_000),
    "endless_event": lambda _: http("200 OK", EVENTS, length=0, body=b"data:\n" * 3_000_000),
}
FINE = {
    "plain": lambda ident: http("200 OK", body=said(ident, result("plain"))),
    "returns": lambda ident: http("200 OK", EVENTS, body=b"data: " + said(ident, result("returns")) + b"\r\r"),
}


class Rude(socketserver.StreamRequestHandler):
    """Speaks HTTP by hand, so that it can do so badly."""

    def handle(self):
        while request := self.rfile.readline():
            size = 0
            while (line := self.rfile.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    size = int(line.partition(b":")[2])
            body = self.rfile.read(size)
            if not request.startswith(b"POST"):
                self.wfile.write(http("405 Method Not Allowed"))
            elif not self.answer(json.loads(body)):
                return

    def answer(self, message):
        """Answer one message; says whether the connection is still of use."""
        if isinstance(message, list):
            self.wfile.write(http("200 OK", body=json.dumps([json.loads(said(message[0]["id"], {}))]).encode()))
            return True
        ident, params = message.get("id"), message.get("params") or {}
        if ident is None:
            self.wfile.write(http("202 Accepted"))
        elif message["method"] == "initialize":
            self.wfile.write(self.server.hello(ident))
        elif message["method"] == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in (*RUDE, *FINE, "drips")]
            self.wfile.write(http("200 OK", body=said(ident, {"tools": tools})))
        else:
            return self.act(ident, params.get("name") or params.get("uri"))
        return True

    def act(self, ident, name):
        if name == "drips":
            self.wfile.write(http("200 OK", EVENTS, CHUNKED))
            self.wfile.write(b"%x\r\ndata: %b\r\n" % (LINE + 6, b"a" * LINE) + b"1\r\na\r\n" * DRIPS)
            self.server.dripped.set()
            self.server.over.wait()
            return False
        try:
            self.wfile.write((RUDE | FINE)[name](ident))
        except OSError:
            # Whoever has heard enough hangs up.
            return False
        if name == "reset":
            self.server.heard.wait(0.2)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif name in {"endless", "endless_event"}:
            self.server.over.wait()
        return name in FINE


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@pytest.fixture
def web():
    with Server(("127.0.0.1", 0), Rude) as server:
        server.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        server.hello = lambda ident: http("200 OK", "Mcp-Session-Id: abc", body=said(ident, HELLO))
        server.over, server.heard, server.dripped = threading.Event(), threading.Event(), threading.Event()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


@pytest.mark.promise("relay.web")
def test_each_request_is_answered_once_whatever_the_server_does(house, web):
    with house.wrap("--url", web.url, "--max-output", "1000000", command=[]) as client:
        for name in RUDE:
            answer = client.call(name)
            if name == "endless":
                assert refusal(answer)["category"] == "downstream_error"
            else:
                assert answer["error"]["code"] == -32000, name
            assert client.ask("resources/read", {"uri": name})["error"]["code"] == -32000, name
        assert text_of(client.call("plain")) == "plain"
        assert text_of(client.call("returns")) == "returns"
        told = [message["id"] for message in client.others if "id" in message]
    assert told == []  # what nobody asked is shown to nobody
    assert len(house.receipts("outcome")) == len(RUDE) + 2
    assert house.verified()
    assert "Traceback" not in client.errors


@pytest.mark.promise("relay.web")
def test_of_a_batch_that_is_answered_in_part_the_rest_is_told(house, web):
    with house.wrap("--url", web.url, command=[]) as client:
        client.send([{"jsonrpc": "2.0", "id": ident, "method": "resources/list"} for ident in ("a", "b")])
        first, second = json.loads(client.line()), json.loads(client.line())
    assert (first[0] if isinstance(first, list) else first)["id"] == "a"
    assert (second["id"], second["error"]["code"]) == ("b", -32000)


@pytest.mark.promise("relay.web", "relay.bad-input")
@pytest.mark.parametrize(
    "hello",
    [
        lambda ident: http("200 OK", "Mcp-Session-Id: s\xe9", body=said(ident, HELLO)),
        lambda ident: http("200 OK", "Mcp-Session-Id: " + "a" * 9_000, body=said(ident, HELLO)),
        lambda ident: http("200 OK", body=said(ident, {**HELLO, "protocolVersion": "20\u00e9"})),
        lambda ident: http("200 OK", body=said(ident, {**HELLO, "protocolVersion": "1\r\nX: y"})),
        lambda _: http("302 Found", "Location: http://127.0.0.1:1/"),
        lambda _: http("200 OK"),
    ],
    ids=["session", "long-session", "version", "two-headers", "elsewhere", "nothing"],
)
def test_a_greeting_that_cannot_be_used_is_said_and_ends_the_relay(house, web, hello):
    web.hello = hello
    with Client(house.command("--url", web.url, command=[]), home=house.home) as client:
        assert client.ask("initialize", {})["error"]["code"] == -32000
        assert client.line() is None
        assert client.close() == 4
    assert "error: server_unreachable" in client.errors
    assert "Traceback" not in client.errors


@pytest.mark.promise("relay.web", "relay.size")
def test_a_long_line_in_many_small_pieces_holds_up_nobody_else(house, web):
    with house.wrap("--url", web.url, command=[]) as client:
        assert text_of(client.call("plain")) == "plain"
        client.begin("tools/call", {"name": "drips", "arguments": {}})
        assert web.dripped.wait(60)
        assert text_of(client.call("plain")) == "plain"
        before = time.monotonic()
        client.process.terminate()
        assert client.close() == 0
        assert time.monotonic() - before < 20


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize("header", ["X-Token: s\u00e9cret", "X Token: secret"])
def test_a_header_that_cannot_be_sent_is_said_at_once_and_its_value_is_not_shown(house, header):
    with Client(
        house.command("--url", "http://127.0.0.1:1/", "--header", header, command=[]), home=house.home
    ) as client:
        assert client.line() is None
        assert client.close() == 4
    assert "error: header_unusable" in client.errors
    assert "cret" not in client.errors
