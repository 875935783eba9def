"""The headers of requests without a session, held against the SDK's own."""

import pytest

from tallystick.doors.mcp.answers import REVISION
from tallystick.doors.mcp.relay.headers import RoutingHeaders

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        "on": {"type": "boolean", "x-mcp-header": "On"},
        "plain": {"type": "string"},
        "odd": {"type": "string", "x-mcp-header": "no token"},
    },
}
ARGS = [
    {}, {"region": "eu"}, {"region": " \u00e9\n"}, {"region": "=?base64?eA==?="}, {"region": ""}, {"region": None},
    {"region": "a\tb", "deep": {"n": -5}, "on": True, "plain": "p", "odd": "o"}, {"deep": "flat", "on": False},
    {"region": ["no", "text"]}, {"region": {"no": "text"}},
]  # fmt: skip


def call(args, name="t", version="2026-07-28"):
    meta = {} if version is None else {REVISION: version}
    return {"id": 1, "method": "tools/call", "params": {"name": name, "arguments": args, "_meta": meta}}


@pytest.mark.promise("relay.revisions")
@pytest.mark.parametrize("args", ARGS)
def test_the_headers_are_those_of_the_official_client(args):
    inbound = pytest.importorskip("mcp.shared.inbound", reason="left out: the SDK, the mcp extra is not there")
    routing = RoutingHeaders()
    routing.learn({"result": {"tools": [{"name": "t", "inputSchema": SCHEMA}]}})
    declared = {("region",): "Region", ("deep", "n"): "N", ("on",): "On"}
    assert routing.headers_of(call(args)) == {
        "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "t",
        **inbound.mcp_param_headers(declared, args),
    }  # fmt: skip


@pytest.mark.promise("relay.revisions")
def test_other_methods_name_what_they_read_and_a_session_has_no_such_headers():
    routing = RoutingHeaders()
    read = {"id": 1, "method": "resources/read", "params": {"uri": "a://\u00e9", "_meta": {REVISION: "2026-07-28"}}}
    assert routing.headers_of(read)["Mcp-Name"] == "=?base64?YTovL8Op?="
    assert "Mcp-Name" not in routing.headers_of({**read, "method": "tools/list"})
    for message in (call({}, version=None), call({}, version="2025-11-25"), [call({})], None, {"method": "ping"}):
        assert routing.headers_of(message) == {}


@pytest.mark.promise("relay.revisions")
@pytest.mark.parametrize(
    "response",
    [
        {}, {"result": None}, {"result": {"tools": None}}, {"result": {"tools": [None, {"name": 1}, {"name": "t"}]}},
        {"result": {"tools": [{"name": "t", "inputSchema": {"properties": {"a": None, "b": {"x-mcp-header": 5}}}}]}},
        {"result": {"tools": [{"name": "t", "inputSchema": {"properties": []}}]}}, {"error": {}},
    ],
)  # fmt: skip
def test_a_list_of_any_form_is_taken(response):
    routing = RoutingHeaders()
    routing.learn(response)
    assert set(routing.headers_of(call({"a": 1}))) == {"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}
