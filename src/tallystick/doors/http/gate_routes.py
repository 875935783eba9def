"""The gate for agent loops in other programs: `/api/gate/…` and `/api/evidence/…`.

`POST /api/gate/call` has a short way, `DirectCall`, because routing, dependency injection and response models take
longer than the gate itself: behind the guard, this one path is served directly from the ASGI messages by the same
function as the documented route; every other request goes to the application.
"""

import logging
from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from tallystick.app.replies import calls_of_session
from tallystick.doors.http import gate_calls
from tallystick.doors.http.answers import CHALLENGE, json_answer, listing, outcome_answer
from tallystick.doors.http.asgi import App, Header, Receive, Scope, Send
from tallystick.doors.http.context import HttpContext, open_to
from tallystick.doors.http.forms import ID, NAME, Form
from tallystick.doors.http.gate_calls import HTTP_SESSION
from tallystick.doors.http.measure import ENDPOINT
from tallystick.doors.http.pagination import documented, page
from tallystick.doors.http.problems import RequestRefused
from tallystick.doors.http.translate import error_answer
from tallystick.gate.codes import NO_ROLE, NO_TOKEN, Category
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.reply.chat_transcripts import (
    TranscriptFault,
    TranscriptFindings,
    check_conversations,
    read_conversation,
)
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.gate.session import Session
from tallystick.gate.tool import Card

_SHOWN = (
    "name",
    "description",
    "effect",
    "roles",
    "audited",
    "idempotent",
    "dry_run",
    "input_schema",
    "output_schema",
)


def gate_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/gate", tags=["gate"])

    @router.post("/call", openapi_extra=gate_calls.CALL.documented, responses=_OUTCOMES, summary="Propose one call")
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def call(request: Request) -> Response:
        return outcome_answer(await gate_calls.call(context, await request.body(), context.caller(request.scope)))

    @router.get("/tools", openapi_extra=documented(), summary="List the tools")
    @open_to(EVERY_ROLE, proposers=True)
    async def tools(request: Request) -> Response:
        limit, offset = page(request)
        cards = context.gate.tools()
        shown = [_card(card) for card in cards[offset : offset + limit]]
        return listing(shown, total=len(cards), limit=limit, offset=offset)

    _turn_routes(router, context)
    return router


def _turn_routes(router: APIRouter, context: HttpContext) -> None:
    @router.post(
        "/turns",
        openapi_extra=gate_calls.TURN.documented,
        responses=_BEGUN,
        status_code=201,
        summary="Begin an agent turn",
    )
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def begin(request: Request) -> Response:
        turn = await gate_calls.begin(context, await request.body(), context.caller(request.scope))
        if isinstance(turn, Outcome):
            return outcome_answer(turn)
        return json_answer({"turn_id": turn.turn_id, "nonce": turn.nonce, "schema": turn.schema}, 201)

    @router.post(
        "/turns/{turn_id}/submit",
        openapi_extra=gate_calls.SUBMIT.documented,
        responses=_OUTCOMES,
        summary="Submit the model's text",
    )
    @open_to(EVERY_ROLE, refuses_itself=True)
    async def submit(turn_id: str, request: Request) -> Response:
        done = await gate_calls.submit(context, turn_id, await request.body(), context.caller(request.scope))
        return outcome_answer(done.outcome, gate_calls.after(done.turn, done.outcome))


def _card(card: Card) -> dict[str, Any]:
    definition = card.definition()
    return {key: definition[key] for key in _SHOWN} | {"version": card.version}


_BEGUN: dict[int | str, dict[str, Any]] = {
    201: {"description": "`turn_id`, the first `nonce`, and the `schema` of the model's next answer."},
    400: {"description": "Rejected: `rejection` says why."},
    401: {"description": "No valid token."},
}
_OUTCOMES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The tool ran: `result`, with the receipt's id; in a turn also the next `nonce`."},
    202: {"description": "Held for a person: `held` names the approval."},
    400: {"description": "Rejected: `rejection` says why; nothing ran."},
    401: {"description": "No valid token."},
    403: {"description": "The role is missing."},
    404: {"description": "The tool said that something is not there."},
    409: {"description": "The room's snapshot is stale, or the tool said so."},
    422: {"description": "An optional part of the tool is missing."},
    429: {"description": "A budget or rate is spent."},
    502: {"description": "The tool failed, or its result broke its schema."},
    503: {"description": "The ledger cannot write: nothing ran."},
    504: {"description": "The tool took too long."},
}


