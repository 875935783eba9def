"""`/v1/…`: agent turns behind the OpenAI wire format; an existing client only needs another base URL."""

import time
from collections.abc import Awaitable, Callable
from secrets import token_hex
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.agents.answers import Answered, Unanswered
from tallystick.agents.chat import Chat, Reported
from tallystick.agents.conversation import Conversation
from tallystick.doors.http.ai_stream import LEFT, ClientLeft, Emit, EventStream, data_line, while_wanted
from tallystick.doors.http.answers import json_answer
from tallystick.doors.http.asgi import Scope
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.openai_answers import (
    DONE,
    Completion,
    chunks,
    completion,
    error_answer,
    model_entry,
    unanswered_answer,
    unfit_answer,
)
from tallystick.doors.http.openai_form import DOCUMENTED
from tallystick.doors.http.openai_wire import ChatRequest, Unfit, read_request
from tallystick.doors.http.problems import RequestRefused
from tallystick.errors import TallyError
from tallystick.gate.role_names import EVERY_ROLE, WORK_ROLES
from tallystick.gate.session import Caller
from tallystick.turns.request import TurnToolPolicy

UNKNOWN_MODEL = "model_not_found"
_BROKEN = "Something went wrong in here; the server's log says what."
_CODES = {401: "invalid_api_key", 403: "role_missing"}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "required": ["message"]}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error, in the format's own words.",
        "content": {"application/json": {"schema": _ERROR}},
    }
}


def openai_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/v1", tags=["openai"])
    conversation = context.conversation

    @router.get("/models", responses=_ERRORS, summary="Agents and endpoints, as models")
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def models(request: Request) -> Response:
        return await _in_their_words(lambda: _models(context, request))

    @router.get("/models/{model:path}", responses=_ERRORS, summary="One of them")
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def model(model: str, request: Request) -> Response:
        return await _in_their_words(lambda: _models(context, request, model))

    @router.post(
        "/chat/completions", openapi_extra=DOCUMENTED, responses=_ERRORS, summary="A grounded, receipted answer"
    )
    @open_to(WORK_ROLES, refuses_itself=True)
    async def complete(request: Request) -> Response:
        return await _in_their_words(lambda: _complete(context, conversation, request))

    return router


async def _in_their_words(work: Callable[[], Awaitable[Response]]) -> Response:
    """Translate every error to the OpenAI format, the only one that client libraries understand."""
    try:
        return await work()
    except (RequestRefused, TallyError) as error:
        return _translated(error)


async def _models(context: HttpContext, request: Request, wanted: str | None = None) -> Response:
    context.require(request)
    entries = [model_entry(*name) for name in await run_in_threadpool(context.conversation.crew.names)]
    if wanted is None:
        return json_answer({"object": "list", "data": entries})
    found = next((entry for entry in entries if entry["id"] == wanted), None)
    return unfit_answer(_no_such_model(entries)) if found is None else json_answer(found)


async def _complete(context: HttpContext, conversation: Conversation, request: Request) -> Response:
    caller = context.require(request)
    asked = read_request(await request.body())
    if isinstance(asked, Unfit):
        return unfit_answer(asked)
    meant = await run_in_threadpool(conversation.crew.named, asked.model)
    if meant is None:
        return unfit_answer(
            _no_such_model([model_entry(*name) for name in await run_in_threadpool(conversation.crew.names)])
        )
    chat = chat_from(asked, caller, agent_id=meant[0], offline=meant[1])
    if asked.stream:
        return EventStream(
            lambda emit: _streamed(conversation, asked, chat, emit), translate=_translated, late=data_line
        )
    try:
        answered = await while_wanted(request.receive, conversation.chat(chat))
    except ClientLeft:
        return Response(status_code=LEFT)
    if isinstance(answered, Unanswered):
        return unanswered_answer(answered)
    return json_answer(completion(_made(asked, answered)))


def chat_from(asked: ChatRequest, caller: Caller, *, agent_id: str, offline: bool) -> Chat:
    """Convert the request to a `Chat`."""
    first_fresh = len(asked.results) - asked.fresh
    return Chat(
        message=asked.message,
        caller=caller,
        agent_id=agent_id,
        offline=offline,
        session_id=asked.session,
        policy=_policy(asked),
        # Clients of this format keep the conversation themselves and send all of it.
        history=asked.history,
        client_tools=() if asked.choice == "none" else asked.tools,
        reported=tuple(
            Reported(receipt_id=result.receipt_id, content=result.content, fresh=place >= first_fresh)
            for place, result in enumerate(asked.results)
        ),
        max_tokens=asked.max_tokens,
    )


def _policy(asked: ChatRequest) -> TurnToolPolicy:
    """Return the tool policy of the request; the client's own tools are always allowed."""
    if asked.choice == "none":
        return TurnToolPolicy(allowed_tools=frozenset())
    # Once there is a tool result, the required call has been made and the agent may answer.
    required = asked.choice == "required" and not asked.results
    if asked.only is not None and required:
        return TurnToolPolicy(allowed_tools=frozenset({asked.only}), require_tool=True)
    own = frozenset(card.name for card in asked.tools)
    return TurnToolPolicy(allowed_tools=None if asked.allowed is None else asked.allowed | own, require_tool=required)


async def _streamed(conversation: Conversation, asked: ChatRequest, chat: Chat, emit: Emit) -> Response | None:
    """Stream the answer; its text is sent only after the reply check, so the first chunk comes when the turn ends."""
    answered = await conversation.chat(chat)
    if isinstance(answered, Unanswered):
        return unanswered_answer(answered)
    for chunk in chunks(_made(asked, answered)):
        emit(data_line(chunk))
    emit(DONE)
    return None


def _made(asked: ChatRequest, answered: Answered) -> Completion:
    return Completion(
        completion_id=f"chatcmpl-{token_hex(12)}", created=int(time.time()), asked=asked, answered=answered
    )


def _translated(error: Exception, _scope: Scope | None = None) -> Response:
    if isinstance(error, RequestRefused):
        message = str(error) if error.hint is None else f"{error}. {error.hint}"
        return error_answer(error.status, _CODES.get(error.status, "refused"), message)
    if isinstance(error, TallyError):
        return error_answer(503, error.code, str(error))
    return error_answer(500, "server_error", _BROKEN)


def _no_such_model(entries: list[dict[str, object]]) -> Unfit:
    known = ", ".join(str(entry["id"]) for entry in entries)
    message = f"There is no such model. There are: {known}."
    return Unfit(code=UNKNOWN_MODEL, message=message, param="model", status=404)
