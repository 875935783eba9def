"""`/api/issues…`: what is to be settled. What agents remember of it is in `issue_memory_routes`.

Whoever may call may look, open and comment. A comment is a person's only with the start-up token; anybody else is a
program, and the circuit breaker counts what it says.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.doors.http.kit import (
    ID,
    NAME,
    Form,
    HttpContext,
    Refused,
    documented,
    granted,
    json_answer,
    listing,
    open_to,
    page,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.issues.changing import UNKNOWN
from tallystick.rooms.studio.issues.nouns import PRIORITIES, STATUSES, By, Change, Link, NewComment, NewIssue, Wanted
from tallystick.rooms.studio.issues.wire import FIELDS, MAX_COMMENT, comment_wire, heading_wire, issue_wire, tags_of
from tallystick.rooms.studio.services.issues import FromChat, IssueDesk

_AGENT: Mapping[str, Any] = {**NAME, "description": "The agent whose word it is; yours if not given."}
_LINKS: Mapping[str, Any] = {**FIELDS["links"], "description": "What stands behind it: receipts, sessions, runs, …"}
_GIVEN: dict[str, Mapping[str, Any]] = {
    "title": FIELDS["title"], "body": FIELDS["body"], "tags": FIELDS["tags"],
    "priority": {**FIELDS["priority"], "type": "string"},
    "assignedTo": {**NAME, "description": "The agent or person it is for."}, "links": _LINKS,
}  # fmt: skip
NEW = Form(
    properties={**_GIVEN, "agent": _AGENT},
    required=("title",),
    example={"title": "Mira's compass is silver in SCN-01 and brass in SCN-04", "body": "…", "tags": ["canon"]},
)
CHANGE = Form(
    properties={**_GIVEN, "assignedTo": {"type": "string", "maxLength": 128, "description": "Empty: nobody."}},
    example={"priority": "high", "tags": ["canon", "blocker"]},
)
COMMENT = Form(
    properties={
        "body": {"type": "string", "maxLength": MAX_COMMENT, "description": "What there is to say."},
        "agent": _AGENT,
    },
    required=("body",),
    example={"body": "SCN-04, line 12 says brass; the card says silver.", "agent": "continuity"},
)
MOVE = Form(
    properties={"reason": {"type": "string", "maxLength": 2000, "description": "Why."}, "agent": _AGENT},
    example={"reason": "Settled: the compass is silver."},
)
FROM_CHAT = Form(
    properties={
        "sessionId": {**ID, "description": "The conversation."},
        "title": {**FIELDS["title"], "description": "The first thing that was asked if not given."},
        "tags": FIELDS["tags"],
        "priority": {**FIELDS["priority"], "type": "string"},
        "assignedTo": _GIVEN["assignedTo"],
    },
    required=("sessionId",),
    example={"sessionId": "s1", "title": "Is the storm in SCN-01 the one of SCN-07?"},
)
STATUS = {
    "agent_unknown": 404, "issue_unknown": 404, "memory_unknown": 404, "session_unknown": 404, "issue_frozen": 409,
    "model_missing": 409, "issue_unmoved": 409, "person_required": 403, "comment_limit": 429, "comment_ping_pong": 429,
}  # fmt: skip


def issue_routes(desk: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/issues", tags=["issues"])
    issues = IssueDesk(desk.gate)
    _opening(router, desk, issues)
    _looking(router, issues)
    _saying(router, desk, issues)
    for move, needs_person in (("close", False), ("reopen", False), ("freeze", True), ("unfreeze", True)):
        _moving(router, desk, issues, move, needs_person=needs_person)
    return router


def _opening(router: APIRouter, desk: HttpContext, issues: IssueDesk) -> None:
    @router.post("", openapi_extra=NEW.documented, status_code=201, summary="Open an issue")
    @open_to(WORK_ROLES)
    async def create(request: Request) -> Response:
        asked = NEW.demand(await request.body())
        author, _ = await _speaker(desk, request, issues, asked)
        new = NewIssue(
            title=asked["title"], body=asked.get("body", ""), opened_by=author, tags=tuple(asked.get("tags", ())),
            priority=asked.get("priority", "normal"), assigned_to=asked.get("assignedTo"), links=_links(asked),
        )  # fmt: skip
        made = granted(await run_in_threadpool(issues.matters.issues.create, new), STATUS)
        return json_answer(issue_wire(made), 201)

    @router.post(
        "/from-chat", openapi_extra=FROM_CHAT.documented, status_code=201,
        summary="Make an issue of your conversation with an agent; its receipts are linked",
    )  # fmt: skip
    @open_to(WORK_ROLES)
    async def from_chat(request: Request) -> Response:
        caller = desk.require(request)
        asked = FROM_CHAT.demand(await request.body())
        chosen = FromChat(
            session_id=asked["sessionId"], title=asked.get("title"), tags=tuple(asked.get("tags", ())),
            priority=asked.get("priority", "normal"), assigned_to=asked.get("assignedTo"),
        )  # fmt: skip
        made = granted(await run_in_threadpool(issues.from_chat, chosen, caller=caller), STATUS)
        return json_answer(issue_wire(made), 201)


def _looking(router: APIRouter, issues: IssueDesk) -> None:
    filters = documented(
        status="open, closed or all.", priority=f"One of {', '.join(PRIORITIES)}.", tag="A tag; may be repeated.",
        assignedTo="Is for this agent or person.", q="Stands in the title or the summary.",
    )  # fmt: skip

    @router.get("", openapi_extra=filters, summary="The issues, the newest first")
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(issues.matters.issues.matching, _wanted(request))
        shown = [heading_wire(each) for each in found[offset : offset + limit]]
        return listing(shown, total=len(found), limit=limit, offset=offset)

    @router.get("/{issue_id}", summary="One issue with its comments; by its id or its number")
    @open_to(EVERY_ROLE)
    async def one(issue_id: str) -> Response:
        found = await run_in_threadpool(issues.matters.issues.get, issue_id)
        return json_answer(issue_wire(granted(found or UNKNOWN, STATUS)))


def _saying(router: APIRouter, desk: HttpContext, issues: IssueDesk) -> None:
    @router.put("/{issue_id}", openapi_extra=CHANGE.documented, summary="Change what is given, and nothing else")
    @open_to(WORK_ROLES)
    async def change(issue_id: str, request: Request) -> Response:
        asked = CHANGE.demand(await request.body())
        _, by = await _speaker(desk, request, issues, asked)
        wanted = Change(
            title=asked.get("title"), body=asked.get("body"), priority=asked.get("priority"),
            tags=None if "tags" not in asked else tuple(asked["tags"]), assigned_to=asked.get("assignedTo"),
            links=None if "links" not in asked else _links(asked),
        )  # fmt: skip
        changed = await run_in_threadpool(issues.matters.issues.change, issue_id, wanted, by=by)
        return json_answer(issue_wire(granted(changed, STATUS)))

    @router.post(
        "/{issue_id}/comments", openapi_extra=COMMENT.documented, responses=_BROKEN, status_code=201,
        summary="Say something about an issue",
    )  # fmt: skip
    @open_to(WORK_ROLES)
    async def comment(issue_id: str, request: Request) -> Response:
        asked = COMMENT.demand(await request.body())
        author, by = await _speaker(desk, request, issues, asked)
        new = NewComment(author=author, body=asked["body"], by=by)
        said = granted(await run_in_threadpool(issues.matters.issues.comment, issue_id, new), STATUS)
        return json_answer(comment_wire(said), 201)


def _moving(router: APIRouter, desk: HttpContext, issues: IssueDesk, move: str, *, needs_person: bool) -> None:
    told = f"{_MOVES[move]}{' (start-up token)' if needs_person else ''}"

    @router.post(f"/{{issue_id}}/{move}", openapi_extra=MOVE.documented, name=move, summary=told)
    @open_to(WORK_ROLES)
    async def moved(issue_id: str, request: Request) -> Response:
        caller = desk.require_person(request) if needs_person else desk.require(request)
        asked = MOVE.demand(await request.body())
        author, by = await _speaker(desk, request, issues, asked)
        done = await run_in_threadpool(
            issues.move, issue_id, move, author=author, by=by, caller=caller, reason=asked.get("reason", "")
        )
        return json_answer(issue_wire(granted(done, STATUS)))


async def _speaker(desk: HttpContext, request: Request, issues: IssueDesk, asked: Mapping[str, Any]) -> tuple[str, By]:
    """Whose word it is, and whether a person's: an agent that is named is an agent, whoever sends its word."""
    agent = asked.get("agent")
    if agent is None:
        return desk.require(request).subject, by_whom(desk, request)
    await require_agent(issues, agent)
    return agent, "agent"


