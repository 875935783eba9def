"""`/v1/tickets…`: read, lease, fill, release and judge tickets.

Anybody with a token may work on tickets: what a worker says is a proposal, and the server's own verdict decides what
follows. To take a verdict back needs a person.
"""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

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
from tallystick.gate.role_names import DESK_READERS, DESK_ROLES, EVERY_ROLE
from tallystick.rooms.desk.http.intake import service_of
from tallystick.rooms.desk.model import KINDS, STATUSES, session_of
from tallystick.rooms.desk.service import DeskService
from tallystick.rooms.desk.tickets.fill import FillResult
from tallystick.rooms.desk.tickets.leases import MOST, UNKNOWN, LeasedTicket
from tallystick.rooms.desk.tickets.proof import Proof

_OWNER = {**NAME, "description": "The worker, by a name of its own."}
_TOKEN = {"type": "string", "minLength": 1, "maxLength": 200, "description": "As the lease gave it."}
_SECONDS = {"type": "integer", "minimum": 1, "maximum": 86_400, "description": "How long; never above the desk's own."}
_HELD: dict[str, Any] = {"lease_owner": _OWNER, "lease_token": _TOKEN}
_HELD_EXAMPLE = {"lease_owner": "worker-7", "lease_token": "as the lease gave it"}
LEASE_SOME = Form(
    properties={
        "lease_owner": _OWNER,
        "lease_s": _SECONDS,
        "kind": {"enum": list(KINDS), "description": "Only this kind."},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "How many; one if not given."},
    },
    required=("lease_owner",),
    example={"lease_owner": "worker-7", "kind": "TOOL", "limit": 5},
)
LEASE_ONE = Form(
    properties={**_HELD, "lease_s": _SECONDS}, required=("lease_owner",), example={"lease_owner": "worker-7"}
)
FILL = Form(
    # What stands in `outputs` is looked at only after the proof of the lease.
    properties={
        **_HELD,
        "by": {**NAME, "description": "Who did the work; the lease's owner if not given."},
        "outputs": {"description": "An object: what becomes the ticket's `final_outputs`."},
    },
    required=("lease_owner", "lease_token"),
    example={**_HELD_EXAMPLE, "by": "worker-7", "outputs": {"tool_verdict": {"status": "DEFER", "reason": "unsure"}}},
)
NACK = Form(properties=_HELD, required=("lease_owner", "lease_token"), example=_HELD_EXAMPLE)


def desk_tickets_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/v1/tickets", tags=["desk"])
    _looking(router, context)
    _leasing(router, context)
    _filling(router, context)
    _judging(router, context)
    return router


def _looking(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "",
        summary="Tickets, the newest first",
        openapi_extra=documented(
            status=f"One of {', '.join(STATUSES)}.", kind=f"One of {', '.join(KINDS)}.", thread_id="One conversation."
        ),
    )
    @open_to(DESK_READERS)
    async def tickets(request: Request) -> Response:
        limit, offset = page(request)
        status, kind = _one_of(request, "status", STATUSES), _one_of(request, "kind", KINDS)
        items, total = await run_in_threadpool(
            lambda: _service(context).tickets.list(
                status=() if status is None else (status,),
                kind=kind,
                limit=limit,
                offset=offset,
                thread_id=request.query_params.get("thread_id"),
            )
        )
        return listing(items, total=total, limit=limit, offset=offset)

    @router.get("/{ticket_id}", summary="One ticket, as it came and as it stands")
    @open_to(DESK_READERS)
    async def ticket(ticket_id: str) -> Response:
        found = await run_in_threadpool(lambda: _service(context).tickets.show(ticket_id))
        return json_answer(granted(UNKNOWN if found is None else found, _STATUSES))


