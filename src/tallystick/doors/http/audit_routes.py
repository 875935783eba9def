"""`/api/audit/…`: receipts, proofs, the head, and verification of the ledger."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from tallystick.doors.http.answers import JSON, json_answer, listing
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import Form
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.errors import LedgerError
from tallystick.gate.codes import Category
from tallystick.gate.record.checkpoint import NoteVerifier, parse_vkey
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.gate.session import valid_session_id
from tallystick.storage.ledger import verify_workspace

FILTERS = {
    "kind": "outcome, started, held, approval, reply_check, …",
    "status": "accepted, rejected or transformed.",
    "tool_id": "The tool.",
    "agent_id": "The agent.",
    "turn_id": "The turn.",
}
VERIFY = Form(
    properties={
        "checkpoints": {"type": "array", "items": {"type": "string"}, "description": "Signed notes kept elsewhere."},
        "key": {"type": "string", "description": "The log's public key as somebody outside was given it."},
    },
    example={"checkpoints": []},
)
SINCE = {
    "parameters": [
        {
            "name": "since",
            "in": "query",
            "schema": {"type": "integer", "minimum": 1},
            "description": "Size of an earlier head: prove that the log begins with it.",
        }
    ]
}
_CHUNK = 64 * 1024
_MAX_DIGITS = 18
T = TypeVar("T")


def audit_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/audit", tags=["audit"])
    _session_routes(router, context)
    _receipt_routes(router, context)
    _log_routes(router, context)
    return router


def _session_routes(router: APIRouter, context: HttpContext) -> None:
    ledger = context.gate.ledger

    @router.get("/sessions", openapi_extra=documented(), summary="Sessions that have receipts")
    @open_to(AUDIT_ROLES)
    async def sessions(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(ledger.sessions)
        return listing(found[offset : offset + limit], total=len(found), limit=limit, offset=offset)

    @router.get("/sessions/{session_id}/receipts", openapi_extra=documented(**FILTERS), summary="A session's receipts")
    @open_to(AUDIT_ROLES)
    async def receipts(session_id: str, request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(session_receipts, ledger, session_id)
        items, total = await run_in_threadpool(_page_of, found, _wanted(request), limit, offset)
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/sessions/{session_id}/tool-receipts", summary="A session's receipts as a JSONL file")
    @open_to(AUDIT_ROLES)
    async def tool_receipts(session_id: str) -> Response:
        found = await run_in_threadpool(session_receipts, ledger, session_id)
        name = f'attachment; filename="{session_id}.tool_receipts.jsonl"'
        return StreamingResponse(
            _lines(found), media_type="application/x-ndjson", headers={"content-disposition": name}
        )


def _receipt_routes(router: APIRouter, context: HttpContext) -> None:
    ledger = context.gate.ledger

    @router.get("/receipts/{receipt_id}", summary="One receipt")
    @open_to(AUDIT_ROLES)
    async def receipt(receipt_id: str) -> Response:
        found = await run_in_threadpool(ledger.find, receipt_id)
        return Response(_there(found).flat_bytes(), media_type=JSON)

    @router.get("/receipts/{receipt_id}/proof", summary="Inclusion proof of one receipt")
    @open_to(AUDIT_ROLES)
    async def proof(receipt_id: str) -> Response:
        found = await run_in_threadpool(ledger.prove, receipt_id)
        return json_answer(_there(found).as_dict())

    @router.get(
        "/records",
        openapi_extra=documented(action="E.g. `analysis.run`.", subject="Who did it."),
        summary="Audit records: who did what to which resource",
    )
    @open_to(AUDIT_ROLES)
    async def records(request: Request) -> Response:
        limit, offset = page(request)
        wanted = _record_wanted(request)
        items, total = await run_in_threadpool(lambda: _page_of(ledger.read(), wanted, limit, offset, _record))
        return listing(items, total=total, limit=limit, offset=offset)


def _log_routes(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/head",
        openapi_extra=SINCE,
        summary="How much there is, the signed note over it, and that it goes on from an earlier one",
    )
    @open_to(EVERY_ROLE)
    async def head(request: Request) -> Response:
        return json_answer(await run_in_threadpool(_head, context.gate.ledger, request.query_params.get("since")))

    @router.post("/verify", openapi_extra=VERIFY.documented, summary="Check every receipt")
    @open_to(AUDIT_ROLES)
    async def verify(request: Request) -> Response:
        asked = VERIFY.demand(await request.body())
        outside = tuple(note.encode() for note in asked.get("checkpoints", ()))
        key = None if "key" not in asked else _key(asked["key"])
        report = await run_in_threadpool(
            verify_workspace, context.gate.workspace, context.gate.settings, outside=outside, verifier=key
        )
        return json_answer(report.as_dict())


def session_receipts(ledger: Ledger, session_id: str) -> Iterator[Receipt]:
    """Return a session's receipts, or raise `RequestRefused` with 404 if it has none."""
    if not valid_session_id(session_id):
        raise RequestRefused(400, Category.VALIDATION_ERROR, "session id is not of the allowed form")
    found = iter(ledger.session(session_id))
    first = next(found, None)
    if first is None:
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "no session of this id has receipts")
    return chain((first,), found)


