"""`GET /api/memory/…`: what memory knows, and why. Nothing here changes anything."""

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from tallystick.doors.http.kit import HttpContext, RequestRefused, json_answer, open_to
from tallystick.gate.codes import Category
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.rooms.memory.http.proposals import memory_of
from tallystick.rooms.memory.recall.answers import ITEMS, MAX_ITEMS, MAX_TOKENS, TOKENS
from tallystick.rooms.memory.recall.queries import MemoryQueries
from tallystick.rooms.memory.times import seconds

JSON_LD = "application/ld+json"
MAX_DIGITS = 15


def memory_query_routes(context: HttpContext) -> APIRouter:
    """Build the routes."""
    router = APIRouter(prefix="/api/memory", tags=["memory"])
    _recall(router, context)
    _propositions(router, context)
    _whole(router, context)
    return router


def _recall(router: APIRouter, context: HttpContext) -> None:
    @router.get("/recall", summary="What memory knows about a question", openapi_extra=_documented(**_RECALL))
    @open_to(EVERY_ROLE)
    async def recall(request: Request) -> Response:
        asked = _asked(request)
        found = await run_in_threadpool(lambda: _queries(context).ask(**asked))
        return json_answer(found.as_dict())


def _propositions(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/propositions/{proposition_id}/explain",
        summary="Why it stands as it does",
        openapi_extra=_documented(as_of_seq="As it stood at this place of the log."),
    )
    @open_to(EVERY_ROLE)
    async def explain(proposition_id: str, request: Request) -> Response:
        then = _number(request, "as_of_seq")
        return json_answer(
            _there(await run_in_threadpool(lambda: _queries(context).explain(proposition_id, as_of_seq=then)))
        )

    @router.get("/propositions/{proposition_id}/supports", summary="The fewest observations it rests on")
    @open_to(EVERY_ROLE)
    async def supports(proposition_id: str) -> Response:
        return json_answer(_there(await run_in_threadpool(lambda: _queries(context).minimal_supports(proposition_id))))

    @router.get(
        "/propositions/{proposition_id}/what-if",
        summary="How it would stand had a source never spoken",
        openapi_extra=_documented(without="The source's id."),
    )
    @open_to(EVERY_ROLE)
    async def what_if(proposition_id: str, request: Request) -> Response:
        without = request.query_params.get("without")
        if not without:
            raise RequestRefused(
                400, Category.VALIDATION_ERROR, "without is missing", hint="Name the source to leave out."
            )
        return json_answer(
            _there(await run_in_threadpool(lambda: _queries(context).what_if(proposition_id, without=without)))
        )


def _whole(router: APIRouter, context: HttpContext) -> None:
    @router.get(
        "/diff",
        summary="What changed between two places of the log",
        openapi_extra=_documented(from_seq="After this place.", to_seq="Up to this one; the end, if not given."),
    )
    @open_to(EVERY_ROLE)
    async def diff(request: Request) -> Response:
        first, last = _number(request, "from_seq"), _number(request, "to_seq")
        if first is None:
            raise RequestRefused(400, Category.VALIDATION_ERROR, "from_seq is missing", hint="Give a place of the log.")
        return json_answer(await run_in_threadpool(lambda: _queries(context).diff(first, last)))

    @router.get("/export", responses=_EXPORTED, response_class=StreamingResponse, summary="All of memory as JSON-LD")
    @open_to(AUDIT_ROLES)
    async def export() -> Response:
        # Everything anybody ever said: a role of its own, as for receipts.
        pieces = await run_in_threadpool(lambda: _queries(context).json_ld())
        return StreamingResponse(iter(pieces), media_type=JSON_LD)


_EXPORTED: dict[int | str, dict[str, Any]] = {200: {"description": "The document.", "content": {JSON_LD: {}}}}


def _queries(context: HttpContext) -> MemoryQueries:
    return memory_of(context).queries


_RECALL = {
    "query": "A question, or words.",
    "entity": "Only facts about this subject.",
    "predicate": "Only facts with this predicate.",
    "as_of_seq": "As it stood at this place of the log.",
    "valid_at": "Only facts about this time, RFC 3339.",
    "limit": f"Facts and texts together, at most {MAX_ITEMS}; {ITEMS} if not given.",
    "tokens": f"At most {MAX_TOKENS}; {TOKENS} if not given.",
}


def _asked(request: Request) -> dict[str, Any]:
    given = request.query_params
    asked: dict[str, Any] = {name: given[name] for name in ("query", "entity", "predicate") if given.get(name)}
    if not asked.get("query", "").strip() and not asked.keys() & {"entity", "predicate"}:
        raise RequestRefused(
            400, Category.VALIDATION_ERROR, "nothing is asked", hint="Give query, entity or predicate."
        )
    for name, most in (("limit", MAX_ITEMS), ("tokens", MAX_TOKENS)):
        number = _number(request, name)
        if number is not None:
            if not 1 <= number <= most:
                raise RequestRefused(400, Category.VALIDATION_ERROR, f"{name} is 1 to {most}")
            asked[name] = number
    then = _number(request, "as_of_seq")
    if then is not None:
        asked["as_of_seq"] = then
    if "valid_at" in given:
        moment = seconds(given["valid_at"])
        if moment is None:
            hint = "Write it as 2026-01-31T12:00:00Z."
            raise RequestRefused(400, Category.VALIDATION_ERROR, "valid_at is not a time", hint=hint)
        asked["valid_at"] = moment
    return asked


def _there(found: dict[str, Any] | None) -> dict[str, Any]:
    if found is None:
        hint = "GET /api/memory/recall gives the ids."
        raise RequestRefused(404, Category.VALIDATION_ERROR, "there is no such proposition", hint=hint)
    return found


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"{name} is a whole number")
    return int(text)


def _documented(**parameters: str) -> dict[str, Any]:
    return {
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}, "description": meaning}
            for name, meaning in parameters.items()
        ]
    }
