"""`POST /api/memory/texts`: tell memory a text. It is recorded word for word, and what it states is proposed."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from tallystick.agents.answers import Unanswered
from tallystick.doors.http.kit import HTTP_SESSION, ID, NAME, Form, HttpContext, RequestRefused, json_answer, open_to
from tallystick.gate.codes import Category
from tallystick.gate.role_names import WORK_ROLES
from tallystick.rooms.memory.flows.fill import Text, fill
from tallystick.rooms.memory.flows.remember import Origin
from tallystick.rooms.memory.http.proposals import memory_of
from tallystick.rooms.memory.model import CLASSES

TEXT = Form(
    properties={
        "text": {"type": "string", "minLength": 1, "description": "A text; lines as `Name: words` are a conversation."},
        "source": {**NAME, "description": "Who or what says so."},
        "class": {"type": "string", "enum": list(CLASSES), "description": "What kind of source it is."},
        "episode_id": {**NAME, "description": "The episode it belongs to."},
        "agent": {**NAME, "description": "Whose model reads it, through turns; rules do if not given."},
        "session": {**ID, "description": "The session the receipts belong to."},
    },
    required=("text", "source", "class"),
    example={"text": "Ann: I moved to Lisbon.", "source": "diary", "class": "human", "agent": "archivist"},
)


def memory_text_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/memory", tags=["memory"])

    @router.post(
        "/texts", openapi_extra=TEXT.documented, responses=_FILLED, summary="Record a text and propose from it"
    )
    @open_to(WORK_ROLES)
    async def texts(request: Request) -> Response:
        caller = context.require(request)
        asked = TEXT.demand(await request.body())
        if not asked["text"].strip():
            raise RequestRefused(400, Category.VALIDATION_ERROR, "there is nothing to remember")
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        origin = Origin(
            source_id=asked["source"], source_class=asked["class"], observed_at=now, episode_id=asked.get("episode_id")
        )
        told = Text(
            words=asked["text"],
            origin=origin,
            caller=caller,
            session_id=asked.get("session", HTTP_SESSION),
            agent_id=asked.get("agent"),
        )
        room = memory_of(context)
        reader = await asyncio.to_thread(lambda: room.claims)
        made = await fill(context.gate, told, reader=reader, known=room.queries.known)
        if isinstance(made, Unanswered):
            raise RequestRefused(made.status, made.category, made.code, hint=made.advice)
        return json_answer(made.as_dict())

    return router


_FILLED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The ids of what was recorded, proposed and contradicted, each refusal, and in `unheard` why "
        "the model fell silent, if it did."
    },
    404: {"description": "There is no such agent."},
    409: {"description": "The agent is switched off, or has no model."},
}