CHECK = Form(
    properties={
        "reply": {"type": "string", "description": "The whole reply, with its Evidence line."},
        "session": {**ID, "description": "The session it was given in: receipts of others prove nothing."},
        "agent": {**NAME, "description": "The agent's id or role; decides where it must look."},
        "form": {"enum": ["line", "per-sentence"], "description": "Where the references stand."},
        "conference": {"type": "boolean", "description": "`ABSTAIN` is an answer, and receipts are the round's."},
        "conference_id": NAME,
        "round_id": NAME,
        "tools_ran": {"type": "boolean", "description": "The reply must then cite a receipt."},
    },
    required=("reply",),
    example={
        "reply": 'She never sails.\nEvidence: "she had never once set foot on a boat" Story/Scenes/SCN-01.md:L12',
        "session": "s1",
        "agent": "critic",
    },
)


def evidence_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/evidence", tags=["evidence"])
    _transcript_route(router, context)

    @router.post("/check", openapi_extra=CHECK.documented, summary="Check what a reply claims")
    @open_to(EVERY_ROLE, proposers=True)
    async def check(request: Request) -> Response:
        caller = context.require(request)
        asked = CHECK.demand(await request.body())
        session = Session(
            session_id=asked.pop("session", HTTP_SESSION),
            caller=caller,
            conference_id=asked.pop("conference_id", None),
            round_id=asked.pop("round_id", None),
        )
        findings = await run_in_threadpool(
            context.gate.check_reply, asked.pop("reply"), session=session, agent=asked.pop("agent", None), **asked
        )
        return json_answer(findings.as_dict())

    return router


TRANSCRIPT = Form(
    properties={
        "messages": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Chat messages in the OpenAI form, with `tool_calls` and the results of the role `tool`.",
        },
        "tools": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The names of the agent's tools; without them, every verb that changes something is judged.",
        },
        "session": {
            **ID,
            "description": "Compare with the recorded calls of this session instead of those of the messages; needs a "
            "role that may read receipts.",
        },
    },
    required=("messages",),
    example={"messages": [{"role": "assistant", "content": "I have sent the letter."}], "tools": ["send_letter"]},
)


def _transcript_route(router: APIRouter, context: HttpContext) -> None:
    @router.post("/transcript", openapi_extra=TRANSCRIPT.documented, summary="Find actions that were said but not done")
    @open_to(EVERY_ROLE, proposers=True)
    async def transcript(request: Request) -> Response:
        caller = context.require(request)
        asked = TRANSCRIPT.demand(await request.body())
        session = asked.get("session")
        if session is not None and not caller.has_any(AUDIT_ROLES):
            hint = f"To compare with a session, one of these roles is needed: {', '.join(sorted(AUDIT_ROLES))}."
            raise RequestRefused(NO_ROLE.http, Category.RBAC_DENIED, "role missing", hint=hint)
        findings = await run_in_threadpool(_check_transcript, context.gate.ledger, asked, session)
        return json_answer(findings.as_dict())


def _check_transcript(ledger: Ledger, asked: Mapping[str, Any], session: str | None) -> TranscriptFindings:
    conversation = read_conversation(asked["messages"], asked.get("tools"))
    if isinstance(conversation, TranscriptFault):
        raise RequestRefused(400, Category.VALIDATION_ERROR, conversation.reason, hint="See /api/docs.")
    recorded = None if session is None else calls_of_session(ledger, session)
    if session is not None and recorded is None:
        raise RequestRefused(404, Category.DOWNSTREAM_ERROR, "no session of this id has receipts")
    return check_conversations([conversation], recorded)


PATH = "/api/gate/call"
_TYPE = (b"content-type", b"application/json")
_log = logging.getLogger("tallystick.http")


class DirectCall:
    """Serves one path in front of the application."""

    def __init__(self, app: App, context: HttpContext) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the call and respond with its outcome, or pass the request on."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope[ENDPOINT] = PATH
        caller = self._context.caller(scope)
        body = await _whole_body(receive)
        try:
            outcome = await gate_calls.call(self._context, body, caller)
            answer, status = orjson.dumps(outcome.as_dict()), outcome.http
        except Exception as error:  # noqa: BLE001 - answered as the application would
            _log.exception("a call failed in the gate itself")
            await error_answer(error, scope)(scope, receive, send)
            return
        headers: list[Header] = [_TYPE, (b"content-length", str(len(answer)).encode())]
        if status == NO_TOKEN.http:
            headers.append(CHALLENGE)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _whole_body(receive: Receive) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)
