"""`POST /api/gate/call`: every row of the outcome table that HTTP can reach, strictness, and one answer on both ways."""

import asyncio
import json
import shutil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from tallystick.doors.http.app import api
from tallystick.doors.http.context import HttpContext
from tests.doors.http.conftest import OpenDoor
from tests.doors.http.doorway import Doorway
from tests.sizes import size

PATH = "/api/gate/call"


@pytest.mark.promise("doors.http-call")
def test_an_accepted_call_answers_the_outcome_with_its_receipt(door: Doorway) -> None:
    answer = door.call("double", {"number": 21}, session="s1", agent="chief")
    assert answer.status_code == 200
    body = answer.json()
    assert body.keys() == {"status", "receipt_id", "proposal", "result"}
    assert (body["status"], body["result"]) == ("accepted", 42)
    assert body["proposal"] == {"tool_name": "double", "payload": {"number": 21}}
    receipt = door.gate.ledger.find(body["receipt_id"])
    assert receipt is not None
    assert receipt.header["session_id"] == "s1"
    assert receipt.header["agent_id"] == "chief"
    assert receipt.header["caller"] == {"subject": "local", "roles": ["owner"], "channel": "http"}


@pytest.mark.promise("doors.http-call", "admit.alias", "admit.key-drift")
def test_a_call_by_its_alias_is_transformed_and_shows_what_ran(door: Doorway) -> None:
    body = door.call("say", {"words": "hm", "times": 2.0}).json()
    assert body["status"] == "transformed"
    assert body["proposal"] == {"tool_name": "echo", "payload": {"text": "hm", "times": 2}}
    assert body["result"] == "hmhm"


@pytest.mark.promise("doors.http-call", "admit.dry-run", "execute.dry-run")
def test_a_dry_run_reaches_a_tool_that_offers_it_and_no_other(door: Doorway) -> None:
    assert door.call("store", {"name": "x"}, dry_run=True).json()["result"] == "would keep"
    assert door.ran.calls == [("store", ("x", True))]
    assert door.call("double", {"number": 1}, dry_run=True).status_code == 400
    assert len(door.ran.calls) == 1


FORMAT = ("INVALID_PAYLOAD", "tool_call_invalid_format", "validation_error")
ARGS = ("INVALID_PAYLOAD", "tool_call_invalid_args", "validation_error")
POLICY = ("POLICY_VIOLATION", "tool_call_invalid_args", "validation_error")
REJECTED: dict[str, tuple[Any, int, tuple[str | None, str | None, str | None]]] = {
    "unknown_tool": ({"tool": "nope", "args": {}}, 400, ("INVALID_TOOL_NAME", "tool_call_unknown_tool", "validation_error")),
    "unknown_field": ({"tool": "double", "args": {"number": 1}, "also": 1}, 400, FORMAT),
    "bad_args": ({"tool": "double", "args": {"number": "7"}}, 400, ARGS),
    "denied": ({"tool": "forbidden", "args": {}}, 400, POLICY),
    "argument_rule": ({"tool": "picky", "args": {"number": 10}}, 400, POLICY),
    "stale": ({"tool": "restless", "args": {"name": "n"}}, 409, ("POLICY_VIOLATION", "tool_call_invalid_args", "downstream_error")),
    "no_provenance": ({"tool": "remember", "args": {"text": "t"}}, 400, ("MISSING_PROVENANCE", "tool_call_invalid_args", "validation_error")),
    "canonical_write": (
        {"tool": "remember", "args": {"text": "t", "observation_ids": ["o"], "extra": {"status": "canon"}}}, 400,
        ("DIRECT_CANONICAL_WRITE_FORBIDDEN", "tool_call_invalid_args", "validation_error"),
    ),
    "held": ({"tool": "send_mail", "args": {"to": "a@example.org"}}, 202, ("POLICY_VIOLATION", None, None)),
}  # fmt: skip


