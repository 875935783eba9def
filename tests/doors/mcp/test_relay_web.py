"""`tally mcp wrap --url`: a server with an address, in every way it may answer."""

import json
import os
import queue
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.wrapped import Client, refusal, text_of

TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    for name in ("plain", "pretty", "stream", "broken_off", "refused", "empty", "huge", "late")
]
OLDER = {"code": -32022, "message": "Unsupported", "data": {"supported": ["2025-06-18"], "requested": "2026-07-28"}}


class Web(BaseHTTPRequestHandler):
    """A server that speaks streamable HTTP, well and badly."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((message.get("method"), dict(self.headers)))
        method, ident = message.get("method"), message.get("id")
        if ident is None:
            self.answer(202, b"")
        elif self.headers.get("Mcp-Protocol-Version") == "2026-07-28":
            # As a server that only has sessions refuses one who comes without.
            self.answer(400, json.dumps({"jsonrpc": "2.0", "id": None, "error": OLDER}).encode())
        elif method == "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "w", "version": "1"},
            }
            self.answer(200, self.said(ident, result), {"Mcp-Session-Id": "session-1"})
        elif method == "tools/list":
            self.answer(200, self.said(ident, {"tools": TOOLS}))
        elif method == "tools/call":
            self.call(ident, message["params"]["name"])
        else:
            self.answer(200, self.said(ident, {}))

    def call(self, ident, name):
        result = {"content": [{"type": "text", "text": name}]}
        line = self.said(ident, result)
        if name == "pretty":
            self.answer(200, json.dumps(json.loads(line), indent=2).encode())
        elif name == "stream":
            note = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
            self.answer(200, b"id: 1\ndata: " + note + b"\n\ndata: " + line + b"\n\n", kind="text/event-stream")
        elif name == "broken_off":
            self.server.rest[str(ident)] = b"data: " + line + b"\n\n"
            self.answer(200, f"id: {ident}\ndata:\n\n".encode(), kind="text/event-stream")
        elif name == "refused":
            self.answer(503, b"")
        elif name == "empty":
            self.answer(200, b"", kind="text/event-stream")
        elif name == "huge":
            self.answer(200, self.said(ident, {"content": [{"type": "text", "text": "x" * 5_000_000}]}))
        else:
            self.answer(200, line)

    def do_GET(self):
        self.server.seen.append(("GET", dict(self.headers)))
        last = self.headers.get("Last-Event-ID")
        if last in self.server.rest:
            self.answer(200, self.server.rest.pop(last), kind="text/event-stream")
        elif last is None and self.server.own:
            self.answer(200, self.server.own.pop(), kind="text/event-stream")
        else:
            self.answer(405, b"")

    def do_DELETE(self):
        self.server.ended.put(self.headers.get("Mcp-Session-Id"))
        self.answer(200, b"")

    def said(self, ident, result):
        return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode()

    def answer(self, status, body, headers=None, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def web():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    server.daemon_threads = True
    server.seen, server.rest, server.own, server.ended = [], {}, [], queue.Queue()
    server.url = f"http://127.0.0.1:{server.server_port}/mcp?x=1"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.promise("relay.web")
def test_answers_come_through_in_every_form_and_each_call_has_a_receipt(house, web, monkeypatch):
    monkeypatch.setenv("WEB_TOKEN", "s3cret")
    options = ("--url", web.url, "--header", "Authorization: Bearer ${WEB_TOKEN}", "--max-output", "1000000")
    with house.wrap(*options, command=[]) as client:
        assert len(client.ask("tools/list")["result"]["tools"]) == len(TOOLS)
        for name in ("plain", "pretty", "stream", "broken_off"):
            assert text_of(client.call(name)) == name
        assert [message["method"] for message in client.others] == ["notifications/progress"]
        assert client.call("refused")["error"]["code"] == -32000
        assert client.call("empty")["error"]["code"] == -32000
        assert refusal(client.call("huge"))["category"] == "downstream_error"
        assert text_of(client.call("plain")) == "plain"
    assert web.ended.get(timeout=120) == "session-1"
    assert all(headers["Authorization"] == "Bearer s3cret" for _, headers in web.seen)
    later = [headers for method, headers in web.seen if method == "tools/call"]
    assert all(one["Mcp-Session-Id"] == "session-1" and one["Mcp-Protocol-Version"] == "2025-06-18" for one in later)
    assert len(house.receipts("outcome")) == 8
    assert house.verified()
    assert b"s3cret" not in b"".join(path.read_bytes() for path in house.workspace.rglob("*") if path.is_file())


@pytest.mark.promise("relay.web", "relay.revisions")
def test_a_server_that_does_not_speak_the_clients_revision_says_so_itself_and_the_client_may_say_hello(house, web):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    with Client(house.command("--url", web.url, command=[]), home=house.home) as client:
        assert client.ask("server/discover", {"_meta": meta})["error"] == OLDER
        client.hello({})
        assert text_of(client.call("plain")) == "plain"
    asked = [(method, headers.get("Mcp-Method"), headers.get("Mcp-Session-Id")) for method, headers in web.seen]
    assert asked[:2] == [("server/discover", "server/discover", None), ("initialize", None, None)]
    assert ("tools/call", None, "session-1") in asked


@pytest.mark.promise("relay.web")
def test_what_the_server_says_on_its_own_stream_reaches_the_client(house, web):
    web.own = [b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n']
    with house.wrap("--url", web.url, command=[]) as client:
        line = client.line()
    assert json.loads(line)["method"] == "notifications/message"


@pytest.mark.promise("relay.web", "relay.bad-input")
def test_a_server_that_is_not_there_is_said_to_the_client(house):
    command = house.command("--url", "http://127.0.0.1:1/mcp", command=[])
    with Client(command, home=house.home) as client:
        answer = client.ask("initialize", {})
    assert "no connection to 127.0.0.1:1" in answer["error"]["message"]


@pytest.mark.promise("relay.web", "relay.bad-input")
def test_who_says_hello_and_leaves_at_once_still_hears_that_nobody_is_there(house):
    command = house.command("--url", "http://127.0.0.1:1/mcp", command=[])
    hello = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}\n'
    ran = subprocess.run(
        command, input=hello, capture_output=True, check=False, env={**os.environ, "HOME": str(house.home)}
    )
    assert ran.returncode == 4
    assert json.loads(ran.stdout)["id"] == 1
    assert b"error: server_unreachable: http://127.0.0.1:1/mcp" in ran.stderr
