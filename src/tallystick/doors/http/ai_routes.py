"""`/api/ai/…`: chat with an agent, route a message into a task with the Chief of Staff, execute a task."""

from collections.abc import Coroutine, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from tallystick.agents.answers import Unanswered
from tallystick.agents.chat import Chat
from tallystick.agents.conversation import Conversation, Waiting
from tallystick.agents.task_service import Routing, Tasks
from tallystick.app.agents import tasks_of
from tallystick.doors.http.ai_stream import LEFT, ClientLeft, Emit, EventStream, event, while_wanted
from tallystick.doors.http.answers import json_answer, problem_answer
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import ID, NAME, Form
from tallystick.doors.http.translate import error_answer
from tallystick.gate.role_names import WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.turns.request import Progress, TurnToolPolicy
from tallystick.turns.result import Step

_TOOL_POLICY: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "allowedTools": {"type": "array", "items": {"type": "string"}, "description": "The only tools of this turn."},
        "requireTool": {"type": "boolean", "default": False, "description": "Step one must be a tool call."},
    },
}
CHAT = Form(
    properties={
        "message": {"type": "string", "description": "What is asked."},
        "agentId": {**NAME, "description": "Who is asked; the Chief of Staff (`assistant`) if not given."},
        "sessionId": {**ID, "description": "Goes on with a conversation; a new session if not given."},
        "conferenceId": {**NAME, "description": "Your conference it belongs to; its budgets apply."},
        "toolPolicy": _TOOL_POLICY,
        "skipTools": {"type": "boolean", "default": False, "description": "Raw: no tools, no check."},
        "stream": {"type": "boolean", "default": False, "description": "Answer with server-sent events."},
    },
    required=("message",),
    example={"message": "What does SCN-01 say about the storm?", "agentId": "continuity", "sessionId": "s1"},
)
ROUTE = Form(
    properties={
        "message": {"type": "string", "description": "What is wanted, in the user's words."},
        "issueId": {
            **ID,
            "description": "The issue the task belongs to, by id or number; a new one is opened if not given.",
        },
        "sessionId": {**ID, "description": "Where the receipts belong; the issue's own session if not given."},
        "parentPacketId": {**ID, "description": "The packet this one follows from."},
        "choice": {"type": "string", "maxLength": 1000, "description": "The choice of an earlier `clarify` packet."},
    },
    required=("message",),
    example={"message": "Check whether Ada's age is the same in SCN-01 and SCN-04.", "issueId": "7"},
)
EXECUTE = Form(
    properties={
        "packet": {"type": "object", "description": "A task packet, as `/api/ai/chief/route` gives it."},
        "agentId": {**NAME, "description": "Who does it; whom it was routed to if not given."},
        "sessionId": {**ID, "description": "Where the receipts belong; a session of its own if not given."},
    },
    required=("packet",),
    example={"packet": {"packet_id": "pkt_1", "…": "…"}},
)


def ai_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/ai", tags=["agents"])
    _talking(router, context, context.conversation)
    _tasks(router, context, tasks_of(context.gate))
    return router


def _talking(router: APIRouter, context: HttpContext, conversation: Conversation) -> None:
    @router.post("/chat", openapi_extra=CHAT.documented, responses=_CHAT, summary="Talk to an agent")
    @open_to(WORK_ROLES)
    async def chat(request: Request) -> Response:
        caller = context.require(request)
        asked = CHAT.demand(await request.body())
        told = chat_from(asked, caller)
        if asked.get("stream"):
            return EventStream(
                lambda emit: _streamed(conversation, told, emit),
                translate=error_answer,
                late=lambda body: event("error", body),
            )
        return await _answered(request, conversation.chat(told))


