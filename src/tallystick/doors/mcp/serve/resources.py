"""Receipts as MCP resources.

    tally://sessions                       ids of the sessions that have receipts
    tally://sessions/{session_id}          a session's receipts, one JSON object per line
    tally://receipts/{receipt_id}          one receipt that verifies
    tally://receipts/{receipt_id}/proof    its inclusion proof, verifiable without trusting this server
    tally://head                           the signed note over the whole log

Callers see the receipts of their own calls; as on the HTTP door, only auditors see all.
"""

import re
from itertools import islice
from urllib.parse import quote, unquote

import mcp_types as types
import orjson
from mcp.shared.exceptions import MCPError

from tallystick.doors.mcp.serve.caller import Visit
from tallystick.gate.record.ledger import Ledger

SESSIONS = "tally://sessions"
HEAD = "tally://head"
PAGE = 100
"""Maximum sessions per list page, or ids per completion."""
MOST_RECEIPTS = 1_000
"""Maximum receipts of one session per read: the last ones."""
JSON = "application/json"
LINES = "application/x-ndjson"
NOT_THERE = "no such resource, or it is not yours to see"

_PLACE = re.compile(r"tally://(sessions|receipts)/([A-Za-z0-9._%-]{1,200})(/proof)?")
_CURSOR = re.compile(r"[0-9]{1,9}")

TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{SESSIONS}/{{session_id}}",
        name="session",
        title="Receipts of a session",
        mime_type=LINES,
        description="Every receipt of one session in order, one JSON object a line.",
    ),
    types.ResourceTemplate(
        uri_template="tally://receipts/{receipt_id}",
        name="receipt",
        title="One receipt",
        mime_type=JSON,
        description="What was asked, decided and answered, signed; only if it verifies.",
    ),
    types.ResourceTemplate(
        uri_template="tally://receipts/{receipt_id}/proof",
        name="proof",
        title="Proof of a receipt",
        mime_type=JSON,
        description="Shows that the receipt stands in the log, to somebody who has only the log's public key.",
    ),
]


def session_uri(session_id: str) -> str:
    """Return the URI of a session's receipts."""
    return f"{SESSIONS}/{quote(session_id, safe='')}"


def list_resources(ledger: Ledger, visit: Visit, cursor: str | None) -> types.ListResourcesResult:
    """Return one page of resources.

    Raises:
        MCPError: The cursor is not valid.
    """
    if cursor is not None and _CURSOR.fullmatch(cursor) is None:
        raise MCPError(types.INVALID_PARAMS, "this cursor was not given out here")
    start = int(cursor or 0)
    sessions = _sessions(ledger, visit)
    listed = [_session(session_id) for session_id in sessions[start : start + PAGE]]
    if start == 0:
        listed = [*_fixed(), *listed]
    more = str(start + PAGE) if start + PAGE < len(sessions) else None
    return types.ListResourcesResult(resources=listed, next_cursor=more)


def read_resource(ledger: Ledger, visit: Visit, uri: str) -> types.ReadResourceResult:
    """Return the contents of a resource.

    Raises:
        MCPError: There is no such resource, or the caller may not see it.
    """
    if uri == SESSIONS:
        return _contents(uri, JSON, orjson.dumps({"sessions": _sessions(ledger, visit)}))
    if uri == HEAD:
        return _contents(uri, "text/plain", ledger.checkpoint())
    found = _PLACE.fullmatch(uri)
    if found is None:
        raise _missing(uri)
    kind, name, proof = found.group(1), unquote(found.group(2)), found.group(3)
    if kind == "sessions" and proof is None:
        return _read_session(ledger, visit, uri, name)
    return _read_receipt(ledger, visit, uri, name, proof=proof is not None)


def complete(ledger: Ledger, visit: Visit, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Return ids that start with the given text; empty for unknown arguments."""
    values: list[str] = []
    if isinstance(params.ref, types.ResourceTemplateReference):
        begun = params.argument.value
        if params.argument.name == "session_id":
            values = [name for name in _sessions(ledger, visit) if name.startswith(begun)]
        elif params.argument.name == "receipt_id":
            own = ledger.session(visit.session.session_id)
            values = [receipt.receipt_id for receipt in own if visit.may_see(receipt)]
            values = [name for name in reversed(values) if name.startswith(begun)]
    shown = values[:PAGE]
    return types.CompleteResult(
        completion=types.Completion(values=shown, total=len(values), has_more=len(values) > len(shown))
    )


def _read_session(ledger: Ledger, visit: Visit, uri: str, session_id: str) -> types.ReadResourceResult:
    seen = [receipt for receipt in ledger.session(session_id) if visit.may_see(receipt)]
    if not seen and session_id != visit.session.session_id:
        raise _missing(uri)
    last = islice(seen, max(0, len(seen) - MOST_RECEIPTS), None)
    return _contents(uri, LINES, b"".join(receipt.flat_bytes() + b"\n" for receipt in last))


def _read_receipt(ledger: Ledger, visit: Visit, uri: str, receipt_id: str, *, proof: bool) -> types.ReadResourceResult:
    receipt = ledger.find(receipt_id)
    if receipt is None or not visit.may_see(receipt):
        raise _missing(uri)
    if not proof:
        return _contents(uri, JSON, receipt.flat_bytes())
    proved = ledger.prove(receipt_id)
    if proved is None:
        raise _missing(uri)
    return _contents(uri, JSON, orjson.dumps(proved.as_dict()))


def _sessions(ledger: Ledger, visit: Visit) -> list[str]:
    own = visit.session.session_id
    known = ledger.sessions()
    return known if visit.audits else [name for name in known if name == own]


def _fixed() -> list[types.Resource]:
    return [
        types.Resource(uri=SESSIONS, name="sessions", title="Sessions that have receipts", mime_type=JSON),
        types.Resource(uri=HEAD, name="head", title="The signed note over the log", mime_type="text/plain"),
    ]


def _session(session_id: str) -> types.Resource:
    return types.Resource(
        uri=session_uri(session_id), name=session_id, title=f"Receipts of session {session_id}", mime_type=LINES
    )


def _contents(uri: str, kind: str, data: bytes) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=data.decode())])


def _missing(uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, NOT_THERE, {"uri": uri[:1000]})
