"""`/api/issues…` and `/api/audit/sessions/{session_id}/link-issue`. The agents' memory is in `issue_memory`.

Every caller may read, open and comment. A comment counts as a person's only with the start-up token; any other caller
is a program, and the circuit breaker counts its comments.
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
    RequestRefused,
    documented,
    granted,
    json_answer,
    listing,
    open_to,
    page,
    session_receipts,
)
from tallystick.gate.codes import Category
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE, WORK_ROLES
from tallystick.rooms.studio.issues.model import (
    PRIORITIES,
    STATUSES,
    By,
    Change,
    Heading,
    Issue,
    IssueFilter,
    Link,
    NewComment,
    NewIssue,
)
from tallystick.rooms.studio.issues.rules import UNKNOWN
from tallystick.rooms.studio.issues.wire import FIELDS, MAX_COMMENT, comment_wire, heading_wire, issue_wire, tags_of
from tallystick.rooms.studio.services.issues import FromChat, IssueService

_AGENT: Mapping[str, Any] = {**NAME, "description": "The agent who comments. Default: the caller."}
_LINKS: Mapping[str, Any] = {**FIELDS["links"], "description": "Sources: receipts, sessions, runs, …"}
_GIVEN: dict[str, Mapping[str, Any]] = {
    "title": FIELDS["title"],
    "body": FIELDS["body"],
    "tags": FIELDS["tags"],
    "priority": {**FIELDS["priority"], "type": "string"},
    "assignedTo": {**NAME, "description": "The agent or person it is for."},
    "assigned_to": {**NAME, "description": "Another name of assignedTo."},
    "links": _LINKS,
}
NEW = Form(
    properties={**_GIVEN, "agent": _AGENT},
    required=("title",),
    example={"title": "Mira's compass is silver in SCN-01 and brass in SCN-04", "body": "…", "tags": ["canon"]},
)
CHANGE = Form(
    properties={
        **_GIVEN,
        "assignedTo": {"type": "string", "maxLength": 128, "description": "Empty: nobody."},
        "assigned_to": {"type": "string", "maxLength": 128, "description": "Another name of assignedTo."},
    },
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
        "title": {**FIELDS["title"], "description": "Default: the first question."},
        "tags": FIELDS["tags"],
        "priority": {**FIELDS["priority"], "type": "string"},
        "assignedTo": _GIVEN["assignedTo"],
        "assigned_to": _GIVEN["assigned_to"],
    },
    required=("sessionId",),
    example={"sessionId": "s1", "title": "Is the storm in SCN-01 the one of SCN-07?"},
)
STATUS = {
    "agent_unknown": 404,
    "issue_unknown": 404,
    "memory_unknown": 404,
    "session_unknown": 404,
    "issue_frozen": 409,
    "model_missing": 409,
    "issue_unmoved": 409,
    "person_required": 403,
    "comment_limit": 429,
    "comment_ping_pong": 429,
}


def issue_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/issues", tags=["issues"])
    issues = IssueService(context.gate)
    _opening(router, context, issues)
    _looking(router, issues)
    _saying(router, context, issues)
    for move, needs_person in (("close", False), ("reopen", False), ("freeze", True), ("unfreeze", True)):
        _moving(router, context, issues, move, needs_person=needs_person)
    return router


def _opening(router: APIRouter, context: HttpContext, issues: IssueService) -> None:
    @router.post("", openapi_extra=NEW.documented, status_code=201, summary="Open an issue")
    @open_to(WORK_ROLES)
    async def create(request: Request) -> Response:
        asked = NEW.demand(await request.body())
        author, _ = await _speaker(context, request, issues, asked)
        new = NewIssue(
            title=asked["title"],
            body=asked.get("body", ""),
            opened_by=author,
            tags=tuple(asked.get("tags", ())),
            priority=asked.get("priority", "normal"),
            assigned_to=_assignee(asked),
            links=_links(asked),
        )
        made = granted(await run_in_threadpool(issues.tracker.issues.create, new), STATUS)
        return json_answer(_shown_issue(made), 201)

    @router.post(
        "/from-chat",
        openapi_extra=FROM_CHAT.documented,
        status_code=201,
        summary="Make an issue of your conversation with an agent; its receipts are linked",
    )
    @open_to(WORK_ROLES)
    async def from_chat(request: Request) -> Response:
        caller = context.require(request)
        asked = FROM_CHAT.demand(await request.body())
        chosen = FromChat(
            session_id=asked["sessionId"],
            title=asked.get("title"),
            tags=tuple(asked.get("tags", ())),
            priority=asked.get("priority", "normal"),
            assigned_to=_assignee(asked),
        )
        made = granted(await run_in_threadpool(issues.from_chat, chosen, caller=caller), STATUS)
        return json_answer(_shown_issue(made), 201)


def _looking(router: APIRouter, issues: IssueService) -> None:
    filters = documented(
        status="open, closed or all.",
        priority=f"One of {', '.join(PRIORITIES)}.",
        tag="A tag; may be repeated.",
        assignedTo="Is for this agent or person.",
        q="Stands in the title or the summary.",
    )

    @router.get("", openapi_extra=filters, summary="The issues, the newest first")
    @open_to(EVERY_ROLE)
    async def every(request: Request) -> Response:
        limit, offset = page(request)
        found = await run_in_threadpool(issues.tracker.issues.matching, _wanted(request))
        shown = [_shown_heading(each) for each in found[offset : offset + limit]]
        return listing(shown, total=len(found), limit=limit, offset=offset)

    @router.get("/{issue_id}", summary="One issue with its comments; by its id or its number")
    @open_to(EVERY_ROLE)
    async def one(issue_id: str) -> Response:
        found = await run_in_threadpool(issues.tracker.issues.get, issue_id)
        return json_answer(_shown_issue(granted(found or UNKNOWN, STATUS)))


def _saying(router: APIRouter, context: HttpContext, issues: IssueService) -> None:
    @router.put("/{issue_id}", openapi_extra=CHANGE.documented, summary="Change the given fields")
    @open_to(WORK_ROLES)
    async def change(issue_id: str, request: Request) -> Response:
        asked = CHANGE.demand(await request.body())
        _, by = await _speaker(context, request, issues, asked)
        wanted = Change(
            title=asked.get("title"),
            body=asked.get("body"),
            priority=asked.get("priority"),
            tags=None if "tags" not in asked else tuple(asked["tags"]),
            assigned_to=_assignee(asked),
            links=None if "links" not in asked else _links(asked),
        )
        changed = await run_in_threadpool(issues.tracker.issues.change, issue_id, wanted, by=by)
        return json_answer(_shown_issue(granted(changed, STATUS)))

    @router.post(
        "/{issue_id}/comments",
        openapi_extra=COMMENT.documented,
        responses=_BROKEN,
        status_code=201,
        summary="Say something about an issue",
    )
    @open_to(WORK_ROLES)
    async def comment(issue_id: str, request: Request) -> Response:
        asked = COMMENT.demand(await request.body())
        author, by = await _speaker(context, request, issues, asked)
        new = NewComment(author=author, body=asked["body"], by=by)
        said = granted(await run_in_threadpool(issues.tracker.issues.comment, issue_id, new), STATUS)
        return json_answer(comment_wire(said), 201)


def _moving(router: APIRouter, context: HttpContext, issues: IssueService, move: str, *, needs_person: bool) -> None:
    told = f"{_MOVES[move]}{' (start-up token)' if needs_person else ''}"

    @router.post(f"/{{issue_id}}/{move}", openapi_extra=MOVE.documented, name=move, summary=told)
    @open_to(WORK_ROLES)
    async def moved(issue_id: str, request: Request) -> Response:
        caller = context.require_person(request) if needs_person else context.require(request)
        asked = MOVE.demand(await request.body())
        author, by = await _speaker(context, request, issues, asked)
        done = await run_in_threadpool(
            issues.move, issue_id, move, author=author, by=by, caller=caller, reason=asked.get("reason", "")
        )
        return json_answer(_shown_issue(granted(done, STATUS)))


async def _speaker(
    context: HttpContext, request: Request, issues: IssueService, asked: Mapping[str, Any]
) -> tuple[str, By]:
    """The author, and whether a person: an agent that is named is an agent, whoever sends its word."""
    agent = asked.get("agent")
    if agent is None:
        return context.require(request).subject, by_whom(context, request)
    await require_agent(issues, agent)
    return agent, "agent"


def by_whom(context: HttpContext, request: Request) -> By:
    """Whether the caller is a person."""
    return "person" if context.startup.is_person(request.scope["headers"]) else "agent"


async def require_agent(issues: IssueService, agent_id: str) -> None:
    """An agent of the workspace.

    Raises:
        RequestRefused: 404, there is none of this id.
    """
    granted(await run_in_threadpool(issues.check_agent, agent_id), STATUS)


def _assignee(given: Mapping[str, Any]) -> str | None:
    """Whom the issue is for, under either name; `assignedTo` counts where both are given."""
    assignee: str | None = given.get("assignedTo", given.get("assigned_to"))
    return assignee


def _shown_heading(heading: Heading) -> dict[str, Any]:
    """A heading as this API answers it, its assignee under both names."""
    return heading_wire(heading) | {"assignedTo": heading.assigned_to}


def _shown_issue(issue: Issue) -> dict[str, Any]:
    """A whole issue as this API answers it."""
    return issue_wire(issue) | {"assignedTo": issue.assigned_to}


def _links(asked: Mapping[str, Any]) -> tuple[Link, ...]:
    return tuple(Link(**link) for link in asked.get("links", ()))


def _wanted(request: Request) -> IssueFilter:
    given = request.query_params
    for name, allowed in (("status", (*STATUSES, "all")), ("priority", PRIORITIES)):
        if name in given and given[name] not in allowed:
            raise RequestRefused(400, Category.VALIDATION_ERROR, f"{name} is one of {', '.join(allowed)}")
    status = given.get("status")
    values: dict[str, Any] = {"status": None if status == "all" else status, "priority": given.get("priority")}
    return IssueFilter(
        **values, tags=tuple(tags_of(given.getlist("tag"))), assigned_to=_assignee(given), text=given.get("q")
    )


_MOVES = {
    "close": "Settle an issue",
    "reopen": "Take an issue up again",
    "freeze": "Freeze an issue: only people may comment",
    "unfreeze": "Unfreeze an issue",
}
_BROKEN: dict[int | str, dict[str, Any]] = {
    201: {"description": "The comment."},
    409: {"description": "The issue is frozen."},
    429: {"description": "The circuit breaker: too many comments of one agent, or two that only answer each other."},
}


LINK = Form(
    properties={"issueId": {**ID, "description": "The issue, by its id or its number."}},
    required=("issueId",),
    example={"issueId": "12"},
)


def issue_link_routes(context: HttpContext) -> APIRouter:
    """Build the route."""
    router = APIRouter(prefix="/api/audit", tags=["audit"])
    issues = IssueService(context.gate)

    @router.post(
        "/sessions/{session_id}/link-issue",
        openapi_extra=LINK.documented,
        summary="Link a session's receipts into an issue",
    )
    @open_to(AUDIT_ROLES)
    async def link_issue(session_id: str, request: Request) -> Response:
        asked = LINK.demand(await request.body())
        await run_in_threadpool(session_receipts, context.gate.ledger, session_id)
        linked = granted(
            await run_in_threadpool(issues.link, session_id, asked["issueId"], by=by_whom(context, request)), STATUS
        )
        return json_answer({"issueId": linked.issue_id, "sessionId": session_id, "receipts": linked.receipts})

    return router
