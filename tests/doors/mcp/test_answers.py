"""The form of the answers that Tallystick gives itself, held against the SDK's types of each revision."""

import json

import pytest

from tallystick.doors.mcp import answers

LATEST = "2026-07-28"
META = {answers.REVISION: LATEST, "io.modelcontextprotocol/clientCapabilities": {}}


def request(meta=None, **params):
    return {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {**params, **({"_meta": meta} if meta else {})},
    }


@pytest.mark.promise("relay.revisions")
@pytest.mark.parametrize(
    ("meta", "revision"),
    [
        (META, LATEST), ({answers.REVISION: "2027-01-01"}, "2027-01-01"), (None, None), ({"progressToken": 1}, None),
        ({answers.REVISION: 5}, None), *(({answers.REVISION: named}, None) for named in sorted(answers.WITH_SESSION)),
    ],
)  # fmt: skip
def test_a_request_without_a_session_names_its_revision(meta, revision):
    assert answers.sessionless_revision(request(meta)) == revision


@pytest.mark.promise("relay.revisions")
@pytest.mark.parametrize("params", [None, [], "x", {"_meta": None}, {"_meta": []}])
def test_parameters_of_any_form_name_no_revision(params):
    assert answers.sessionless_revision({"id": 1, "params": params}) is None
    assert answers.sessionless_revision({"id": 1}) is None


@pytest.mark.promise("relay.revisions")
@pytest.mark.parametrize("revision", [*sorted(answers.WITH_SESSION), LATEST])
def test_a_tool_error_fits_the_type_of_each_revision(revision):
    methods = pytest.importorskip("mcp_types.methods", reason="left out: the SDK's types, the mcp extra is not there")
    told = json.loads(answers.tool_error(request(META if revision == LATEST else None), "no", {"tallystick/code": "X"}))
    assert told["id"] == 7
    assert ("resultType" in told["result"]) is (revision == LATEST)
    methods.validate_server_result("tools/call", revision, told["result"])
    assert (told["result"]["content"][0]["text"], told["result"]["isError"]) == ("no", True)


@pytest.mark.promise("relay.revisions")
def test_a_list_keeps_what_the_server_said_but_for_the_tools_and_how_long_it_holds():
    server = {"jsonrpc": "2.0", "id": 7, "result": {"tools": [1, 2], "resultType": "complete", "ttlMs": 9, "x": 1}}
    sessionless = json.loads(answers.with_tools(request(META), server, [2]))["result"]
    assert sessionless == {"tools": [2], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "x": 1}
    assert json.loads(answers.with_tools(request(), server, [2]))["result"] == {**server["result"], "tools": [2]}