@pytest.mark.promise(
    "doors.http-outcomes", "doors.http-call", "admit.guards", "decide.argument-rules", "decide.room-rule"
)
@pytest.mark.parametrize("row", REJECTED)
def test_a_refused_call_has_the_table_s_status_and_codes_runs_nothing_and_leaves_one_receipt(
    door: Doorway, row: str
) -> None:
    body, status, (code, call_code, category) = REJECTED[row]
    answer = door.post(PATH, body)
    assert answer.status_code == status
    wire = answer.json()
    assert wire["status"] == "rejected"
    rejection = wire["rejection"]
    assert (rejection["code"], rejection["call_code"], rejection["category"]) == (code, call_code, category)
    assert ("held" in wire) == (row == "held")
    assert "result" not in wire
    assert door.ran.calls == []
    assert [receipt.receipt_id for receipt in door.outcomes()] == [wire["receipt_id"]]


@pytest.mark.promise("doors.http-outcomes", "decide.rate")
def test_a_spent_rate_is_429(door: Doorway) -> None:
    assert door.call("rated").status_code == 200
    answer = door.call("rated")
    assert answer.status_code == 429
    assert answer.json()["rejection"]["category"] == "budget_exceeded"


FAILED = {
    "tool_failed": ("broken", {}, 502, "downstream_error"),
    "not_found": ("absent", {"status": 404}, 404, "downstream_error"),
    "conflict": ("absent", {"status": 409}, 409, "downstream_error"),
    "other_status": ("absent", {"status": 418}, 502, "downstream_error"),
    "part_missing": ("half_installed", {}, 422, "tool_unavailable"),
    "bad_result": ("liar", {}, 502, "validation_error"),
    "timeout": ("slow", {}, 504, "downstream_error"),
    "cancelled": ("vanishing", {}, 499, "downstream_error"),
}


@pytest.mark.promise(
    "doors.http-outcomes", "execute.failures", "execute.tool-error", "execute.timeout", "execute.output-check"
)
@pytest.mark.parametrize("row", FAILED)
def test_an_accepted_call_that_fails_has_the_table_s_status_and_a_problem_beside_it(door: Doorway, row: str) -> None:
    name, args, status, category = FAILED[row]
    answer = door.call(name, args)
    assert answer.status_code == status
    wire = answer.json()
    assert wire["status"] == "accepted"
    assert wire["error"]["category"] == category
    assert wire["error"]["details"]["tool_name"] == name
    assert wire["error"]["details"]["status"] == status
    assert "result" not in wire
    assert [receipt.receipt_id for receipt in door.outcomes()] == [wire["receipt_id"]]


@pytest.mark.promise("doors.http-outcomes")
def test_what_a_crashed_tool_said_stays_in_the_log(door: Doorway) -> None:
    answer = door.call("broken")
    assert "hunter2" not in answer.text
    assert "/secret/path" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.promise("doors.http-outcomes")
def test_without_a_ledger_nothing_runs_and_the_answer_is_503(door: Doorway) -> None:
    shutil.rmtree(door.workspace / ".control-room" / "audit" / "journal")
    for body in ({"tool": "store", "args": {"name": "x"}}, {"tool": "nope", "args": {}}):
        answer = door.post(PATH, body)
        assert answer.status_code == 503
        assert answer.json()["error"]["category"] == "tool_unavailable"
    assert door.ran.calls == []