def _leasing(router: APIRouter, context: HttpContext) -> None:
    @router.post("/lease", openapi_extra=LEASE_SOME.documented, summary="Lease the oldest tickets that wait")
    @open_to(DESK_ROLES)
    async def some(request: Request) -> Response:
        caller = context.require(request)
        asked = LEASE_SOME.demand(await request.body())
        leased = await run_in_threadpool(
            lambda: _service(context).leases.lease_some(
                asked["lease_owner"],
                kind=asked.get("kind"),
                limit=asked.get("limit", 1),
                lease_s=asked.get("lease_s"),
                caller=caller,
            )
        )
        return json_answer({"items": [_lease(one) for one in leased], "total": len(leased)})

    @router.post(
        "/{ticket_id}/lease",
        openapi_extra=LEASE_ONE.documented,
        responses=_LEASES,
        summary="Lease one ticket; with its token, make the lease last longer",
    )
    @open_to(DESK_ROLES)
    async def one(ticket_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = LEASE_ONE.demand(await request.body())
        leased = await run_in_threadpool(
            lambda: _service(context).leases.lease_one(
                ticket_id,
                asked["lease_owner"],
                lease_s=asked.get("lease_s"),
                token=asked.get("lease_token"),
                caller=caller,
            )
        )
        return json_answer(_lease(granted(leased, _STATUSES)))


def _filling(router: APIRouter, context: HttpContext) -> None:
    @router.post(
        "/{ticket_id}/fill",
        openapi_extra=FILL.documented,
        responses=_FILLS,
        summary="Give what came of a ticket, with the proof of its lease",
    )
    @open_to(DESK_ROLES)
    async def fill(ticket_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = FILL.demand(await request.body())
        filled = await run_in_threadpool(
            lambda: _service(context).leases.fill(
                ticket_id,
                asked.get("outputs"),
                by=asked.get("by", asked["lease_owner"]),
                proof=_proof(asked),
                caller=caller,
            )
        )
        return json_answer(_filled(granted(filled, _STATUSES)))

    @router.post(
        "/{ticket_id}/nack", openapi_extra=NACK.documented, responses=_FILLS, summary="Give a ticket back undone"
    )
    @open_to(DESK_ROLES)
    async def nack(ticket_id: str, request: Request) -> Response:
        caller = context.require(request)
        asked = NACK.demand(await request.body())
        back = await run_in_threadpool(
            lambda: _service(context).leases.nack(ticket_id, proof=_proof(asked), caller=caller)
        )
        return json_answer(_filled(granted(back, _STATUSES)))


def _judging(router: APIRouter, context: HttpContext) -> None:
    @router.get("/{ticket_id}/verdict", summary="What the server said of a ticket, and what was proposed")
    @open_to(DESK_READERS)
    async def verdict(ticket_id: str) -> Response:
        found = await run_in_threadpool(lambda: _service(context).tickets.verdict(ticket_id))
        return json_answer(granted(found, {**_STATUSES, "verdict_missing": 404}))

    @router.post(
        "/{ticket_id}/verdict",
        openapi_extra=NOTHING.documented,
        responses=_FILLS,
        summary="Have the server judge a ticket that came with its outputs",
    )
    @open_to(DESK_ROLES)
    async def judge(ticket_id: str, request: Request) -> Response:
        caller = context.require(request)
        NOTHING.demand(await request.body())
        judged = await run_in_threadpool(lambda: _service(context).tickets.judge(ticket_id, caller=caller))
        return json_answer(_filled(granted(judged, _STATUSES)))

    @router.delete(
        "/{ticket_id}/verdict", responses=_FILLS, summary="Take a PROCEED back; what waits to be sent stays here"
    )
    @open_to(DESK_ROLES)
    async def withdraw(ticket_id: str, request: Request) -> Response:
        caller = context.require_person(request)
        taken = await run_in_threadpool(
            lambda: _service(context).tickets.withdraw(
                ticket_id, caller=caller, reason="A person took the verdict back."
            )
        )
        return json_answer(granted(taken, _STATUSES))


def _service(context: HttpContext) -> DeskService:
    return service_of(context)


def _proof(asked: dict[str, Any]) -> Proof:
    return Proof(owner=asked["lease_owner"], token=asked["lease_token"])


def _lease(leased: LeasedTicket) -> dict[str, Any]:
    return {
        "ticket": dict(leased.ticket.body),
        "ticket_id": leased.ticket.ticket_id,
        "session": session_of(leased.ticket.ticket_id),
        "lease_owner": leased.ticket.lease_owner,
        "lease_token": leased.token,
        "lease_until": leased.ticket.lease_until,
        "lease_ms": leased.lease_ms,
    }


def _filled(filled: FillResult) -> dict[str, Any]:
    judged = filled.ticket.judged
    return {
        "ticket_id": filled.ticket.ticket_id,
        "status": filled.ticket.status,
        "derived": list(filled.derived),
        "queued": filled.queued,
        "incomplete": filled.incomplete,
        "repeated": filled.repeated,
        "tool_verdict": None if judged is None else judged.as_dict(),
    }


def _one_of(request: Request, name: str, known: tuple[str, ...]) -> str | None:
    found = request.query_params.get(name)
    if found is not None and found not in known:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"no such {name}", hint=f"One of {', '.join(known)}.")
    return found


_STATUSES = {
    "ticket_unknown": 404,
    "kind_unknown": 409,
    "not_yet": 409,
    "already_leased": 409,
    "not_pending": 409,
    "begun_by_worker": 409,
    "lease_missing": 409,
    "lease_not_yours": 409,
    "lease_expired": 409,
    "lease_token_used": 409,
    "verdict_missing": 409,
    "verdict_not_proceed": 409,
    "not_a_tool_ticket": 409,
}
_LEASES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The ticket, and the token that proves it. Tools are called in `session`, by whoever leased."},
    409: {"description": "`already_leased`, `begun_by_worker`, `not_pending`, `not_yet`, `kind_unknown`."},
}
_FILLS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Where the ticket stands now; `repeated`: all was done before."},
    400: {"description": "`outputs_invalid`, after the proof held."},
    409: {
        "description": "`lease_missing`, `lease_not_yours`, `lease_expired`, `lease_token_used`, `begun_by_worker`; "
        "of verdicts `not_a_tool_ticket`, `not_pending`, `verdict_missing`, `verdict_not_proceed`."
    },
}


def desk_metrics_routes(context: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/v1/desk", tags=["desk"])

    @router.get("/metrics", summary="Verdicts, overrides, unsupported sentences, lost leases, and what waits")
    @open_to(EVERY_ROLE)
    async def metrics() -> Response:
        return json_answer(await run_in_threadpool(service_of(context).figures))

    return router
