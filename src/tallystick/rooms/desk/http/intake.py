"""`/events` and `/v1/triage/batch`: customer messages, and tickets created by other systems."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import HttpContext, RequestRefused, json_answer, open_to
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import Category
from tallystick.gate.role_names import DESK_ROLES
from tallystick.rooms.desk.intake.service import IntakeResult
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.desk.service import DeskService
from tallystick.rooms.desk.webhook_signature import SIGNATURE, TIMESTAMP, SignedHeaders, refusal

MOST = 500
"""Items of one batch; a file of more is better taken by `tally desk import`."""
EVENT_FIELDS = frozenset({"type", "content", "thread_id", "actor", "timestamp", "event_id", "id"})
"""Fields of an event that a signed request may give."""
LISTS = ("events", "tickets", "items")
_CONFLICTS = frozenset({"id_taken", "event_id_reused"})
_STATUS = {"queued": 202, "skipped": 200, "rejected": 400}


def desk_intake_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(tags=["desk"])

    @router.post("/events", openapi_extra=_EVENT, responses=_RECEIVED, summary="Take one event, or one ticket")
    @open_to(DESK_ROLES)
    async def event(request: Request) -> Response:
        caller = context.require(request)
        item = body_of(await request.body())
        received = await run_in_threadpool(service_of(context).intake.take, item, caller=caller)
        return json_answer(received.as_dict(), _status(received))

    @router.post("/v1/triage/batch", openapi_extra=_BATCH, summary="Take several events or tickets, each for itself")
    @open_to(DESK_ROLES)
    async def batch(request: Request) -> Response:
        caller = context.require(request)
        items = _items(body_of(await request.body()))
        received = await run_in_threadpool(service_of(context).intake.take_all, items, caller=caller)
        counts = {name: sum(one.status == name for one in received) for name in _STATUS}
        return json_answer({"items": [one.as_dict() for one in received], "total": len(received), **counts})

    @router.post(
        "/v1/desk/webhook",
        openapi_extra=_EVENT,
        responses=_SIGNED,
        summary="Take one event of a program that signs it (no token)",
    )
    @open_to(DESK_ROLES, refuses_itself=True)
    async def webhook(request: Request) -> Response:
        service, body = service_of(context), await request.body()
        _check_signature(service, request, body)
        # A ticket brings outputs of its own, which somebody with a token must stand for.
        event = {name: value for name, value in body_of(body).items() if name in EVENT_FIELDS}
        received = await run_in_threadpool(service.intake.take, event)
        return json_answer(received.as_dict(), _status(received))

    return router


def _check_signature(service: DeskService, request: Request, body: bytes) -> None:
    """Raise unless the request is signed with the secret of the settings, and new."""
    secret = service.options.webhook_in_secret
    if secret is None:
        hint = "webhook_off: set rooms.desk.webhook_in_secret."
        raise RequestRefused(403, Category.RBAC_DENIED, "no webhook is taken here", hint=hint)
    given = SignedHeaders(timestamp=request.headers.get(TIMESTAMP, ""), signature=request.headers.get(SIGNATURE, ""))
    code = refusal(secret.get_secret_value().encode(), body, given, now_s=service.now_s())
    if code is not None:
        raise RequestRefused(401, Category.RBAC_DENIED, "the signature proves nothing", hint=code)


def service_of(context: HttpContext) -> DeskService:
    """The desk's work."""
    return room_in(context.gate, "desk", Desk).service


def body_of(body: bytes) -> dict[str, Any]:
    """A body whose fields are the sender's own, read strictly.

    Raises:
        RequestRefused: 400, it is no JSON object.
    """
    found = parse_json_object(body, len(body))
    if isinstance(found, Rejection):
        raise RequestRefused(400, Category.VALIDATION_ERROR, found.reason, hint=found.pointer or "See /api/docs.")
    return found


def _items(body: dict[str, Any]) -> list[Any]:
    """What a batch holds; a single ticket is a batch of one."""
    lists = [body[name] for name in LISTS if name in body]
    if any(not isinstance(one, list) for one in lists):
        raise RequestRefused(
            400, Category.VALIDATION_ERROR, "events, tickets and items are lists", hint="batch_malformed"
        )
    items = [item for one in lists for item in one] if lists else [body]
    if len(items) > MOST:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"a batch has up to {MOST} items", hint="batch_too_large")
    return items


def _status(received: IntakeResult) -> int:
    return 409 if received.reason in _CONFLICTS else _STATUS[received.status]


_TEXT = {"type": "string"}
_EXAMPLE = {
    "type": "thread_reply",
    "thread_id": "thread-xyz789",
    "content": "What is the company policy on remote work?",
    "actor": "user@example.com",
    "timestamp": "2026-01-31T10:00:00Z",
}
_FIELDS: dict[str, Any] = {
    "content": {**_TEXT, "description": "The customer's words."},
    "thread_id": {**_TEXT, "description": "The conversation."},
    "actor": {**_TEXT, "description": "Who wrote."},
    "timestamp": {**_TEXT, "description": "When, RFC 3339."},
    "type": {**_TEXT, "description": "What kind of event."},
    "event_id": {**_TEXT, "description": "Names the event: the same id is the same event."},
    "event": {"type": "object", "description": "Inside a ticket: what happened."},
    "metadata": {"type": "object", "description": "Makes it a ticket: `kind`, `tool_input`, `final_outputs`."},
}


def _documented(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


_EVENT = _documented({"type": "object", "properties": _FIELDS, "example": _EXAMPLE})
_BATCH = _documented(
    {
        "type": "object",
        "properties": {name: {"type": "array", "description": f"Up to {MOST} in all."} for name in LISTS},
        "example": {"events": [_EXAMPLE]},
    }
)
_SIGNED: dict[int | str, dict[str, Any]] = {
    202: {"description": "`queued`, as `ticket_id`; the same `event_id` again is `skipped`."},
    401: {"description": "`signature_missing`, `signature_wrong`, `timestamp_invalid`, `timestamp_too_far`."},
    403: {"description": "`webhook_off`: the settings have no secret."},
}
_RECEIVED: dict[int | str, dict[str, Any]] = {
    200: {"description": "`skipped`: a repeat (`duplicate`, with the first one's ticket), `too_old` or `too_short`."},
    202: {"description": "`queued`, as `ticket_id`."},
    400: {"description": "`rejected`: `content_missing`, `content_too_long`, `id_invalid`, `id_reserved`."},
    409: {"description": "`rejected`: `id_taken`, `event_id_reused`."},
    413: {"description": "More than `server.max_body_bytes`."},
}