STRICT = {
    "extra key": b'{"tool":"double","args":{"number":7,"more":1}}',
    "text for a number": b'{"tool":"double","args":{"number":"7"}}',
    "true for 1": b'{"tool":"double","args":{"number":true}}',
    "7.5 for an integer": b'{"tool":"double","args":{"number":7.5}}',
    "missing key": b'{"tool":"double","args":{}}',
    "duplicate key": b'{"tool":"double","args":{"number":7,"number":8}}',
    "duplicate key, escaped": b'{"tool":"double","args":{"number":7,"n\\u0075mber":8}}',
    "duplicate key at the top": b'{"tool":"double","tool":"echo","args":{"number":7}}',
    "unknown tool": b'{"tool":"doubel","args":{"number":7}}',
    "other case": b'{"tool":"DOUBLE","args":{"number":7}}',
    "blank before the name": b'{"tool":" double","args":{"number":7}}',
    "lookalike letter": '{"tool":"d\u043euble","args":{"number":7}}'.encode(),
    "beyond double range": b'{"tool":"double","args":{"number":1e400}}',
    "an integer that would not survive": b'{"tool":"double","args":{"number":9007199254740993}}',
    "NaN": b'{"tool":"double","args":{"number":NaN}}',
}
MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "an array": b'[{"tool":"double","args":{"number":7}}]',
    "two objects": b'{"tool":"double","args":{"number":7}}{"tool":"double","args":{"number":7}}',
    "a fence": b'```json\n{"tool":"double","args":{"number":7}}\n```',
    "a byte order mark": b'\xef\xbb\xbf{"tool":"double","args":{"number":7}}',
    "no UTF-8": b'{"tool":"double\xff","args":{"number":7}}',
    "half a surrogate pair": b'{"tool":"double","args":{"number":7},"agent":"\\ud800"}',
    "form fields": b"tool=double&args=7",
    "too deep": b'{"tool":"double","args":' + b'{"a":' * 70 + b"1" + b"}" * 71,
    "no tool": b'{"args":{"number":7}}',
    "tool is no text": b'{"tool":7,"args":{}}',
    "args is null": b'{"tool":"vanishing","args":null}',
    "args is a list": b'{"tool":"double","args":[7]}',
    "dry_run is text": b'{"tool":"store","args":{"name":"x"},"dry_run":"true"}',
    "session leaves its folder": b'{"tool":"double","args":{"number":7},"session":"../x"}',
    "session is no text": b'{"tool":"double","args":{"number":7},"session":7}',
    "agent of 129 letters": b'{"tool":"double","args":{"number":7},"agent":"' + b"a" * 129 + b'"}',
    "agent with a newline": b'{"tool":"double","args":{"number":7},"agent":"a\\nb"}',
    "agent is empty": b'{"tool":"double","args":{"number":7},"agent":""}',
}


@pytest.mark.promise(
    "doors.http-strict",
    "admit.json-strict",
    "admit.duplicate-key",
    "admit.depth",
    "admit.big-integer",
    "admit.unicode",
    "admit.unknown-field",
    "admit.two-objects",
    "admit.strict-types",
    "admit.name-bytes",
    "admit.strictness",
)
@pytest.mark.parametrize("case", [*STRICT, *MALFORMED])
def test_what_is_not_exactly_a_call_is_refused_with_a_receipt(well_used: Doorway, case: str) -> None:
    door, since, ran = well_used, well_used.gate.ledger.size(), len(well_used.ran.calls)
    answer = door.post(PATH, {**STRICT, **MALFORMED}[case])
    assert answer.status_code == 400
    wire = answer.json()
    assert wire["status"] == "rejected"
    assert wire["rejection"]["code"] in {"INVALID_PAYLOAD", "INVALID_TOOL_NAME"}
    assert len(door.ran.calls) == ran
    assert [receipt.receipt_id for receipt in door.outcomes(since)] == [wire["receipt_id"]]


@pytest.mark.promise("doors.http-strict", "admit.whole-numbers")
def test_seven_point_zero_is_the_integer_seven(door: Doorway) -> None:
    assert door.post(PATH, b'{"tool":"double","args":{"number":7.0}}').json()["result"] == 14
    assert door.ran.calls == [("double", 7)]
    assert type(door.ran.calls[0][1]) is int


def _documented(door: Doorway) -> Any:
    """The routes as the documentation has them: no guard, no short way."""
    desk = HttpContext(gate=door.gate, identity=door.server.identity, startup=door.server.startup)
    return api(desk)


ALIKE = {
    **STRICT,
    **MALFORMED,
    **{row: json.dumps(body).encode() for row, (body, _, _) in REJECTED.items()},
    **{
        row: json.dumps({"tool": name, "args": args}).encode()
        for row, (name, args, _, _) in FAILED.items()
        if name != "vanishing"
    },
    "accepted": b'{"tool":"double","args":{"number":7}}',
    "transformed": b'{"tool":"say","args":{"words":"x"}}',
    "dry run": b'{"tool":"store","args":{"name":"x"},"dry_run":true,"session":"s2","agent":"chief"}',
}


