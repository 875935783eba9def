"""`/api/conferences…`: conferences, their rounds and transcripts."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.answers import Unanswered
from tallystick.agents.problem import text
from tallystick.agents.wire import AGENT_ID
from tallystick.doors.http.kit import (
    LEFT,
    NOTHING,
    ClientLeft,
    Emit,
    EventStream,
    Form,
    HttpContext,
    RequestRefused,
    answer,
    documented,
    error_answer,
    event,
    json_answer,
    listing,
    open_to,
    page,
    while_wanted,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.rooms.studio.conference.attendees import ACTIONS, MOST
from tallystick.rooms.studio.flows.round import RoundEvent
from tallystick.rooms.studio.services.conference import ConferenceService
from tallystick.turns.request import Progress
from tallystick.turns.result import Step

_AGENTS: Mapping[str, Any] = {"type": "array", "items": AGENT_ID, "minItems": 1, "maxItems": MOST}
EVENTS = "text/event-stream"
MAX_DIGITS = 9
CONFERENCE = Form(
    properties={
        "name": {**text(200), "description": "What people call it."},
        "agents": {
            **_AGENTS,
            "description": "Who is invited, in the order of speaking; the Chief of Staff (`assistant`) among them. "
            "Every agent that is switched on if not given.",
        },
    },
    example={"name": "Chapter one", "agents": ["assistant", "continuity", "critic"]},
)
ROUND = Form(
    properties={
        "prompt": {"type": "string", "description": "What is asked."},
        "again": {
            "type": "integer",
            "minimum": 1,
            "description": "Instead of a prompt: the number of a round whose prompt is sent once more.",
        },
        "stream": {"type": "boolean", "default": False, "description": "Answer with server-sent events."},
    },
    example={"prompt": "Is Ada's age the same in every scene?", "stream": True},
)
ROSTER = Form(
    properties={
        "action": {"enum": list(ACTIONS), "description": "`order` names everyone in the order of speaking."},
        "agents": {**_AGENTS, "description": "With whom."},
    },
    required=("action", "agents"),
    example={"action": "mute", "agents": ["critic"]},
)


def conference_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/conferences", tags=["conferences"])
    conferences = ConferenceService(context.gate, context.conversation)
    _conferences(router, context, conferences)
    _at_the_table(router, context, conferences)
    _rounds(router, context, conferences)
    return router


def _conferences(router: APIRouter, context: HttpContext, conferences: ConferenceService) -> None:
    @router.post(
        "", openapi_extra=CONFERENCE.documented, responses=_MADE, status_code=201, summary="Begin a conference"
    )
    @open_to(WORK_ROLES)
    async def create(request: Request) -> Response:
        caller = context.require(request)
        asked = CONFERENCE.demand(await request.body())
        made = await run_in_threadpool(
            conferences.create, asked.get("agents"), caller=caller, name=asked.get("name", "")
        )
        return answer(made) if isinstance(made, Unanswered) else json_answer(made.as_dict(), 201)

    @router.get("", openapi_extra=documented(), summary="Your conferences, the newest first")
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        caller = context.require(request)
        limit, offset = page(request)
        found = await run_in_threadpool(conferences.list, caller)
        items = [each.as_dict() for each in found[offset : offset + limit]]
        return listing(items, total=len(found), limit=limit, offset=offset)

    @router.get("/{conference_id}", responses=_FOUND, summary="One conference: cards and rounds")
    @open_to(EVERY_ROLE)
    async def one(conference_id: str, request: Request) -> Response:
        caller = context.require(request)
        return answer(await run_in_threadpool(conferences.get, conference_id, caller))


def _at_the_table(router: APIRouter, context: HttpContext, conferences: ConferenceService) -> None:
    @router.post(
        "/{conference_id}/roster",
        openapi_extra=ROSTER.documented,
        responses=_SEATED,
        summary="Add, remove, mute, unmute, or put in order",
    )
    @open_to(WORK_ROLES)
    async def roster(conference_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = ROSTER.demand(await request.body())
        action, agents = asked["action"], asked["agents"]
        return answer(await run_in_threadpool(conferences.seat, conference_id, action, agents, caller=caller))

    @router.get(
        "/{conference_id}/transcript",
        openapi_extra=documented(),
        responses=_FOUND,
        summary="The transcript of all rounds, oldest first",
    )
    @open_to(EVERY_ROLE)
    async def transcript(conference_id: str, request: Request) -> Response:
        caller = context.require(request)
        limit, offset = page(request)
        lines = await run_in_threadpool(conferences.transcript, conference_id, caller)
        if isinstance(lines, Unanswered):
            return answer(lines)
        return listing(list(lines[offset : offset + limit]), total=len(lines), limit=limit, offset=offset)


def _rounds(router: APIRouter, context: HttpContext, conferences: ConferenceService) -> None:
    @router.post("/{conference_id}/rounds", openapi_extra=ROUND.documented, responses=_HELD, summary="Hold a round")
    @open_to(WORK_ROLES)
    async def hold(conference_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = _asked(await request.body())
        if asked.get("stream") or EVENTS in request.headers.get("accept", ""):
            return EventStream(
                lambda emit: _streamed(conferences, conference_id, asked, caller, emit),
                translate=error_answer,
                late=lambda body: event("error", body),
            )
        holding = conferences.hold(conference_id, asked.get("prompt"), caller=caller, again=asked.get("again"))
        try:
            return answer(await while_wanted(request.receive, holding))
        except ClientLeft:
            return Response(status_code=LEFT)

    @router.post(
        "/{conference_id}/rounds/{number}/cancel",
        openapi_extra=NOTHING.documented,
        responses=_CANCELLED,
        summary="Cancel a round that runs",
    )
    @open_to(WORK_ROLES)
    async def cancel(conference_id: str, number: str, request: Request) -> Response:
        caller = context.require(request)
        NOTHING.demand(await request.body())
        return answer(await run_in_threadpool(conferences.cancel, conference_id, _number(number), caller=caller))


async def _streamed(
    conferences: ConferenceService, conference_id: str, asked: Mapping[str, Any], caller: Caller, emit: Emit
) -> Response | None:
    """The round as events: `round`, `card`, `phase`, `step`, `reply`, and at the end `result`."""
    held = await conferences.hold(
        conference_id,
        asked.get("prompt"),
        caller=caller,
        again=asked.get("again"),
        tell=_teller(emit),
        stepped=_stepper(emit),
    )
    if isinstance(held, Unanswered):
        return answer(held)
    emit(event("result", held.as_dict()))
    return None


def _teller(emit: Emit) -> Callable[[RoundEvent], None]:
    return lambda told: emit(event(told.kind, told.data))


def _stepper(emit: Emit) -> Callable[[Step | Progress], None]:
    def tell(what: Step | Progress) -> None:
        emit(event("progress", {"state": what}) if isinstance(what, str) else event("step", what.as_dict()))

    return tell


def _asked(body: bytes) -> dict[str, Any]:
    asked = ROUND.demand(body)
    if ("prompt" in asked) == ("again" in asked):
        hint = "Send `prompt`, or the number of a round as `again`."
        raise RequestRefused(400, Category.VALIDATION_ERROR, "one of prompt and again is needed", hint=hint)
    return asked


def _number(given: str) -> int:
    """A round's number; 0 if it is not a number."""
    return int(given) if given.isascii() and given.isdigit() and len(given) <= MAX_DIGITS else 0


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "A field does not fit; the hint names it."},
    401: {"description": "No valid token."},
    404: {"description": "`conference_unknown` (another's does not exist for you), `agent_unknown`, `round_unknown`."},
}
_FOUND = {200: {"description": "`attendees` with their cards, `rounds` with ids and digests."}, **_PROBLEMS}
_MADE = {
    201: {"description": "The conference."},
    409: {"description": "`chief_mandatory`: the Chief of Staff is not among the agents; `agent_disabled`."},
    **_PROBLEMS,
}
_SEATED = {
    200: {"description": "The conference as it is now."},
    409: {
        "description": "`chief_mandatory`, `chief_first`, `attendee_exists`, `attendees_too_many`, `agent_disabled`."
    },
    **_PROBLEMS,
}
_HELD = {
    200: {
        "description": "The round: `state` closed, stopped (see `stop_hook`) or cancelled; `replies` accepted or "
        "rejected, `cards`, `steps`, `receipts`, `issue_id`. With `stream`: events `round`, `card`, `phase`, "
        "`progress`, `step`, `reply`, and in the end `result` or `error`."
    },
    409: {"description": "`round_running`: a round of this conference runs already."},
    413: {"description": "`message_too_large`, or the body is."},
    **_PROBLEMS,
}
_CANCELLED = {
    200: {"description": "The round, `cancelling`: it ends within a moment."},
    409: {"description": "`round_over`: it has ended."},
    **_PROBLEMS,
}