def by_whom(desk: HttpContext, request: Request) -> By:
    """Whether a person asks."""
    return "person" if desk.startup.is_person(request.scope["headers"]) else "agent"


async def require_agent(issues: IssueDesk, agent_id: str) -> None:
    """An agent of the workspace.

    Raises:
        Refused: 404, there is none of this id.
    """
    granted(await run_in_threadpool(issues.check_agent, agent_id), STATUS)


def _links(asked: Mapping[str, Any]) -> tuple[Link, ...]:
    return tuple(Link(**link) for link in asked.get("links", ()))


def _wanted(request: Request) -> Wanted:
    given = request.query_params
    for name, allowed in (("status", (*STATUSES, "all")), ("priority", PRIORITIES)):
        if name in given and given[name] not in allowed:
            raise Refused(400, Category.VALIDATION_ERROR, f"{name} is one of {', '.join(allowed)}")
    status = given.get("status")
    values: dict[str, Any] = {"status": None if status == "all" else status, "priority": given.get("priority")}
    return Wanted(
        **values, tags=tuple(tags_of(given.getlist("tag"))), assigned_to=given.get("assignedTo"), text=given.get("q")
    )


_MOVES = {
    "close": "Settle an issue", "reopen": "Take an issue up again",
    "freeze": "Let only persons go on with an issue", "unfreeze": "Let agents go on with an issue",
}  # fmt: skip
_BROKEN: dict[int | str, dict[str, Any]] = {
    201: {"description": "The comment."},
    409: {"description": "The issue is frozen."},
    429: {"description": "The circuit breaker: too many comments of one agent, or two that only answer each other."},
}
