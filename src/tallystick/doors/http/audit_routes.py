"""`/api/audit/…`: receipts, proofs, the head, and the check of all of it."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.answers import JSON, json_answer, listing
from tallystick.doors.http.desk import AUDIT_ROLES, FrontDesk, Refused, page
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import Category
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.session import valid_session_id

FILTERS = ("kind", "tool_id", "agent_id", "turn_id", "status")


def audit_routes(desk: FrontDesk) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/audit", tags=["audit"])
    _session_routes(router, desk)
    _receipt_routes(router, desk)

    @router.get("/head", summary="How much there is, and the signed note over it")
    async def head(request: Request) -> Response:
        desk.require(request)
        return json_answer(await run_in_threadpool(_head, desk))

    @router.post("/verify", summary="Check every receipt")
    async def verify(request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        report = await run_in_threadpool(desk.gate.verify, desk.gate.workspace)
        return json_answer(report.as_dict())

    return router


def _session_routes(router: APIRouter, desk: FrontDesk) -> None:
    ledger = desk.gate.ledger

    @router.get("/sessions", summary="Sessions that have receipts")
    async def sessions(request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        limit, offset = page(request)
        found = await run_in_threadpool(ledger.sessions)
        return listing(found[offset : offset + limit], total=len(found), limit=limit, offset=offset)

    @router.get("/sessions/{session_id}/receipts", summary="A session's receipts")
    async def receipts(session_id: str, request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        limit, offset = page(request)
        wanted = _wanted(request)
        items, total = await run_in_threadpool(
            _page_of, lambda: ledger.session(_checked(session_id)), wanted, limit, offset
        )
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/sessions/{session_id}/tool-receipts", summary="A session's receipts as a JSONL file")
    async def tool_receipts(session_id: str, request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        lines = await run_in_threadpool(
            lambda: b"".join(receipt.flat_bytes() + b"\n" for receipt in ledger.session(_checked(session_id)))
        )
        name = f'attachment; filename="{session_id}.tool_receipts.jsonl"'
        return Response(lines, media_type="application/x-ndjson", headers={"content-disposition": name})

    @router.post("/sessions/{session_id}/link-issue", summary="Link a session's receipts into an issue")
    async def link_issue(session_id: str, request: Request) -> Response:
        desk.require(request)
        asked = parse_json_object(await request.body(), 65_536)
        issue = None if isinstance(asked, Rejection) else asked.get("issueId", asked.get("issue_id"))
        if not isinstance(issue, str) or not valid_session_id(issue):
            raise Refused(400, Category.VALIDATION_ERROR, "issueId is a string of letters, digits, dot, dash, underscore")
        linked = await run_in_threadpool(desk.gate.link_issue, _checked(session_id), issue)
        return json_answer({"issueId": issue, "sessionId": session_id, "receipts": linked})


def _receipt_routes(router: APIRouter, desk: FrontDesk) -> None:
    ledger = desk.gate.ledger

    @router.get("/receipts/{receipt_id}", summary="One receipt")
    async def receipt(receipt_id: str, request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        found = await run_in_threadpool(ledger.find, receipt_id)
        if found is None:
            raise Refused(404, Category.DOWNSTREAM_ERROR, "no valid receipt of this id")
        return Response(found.flat_bytes(), media_type=JSON)

    @router.get("/receipts/{receipt_id}/proof", summary="Inclusion proof of one receipt")
    async def proof(receipt_id: str, request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        found = await run_in_threadpool(ledger.prove, receipt_id)
        if found is None:
            raise Refused(404, Category.DOWNSTREAM_ERROR, "no valid receipt of this id")
        return json_answer(found.as_dict())

    @router.get("/records", summary="Audit records: who did what to which resource")
    async def records(request: Request) -> Response:
        desk.require(request, AUDIT_ROLES)
        limit, offset = page(request)
        action, subject = request.query_params.get("action"), request.query_params.get("subject")

        def wanted(receipt: Receipt) -> bool:
            audit = receipt.header.get("audit")
            return audit is not None and action in {None, audit["action"]} and subject in {None, audit["subject"]}

        items, total = await run_in_threadpool(_page_of, ledger.read, wanted, limit, offset, _record)
        return listing(items, total=total, limit=limit, offset=offset)


def _page_of(
    source: Callable[[], Iterable[Receipt]],
    wanted: Callable[[Receipt], bool],
    limit: int,
    offset: int,
    shown: Callable[[Receipt], Any] = Receipt.flat,
) -> tuple[list[Any], int]:
    """One page of what is wanted, and how much there is; nothing but the page is kept in memory."""
    total = 0
    items: list[Any] = []
    for receipt in source():
        if wanted(receipt):
            if offset <= total < offset + limit:
                items.append(shown(receipt))
            total += 1
    return items, total


def _wanted(request: Request) -> Callable[[Receipt], bool]:
    asked = {name: request.query_params[name] for name in FILTERS if name in request.query_params}
    status = asked.pop("status", None)

    def wanted(receipt: Receipt) -> bool:
        header = receipt.header
        if status is not None and (header.get("outcome") or {}).get("status") != status:
            return False
        return all(header.get(name) == value for name, value in asked.items())

    return wanted


def _record(receipt: Receipt) -> dict[str, Any]:
    header = receipt.header
    return {**header["audit"], "receipt_id": header["receipt_id"], "timestamp": header["timestamp"]}


def _head(desk: FrontDesk) -> dict[str, Any]:
    ledger = desk.gate.ledger
    note = ledger.checkpoint()
    keys = [verifier.vkey() for verifier in islice(ledger.keys.log_verifiers(), 16)]
    return {"size": ledger.size(), "checkpoint": note.decode(), "keys": keys}


def _checked(session_id: str) -> str:
    if not valid_session_id(session_id):
        raise Refused(400, Category.VALIDATION_ERROR, "session id is not of the allowed form")
    return session_id