@pytest.mark.promise("doors.http-one-way")
@pytest.mark.parametrize("case", ALIKE)
def test_the_short_way_and_the_documented_route_answer_alike(well_used: Doorway, documented: Any, case: str) -> None:
    short = well_used.post(PATH, ALIKE[case])
    routed = well_used.post(PATH, ALIKE[case], app=documented)
    assert short.status_code == routed.status_code
    assert _comparable(short.json()) == _comparable(routed.json())
    assert short.headers["content-type"] == routed.headers["content-type"]


@pytest.fixture(scope="module")
def documented(well_used: Doorway) -> Any:
    return _documented(well_used)


@pytest.mark.promise("doors.http-one-way")
def test_both_ways_ask_for_a_token_alike(locked: Doorway) -> None:
    body = {"tool": "double", "args": {"number": 1}}
    for headers in ({}, {"authorization": "Bearer x.y.z"}, {"authorization": "Basic YTpi"}):
        short = locked.post(PATH, body, headers=headers)
        documented = locked.post(PATH, body, headers=headers, app=_documented(locked))
        assert short.status_code == documented.status_code == 401
        assert short.headers["www-authenticate"] == documented.headers["www-authenticate"] == "Bearer"
        assert _comparable(short.json()) == _comparable(documented.json())


@pytest.mark.promise("doors.host", "doors.origin")
def test_a_request_that_was_let_through_opens_the_door_for_no_other(well_used: Doorway) -> None:
    body = {"tool": "double", "args": {"number": 21}}
    for _ in range(2):
        assert well_used.post(PATH, body).status_code == 200
        assert well_used.post(PATH, body, headers={"host": "evil.example"}).status_code == 403
        assert well_used.post(PATH, body, headers={"origin": "https://evil.example"}).status_code == 403


def _comparable(wire: dict[str, Any]) -> dict[str, Any]:
    changing = {"receipt_id": "", "held": bool(wire.get("held"))}
    return {**wire, **changing}


@pytest.mark.promise("doors.http-one-receipt")
@budget(max_examples=size(60, 2000))
@given(
    bodies=st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                    st.sampled_from(["tool", "args", "number", "dry_run", "session", "agent", "é"]), inner, max_size=4
                ),
                max_leaves=8,
            ).map(lambda value: json.dumps(value).encode()),
            st.fixed_dictionaries(
                {"tool": st.sampled_from(["double", "send_mail", "nope"]), "args": st.dictionaries(
                    st.sampled_from(["number", "to"]), st.integers() | st.text(max_size=5), max_size=2)}
            ).map(lambda value: json.dumps(value).encode()),
        ),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_whatever_is_sent_gives_one_outcome_and_one_receipt(well_used: Doorway, bodies: list[bytes]) -> None:
    since, ran = well_used.gate.ledger.size(), len(well_used.ran.calls)
    answers = [well_used.post(PATH, body) for body in bodies]
    assert {answer.status_code for answer in answers} <= {200, 202, 400}
    assert [answer.json()["receipt_id"] for answer in answers] == [r.receipt_id for r in well_used.outcomes(since)]
    accepted = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(well_used.ran.calls) - ran == len(accepted)


@pytest.mark.promise("doors.http-one-receipt", "execute.many")
def test_many_calls_at_once_each_get_their_own_answer(open_door: OpenDoor) -> None:
    door = open_door(ledger={"durability": "fsync"})

    async def ask() -> list[Any]:
        async with door.client() as client:
            return await asyncio.gather(
                *(client.post(PATH, json={"tool": "double", "args": {"number": n}}) for n in range(64))
            )

    answers = asyncio.run(ask())
    assert [answer.json()["result"] for answer in answers] == [2 * n for n in range(64)]
    assert len({answer.json()["receipt_id"] for answer in answers}) == 64
    assert len(door.outcomes()) == 64
    assert door.post("/api/audit/verify").json()["ok"]


@pytest.mark.promise("doors.http-problems")
def test_a_body_that_is_too_large_is_refused_before_it_is_read(open_door: OpenDoor) -> None:
    door = open_door(server={"max_body_bytes": 200})
    answer = door.call("echo", {"text": "a" * 300})
    assert answer.status_code == 413
    assert answer.json()["error"]["category"] == "validation_error"
    assert door.receipts() == []
