"""`/v1/reviews…`: the review queue. Reading needs a role; deciding needs a signed-in person."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.problem import Problem
from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import (
    NAME,
    NOTHING,
    Form,
    HttpContext,
    RequestRefused,
    documented,
    granted,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import DESK_READERS
from tallystick.gate.session import Caller
from tallystick.rooms.desk.model import Review
from tallystick.rooms.desk.review import ReviewItem, ReviewQueue
from tallystick.rooms.desk.room import Desk

MOST_DAYS = 3_650
STATES = ("waiting", "taken", "approved", "rejected", "returned", "all")
STATUS = {
    "review_unknown": 404,
    "review_over": 409,
    "review_taken": 409,
    "draft_missing": 409,
    "unsupported_sentence": 422,
    "personal_data": 422,
}
EDIT = Form(
    properties={
        "text": {"type": "string", "minLength": 1, "maxLength": 20_000, "description": "What is to be sent."},
        "insist": {"type": "boolean", "default": False, "description": "Send it although a sentence cites nothing."},
    },
    required=("text",),
    example={"text": "You can return it within 30 days. [ev:ev_1]"},
)
REJECT = Form(
    properties={"reason": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Why not."}},
    required=("reason",),
    example={"reason": "We never answer this in writing."},
)
REASSIGN = Form(
    properties={"to": {**NAME, "description": "Who has it now."}}, required=("to",), example={"to": "maria"}
)


def desk_review_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/v1/reviews", tags=["desk"])
    _looking(router, context)
    for action in ("take", "approve", "more"):
        _deciding(router, context, action, NOTHING, {})
    _deciding(router, context, "edit", EDIT, {"text": "text", "insist": "insist"})
    _deciding(router, context, "reject", REJECT, {"reason": "reason"})
    _deciding(router, context, "reassign", REASSIGN, {"to": "to"})
    return router


def _looking(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "",
        openapi_extra=documented(
            state=f"One of {', '.join(STATES)}; waiting if not given.", owner="Only what was given to this person."
        ),
        summary="What waits for people, oldest first",
    )
    @open_to(DESK_READERS)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        state = request.query_params.get("state", "waiting")
        if state not in STATES:
            raise RequestRefused(400, Category.VALIDATION_ERROR, f"state is one of {', '.join(STATES)}")
        chosen = None if state == "all" else state
        owner = request.query_params.get("owner") or None
        found, total = await run_in_threadpool(
            _reviews(context).queue, state=chosen, owner=owner, limit=limit, offset=offset
        )
        return listing([one.as_dict() for one in found], total=total, limit=limit, offset=offset)

    @router.get("/{ticket_id}", summary="One of them: evidence, rule, draft", responses=_FOUND)
    @open_to(DESK_READERS)
    async def one(ticket_id: str) -> Response:
        found: ReviewItem = granted(await run_in_threadpool(_reviews(context).show, ticket_id), STATUS)
        return json_answer(found.as_dict())


def desk_work_routes(context: HttpContext) -> APIRouter:
    """Build the routes of what people work with: ready replies and content gaps."""
    router = APIRouter(prefix="/v1/desk", tags=["desk"])

    @router.get("/replies", summary="The owner's ready replies, by name")
    @open_to(DESK_READERS)
    async def replies() -> Response:
        return json_answer({"replies": dict(await run_in_threadpool(_reviews(context).help.replies))})

    @router.get(
        "/gaps",
        openapi_extra=documented(days=f"How far back, 1 to {MOST_DAYS}; 7 if not given."),
        summary="What customers asked that no document answers, the most asked first",
    )
    @open_to(DESK_READERS)
    async def gaps(request: Request) -> Response:
        given = request.query_params.get("days", "7")
        if not (given.isascii() and given.isdigit() and 1 <= int(given[:6]) <= MOST_DAYS):
            raise RequestRefused(400, Category.VALIDATION_ERROR, f"days is a number from 1 to {MOST_DAYS}")
        found = await run_in_threadpool(lambda: _reviews(context).gaps(days=int(given)))
        return json_answer({"days": int(given), "gaps": [one.as_dict() for one in found]})

    return router


def _deciding(router: APIRouter, context: HttpContext, action: str, form: Form, fields: dict[str, str]) -> None:
    @router.post(
        f"/{{ticket_id}}/{action}",
        openapi_extra=form.documented,
        summary=f"{SUMMARIES[action]} (start-up token)",
        responses=_DECIDED,
        name=f"review_{action}",
    )
    @open_to(DESK_READERS)
    async def decide(ticket_id: str, request: Request) -> Response:
        caller: Caller = context.require_person(request, f"tally desk {action}")
        asked = form.demand(await request.body())
        given: dict[str, Any] = {name: asked[field] for name, field in fields.items() if field in asked}
        how: Callable[..., Review | Problem] = getattr(_reviews(context), action)
        after: Review = granted(await run_in_threadpool(lambda: how(ticket_id, caller=caller, **given)), STATUS)
        return json_answer({"ticket_id": after.ticket_id, "state": after.state, "person": after.person})


def _reviews(context: HttpContext) -> ReviewQueue:
    return room_in(context.gate, "desk", Desk).reviews


SUMMARIES = {
    "take": "Take it in hand for a while",
    "approve": "Send the draft as it is",
    "more": "Ask for more evidence",
    "edit": "Send another text; it is checked again",
    "reject": "Send nothing, and why",
    "reassign": "Give it to another",
}
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: {"description": "No valid token."},
    403: {"description": "The role is missing, or no person stands behind the request."},
    404: {"description": "`review_unknown`."},
}
_FOUND = {200: {"description": "The ticket with its evidence, the rule and the draft."}, **_PROBLEMS}
_DECIDED = {
    200: {"description": "How it stands now."},
    400: {"description": "A field does not fit."},
    409: {"description": "`review_taken`, `review_over`, `draft_missing`."},
    422: {"description": "`unsupported_sentence`: a sentence cites nothing that holds; `personal_data`."},
    **_PROBLEMS,
}