def _tasks(router: APIRouter, context: HttpContext, tasks: Tasks) -> None:
    @router.post(
        "/chief/route", openapi_extra=ROUTE.documented, responses=_ROUTED, summary="Make one task of a message"
    )
    @open_to(WORK_ROLES)
    async def route(request: Request) -> Response:
        caller = context.require(request)
        asked = ROUTE.demand(await request.body())
        routing = Routing(
            message=asked["message"],
            caller=caller,
            issue_id=asked.get("issueId"),
            session_id=asked.get("sessionId"),
            parent_packet_id=asked.get("parentPacketId"),
            choice=asked.get("choice"),
        )
        return await _answered(request, tasks.route(routing))

    @router.post("/task/execute", openapi_extra=EXECUTE.documented, responses=_DONE, summary="Carry out a task")
    @open_to(WORK_ROLES)
    async def execute(request: Request) -> Response:
        caller = context.require(request)
        asked = EXECUTE.demand(await request.body())
        doing = tasks.execute(
            asked["packet"], caller=caller, agent_id=asked.get("agentId"), session_id=asked.get("sessionId")
        )
        return await _answered(request, doing)


def chat_from(asked: Mapping[str, Any], caller: Caller) -> Chat:
    """Convert the request body to a `Chat`."""
    policy: Mapping[str, Any] = asked.get("toolPolicy", {})
    allowed = policy.get("allowedTools")
    return Chat(
        message=asked["message"],
        caller=caller,
        agent_id=asked.get("agentId"),
        session_id=asked.get("sessionId"),
        conference_id=asked.get("conferenceId"),
        policy=TurnToolPolicy(
            allowed_tools=None if allowed is None else frozenset(allowed),
            require_tool=policy.get("requireTool", False),
        ),
        skip_tools=asked.get("skipTools", False),
    )


def answer(result: Any) -> Response:
    """Build the response: the result's wire form, or a problem payload with the code as message and advice as hint."""
    if not isinstance(result, Unanswered):
        return json_answer(result.as_dict())
    refused = problem_answer(str(result.category), result.code, result.status, hint=result.advice)
    if result.retry_after_s is not None:
        refused.headers["retry-after"] = str(max(1, round(result.retry_after_s)))
    return refused


async def _answered(request: Request, work: Coroutine[Any, Any, Any]) -> Response:
    """Run the work while the client is connected, and build the response."""
    try:
        return answer(await while_wanted(request.receive, work))
    except ClientLeft:
        return Response(status_code=LEFT)


async def _streamed(conversation: Conversation, told: Chat, emit: Emit) -> Response | None:
    """Emit the turn as events: `queue`, `progress`, `step`, and finally `result`."""
    result = await conversation.chat(told, watch=lambda what: emit(_event_of(what)))
    if isinstance(result, Unanswered):
        return answer(result)
    emit(event("result", result.as_dict()))
    return None


def _event_of(what: Step | Progress | Waiting) -> bytes:
    if isinstance(what, Waiting):
        return event("queue", {"position": what.position})
    if isinstance(what, str):
        return event("progress", {"state": what})
    step = what.as_dict()
    if what.kind == "final":
        # Only the `result` event carries the text, once it has passed its check.
        step["text"] = ""
    return event("step", step)


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {
        "description": "The message is empty or not text; a field does not fit; `tool_unknown` or "
        "`tool_policy_conflict`: the toolPolicy cannot be kept."
    },
    401: {"description": "No valid token."},
    404: {
        "description": "`agent_unknown`: the hint names the agents there are; `conference_unknown`; `issue_unknown`."
    },
    413: {"description": "`message_too_large`, or the body is."},
    429: {"description": "The endpoint has had enough for now; see Retry-After."},
    502: {"description": "The endpoint could not be reached, failed, or made no sense."},
    503: {"description": "The endpoint cannot be used as it is set up: a key, the model or a part is missing."},
    504: {"description": "The endpoint took too long."},
}
_CHAT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`reply` with `evidence` and `receipts`; `null` with `rejected` when it did not pass its check, "
        "or with `stop_hook` when the turn was stopped. With `stream`: events `queue`, `progress`, `step`, and in the "
        "end `result` or `error`."
    },
    **_PROBLEMS,
}
_ROUTED: dict[int | str, dict[str, Any]] = {
    200: {"description": "`packet`, `agent_id` who is to do it, and the `source`: `model`, `router` or `fallback`."},
    **_PROBLEMS,
}
_DONE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The task `receipt` and the `turn`; `stop_hook` says why there is no result."},
    409: {"description": "`task_exists`: another packet of this id is kept."},
    **_PROBLEMS,
}
