"""`/api/audit/sessions/{session_id}/link-issue`: a session's receipts, linked into an issue."""

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.kit import ID, Form, HttpContext, granted, json_answer, open_to, session_receipts
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.rooms.studio.http.issues import STATUS, by_whom
from tallystick.rooms.studio.services.issues import IssueDesk

LINK = Form(
    properties={"issueId": {**ID, "description": "The issue, by its id or its number."}},
    required=("issueId",),
    example={"issueId": "12"},
)


def issue_link_routes(desk: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/api/audit", tags=["audit"])
    issues = IssueDesk(desk.gate)

    @router.post(
        "/sessions/{session_id}/link-issue", openapi_extra=LINK.documented,
        summary="Link a session's receipts into an issue",
    )  # fmt: skip
    @open_to(AUDIT_ROLES)
    async def link_issue(session_id: str, request: Request) -> Response:
        asked = LINK.demand(await request.body())
        await run_in_threadpool(session_receipts, desk.gate.ledger, session_id)
        linked = granted(
            await run_in_threadpool(issues.link, session_id, asked["issueId"], by=by_whom(desk, request)), STATUS
        )
        return json_answer({"issueId": linked.issue_id, "sessionId": session_id, "receipts": linked.receipts})

    return router
