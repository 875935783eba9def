"""Tools of an OpenAPI service, called on the command line."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.doors.cli.conftest import Tally

PET = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": {"type": "string"}},
}
ANSWER = {"200": {"content": {"application/json": {"schema": PET}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/pets/{pet}": {
            "parameters": [{"name": "pet", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {
                "operationId": "get_pet",
                "summary": "One pet.",
                "parameters": [
                    {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}
                ],
                "responses": ANSWER,
            },
            "put": {
                "operationId": "put_pet",
                "requestBody": {"required": True, "content": {"application/json": {"schema": PET}}},
                "responses": ANSWER,
            },
            "post": {"operationId": "far", "requestBody": {"content": {"text/csv": {}}, "required": True}},
        }
    },
}
TOOLS = """
import json
from tallystick import HttpSender, tool_from_operation

document = json.loads({document!r})
send = HttpSender({url!r}, headers={{"Authorization": "Bearer k-123"}})
get_pet = tool_from_operation(document, "get_pet", send)
put_pet = tool_from_operation(document, "put_pet", send, effect="write")
"""


@dataclass
class Service:
    """A service on this machine: what it was asked, and what it answers."""

    url: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    status: int = 200
    body: bytes = b'{"name": "Rex"}'


@pytest.fixture
def service(workspace: Path) -> Iterator[Service]:
    found = Service()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.asked.append((self.command, self.path, headers, body))
            self.send_response(found.status)
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        do_GET = do_PUT = answer  # noqa: N815 - the names that the server calls

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}/v1/"
    text = TOOLS.format(document=json.dumps(DOCUMENT), url=found.url)
    (workspace / "tools.py").write_text(text, encoding="utf-8")
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.promise("providers.openapi")
def test_an_operation_is_called_as_a_tool(tally: Tally, service: Service) -> None:
    ran = tally("call", "get_pet", json.dumps({"pet": "Rex", "tags": ["a", "b&c"]}), "--json")
    assert (ran.code, ran.json["result"]) == (0, {"name": "Rex"})
    ran = tally("call", "put_pet", json.dumps({"pet": "Rex", "body": {"name": "Max"}}), "--json")
    assert ran.code == 0
    (method, path, headers, _), (put, _, _, body) = service.asked
    assert (method, path, headers["authorization"]) == ("GET", "/v1/pets/Rex?tags=a&tags=b%26c", "Bearer k-123")
    assert (put, json.loads(body)) == ("PUT", {"name": "Max"})


@pytest.mark.promise("providers.sending")
@pytest.mark.parametrize(
    ("pet", "path"), [("../admin?x=1#y", "/v1/pets/..%2Fadmin%3Fx%3D1%23y"), ("..", None), ("", None)]
)
def test_an_argument_never_becomes_another_path(tally: Tally, service: Service, pet: str, path: str | None) -> None:
    ran = tally("call", "get_pet", json.dumps({"pet": pet}), "--json")
    assert (ran.code == 0) is (path is not None)
    assert [asked[1] for asked in service.asked] == ([path] if path else [])


@pytest.mark.promise("providers.openapi")
@pytest.mark.parametrize(
    ("status", "body"),
    [(302, b""), (500, b"{}"), (200, b"<html>"), (200, b'{"nom": 1}'), (200, b" " * 9_000_000)],
    ids=["redirect", "status", "no JSON", "another form", "too much"],
)
def test_a_response_that_is_not_documented_is_a_failure(
    tally: Tally, service: Service, status: int, body: bytes
) -> None:
    service.status, service.body = status, body
    ran = tally("call", "get_pet", '{"pet": "Rex"}', "--json")
    assert ran.code != 0
    assert len(service.asked) == 1


@pytest.mark.promise("providers.openapi-refused")
@pytest.mark.parametrize(
    "line",
    [
        'tool_from_operation(document, "far", send)',
        'tool_from_operation(document, "unknown", send)',
        'HttpSender("http://example.org/")',
        'HttpSender("https://example.org/?key=1")',
    ],
)
def test_an_operation_that_cannot_be_a_tool_is_refused_when_the_tools_load(
    tally: Tally, service: Service, workspace: Path, line: str
) -> None:
    with (workspace / "tools.py").open("a", encoding="utf-8") as file:
        file.write(f"\nextra = {line}\n")
    ran = tally("tools")
    assert ran.code != 0
    assert ran.error == "no_tools"
    assert service.asked == []