def _page_of(
    receipts: Iterable[Receipt],
    wanted: Callable[[Receipt], bool],
    limit: int,
    offset: int,
    shown: Callable[[Receipt], Any] = Receipt.flat,
) -> tuple[list[Any], int]:
    """Return one page of the matching receipts and their total; only the page is kept in memory."""
    total = 0
    items: list[Any] = []
    for receipt in receipts:
        if wanted(receipt):
            if offset <= total < offset + limit:
                items.append(shown(receipt))
            total += 1
    return items, total


def _lines(receipts: Iterable[Receipt]) -> Iterator[bytes]:
    """Yield the JSON lines in chunks of at least `_CHUNK` bytes."""
    piece = bytearray()
    for receipt in receipts:
        piece += receipt.flat_bytes() + b"\n"
        if len(piece) >= _CHUNK:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _wanted(request: Request) -> Callable[[Receipt], bool]:
    asked = {name: request.query_params[name] for name in FILTERS if name in request.query_params}
    status = asked.pop("status", None)

    def wanted(receipt: Receipt) -> bool:
        header = receipt.header
        if status is not None and (header.get("outcome") or {}).get("status") != status:
            return False
        return all(header.get(name) == value for name, value in asked.items())

    return wanted


def _record_wanted(request: Request) -> Callable[[Receipt], bool]:
    action, subject = request.query_params.get("action"), request.query_params.get("subject")

    def wanted(receipt: Receipt) -> bool:
        audit = receipt.header.get("audit")
        return audit is not None and action in {None, audit["action"]} and subject in {None, audit["subject"]}

    return wanted


def _record(receipt: Receipt) -> dict[str, Any]:
    header = receipt.header
    return {**header["audit"], "receipt_id": header["receipt_id"], "timestamp": header["timestamp"]}


def _there(found: T | None) -> T:
    if found is None:
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "no valid receipt of this id")
    return found


def _head(ledger: Ledger, since: str | None) -> dict[str, Any]:
    """Return the head; given the size of an earlier head, with the consistency proof between the two."""
    keys = [verifier.vkey() for verifier in islice(ledger.keys.log_verifiers(), 16)]
    if since is None:
        return {"size": ledger.size(), "checkpoint": ledger.checkpoint().decode(), "keys": keys}
    if not (since.isascii() and since.isdecimal() and len(since) <= _MAX_DIGITS):
        raise RequestRefused(400, Category.VALIDATION_ERROR, "since: give the size of an earlier head")
    try:
        proof = ledger.prove_consistency(int(since))
    except LedgerError as error:
        if error.code != "size_unknown":
            raise
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"since: {error}") from None
    size = proof.sizes[1]
    return {"size": size, "checkpoint": proof.checkpoint.decode(), "keys": keys, "consistency": proof.as_dict()}


def _key(line: str) -> NoteVerifier:
    try:
        return parse_vkey(line)
    except ValueError as error:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"key: {error}") from None
