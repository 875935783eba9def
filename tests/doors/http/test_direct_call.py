"""`POST /api/gate/call` served directly answers and records the same as the documented route, for any request."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from tallystick.doors.http.app import api
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.gate_routes import PATH, DirectCall
from tests.doors.http.asgi_calls import LOCAL, request
from tests.doors.http.doorway import AUTH, Doorway, bearer
from tests.sizes import size

VOLATILE = ("receipt_id", "seq", "prev", "signature", "timestamp", "duration_us", "inputs_digest", "outputs_digest")
TOKENS = {
    "none": {},
    "admin": bearer("admin"),
    "viewer": bearer("viewer"),
    "no role": bearer(),
    "unknown role": bearer("stranger"),
    "another subject": bearer("agent", subject="bo\u00eb"),
    "tampered": {"authorization": bearer("admin")["authorization"][:-3] + "abc"},
    "not a token": {"authorization": "Bearer x.y.z"},
    "empty": {"authorization": "Bearer "},
    "basic": {"authorization": "Basic YTpi"},
}
TYPES = ("application/json", "application/json; charset=utf-8", "text/plain", "")
TOOLS = st.sampled_from(
    ["double", "echo", "say", "store", "send_mail", "forbidden", "picky", "no_such_tool", "", "DOUBLE"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ARGS = st.dictionaries(
    st.sampled_from(["number", "text", "words", "times", "name", "to", "dry_run", "x"]), VALUES, max_size=4
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "tool": TOOLS | VALUES,
        "args": ARGS | VALUES,
        "dry_run": st.booleans() | VALUES,
        "session": st.sampled_from(["s1", "s2", "../up", ""]) | VALUES,
        "agent": st.sampled_from(["chief", ""]) | VALUES,
        "extra": VALUES,
    },
)
PROPER = st.builds(lambda tool, args: {"tool": tool, "args": args}, TOOLS, ARGS)
BODIES = st.one_of(
    (PROPER | FIELDS | VALUES).map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
    st.builds(lambda body, cut: json.dumps(body).encode()[:cut], PROPER, st.integers(0, 40)),
    st.builds(
        lambda before, body, after: before + json.dumps(body).encode() + after,
        st.binary(max_size=4),
        PROPER,
        st.binary(max_size=4),
    ),
    st.sampled_from(
        [b"", b"{", b'{"tool":"double","tool":"echo","args":{}}', b"\xef\xbb\xbf{}", b"[]", b"{}{}", b"\xff"]
    ),
    st.binary(max_size=60),
)


@dataclass(frozen=True, kw_only=True)
class Both:
    """The two ways into one workspace."""

    door: Doorway
    direct: Any
    documented: Any


@pytest.fixture(scope="module", params=["open", "with tokens"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    changes = {"auth": AUTH} if request.param == "with tokens" else {}
    door = Doorway(tmp_path_factory.mktemp("both"), **changes)
    context = HttpContext(gate=door.gate, identity=door.server.identity, startup=door.server.startup)
    app = api(context)
    yield Both(door=door, direct=DirectCall(app, context), documented=app)
    door.close()


@pytest.mark.promise("doors.http-one-way")
@budget(max_examples=size(150, 3000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    body=BODIES,
    cuts=st.lists(st.integers(0, 60), max_size=3),
    token=st.sampled_from(sorted(TOKENS)),
    content_type=st.sampled_from(TYPES),
    method=st.sampled_from(["POST"] * 8 + ["GET", "PUT", "HEAD"]),
    path=st.sampled_from([PATH] * 8 + [PATH + "/", PATH.upper(), "/api/gate/calls"]),
)
def test_any_request_gets_the_same_answer_and_the_same_record_both_ways(
    both: Both, body: bytes, cuts: list[int], token: str, content_type: str, method: str, path: str
) -> None:
    headers = [LOCAL, *((name.encode(), value.encode()) for name, value in TOKENS[token].items())]
    headers += [(b"content-type", content_type.encode())] if content_type else []
    bounds = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(bounds)]
    seen = []
    for app in (both.direct, both.documented):
        since = both.door.gate.ledger.size()
        answer = request(app, headers, body=list(pieces), path=path, method=method)
        named = {name: answer.headers.get(name) for name in (b"content-type", b"www-authenticate", b"allow")}
        seen.append((answer.status, named, _comparable(answer.body), _records(both.door, since)))
    assert seen[0] == seen[1]


def _comparable(body: bytes) -> Any:
    """The answer without what differs between two equal calls."""
    try:
        wire = json.loads(body)
    except ValueError:
        return body
    if not isinstance(wire, dict) or "receipt_id" not in wire:
        return wire
    return {**wire, "receipt_id": "", "held": bool(wire.get("held"))}


def _records(door: Doorway, since: int) -> list[dict[str, Any]]:
    """The headers of the new outcome records, without what differs between two equal calls."""
    headers = (receipt.header for receipt in door.outcomes(since))
    return [{name: value for name, value in header.items() if name not in (*VOLATILE, "links")} for header in headers]
