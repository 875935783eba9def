"""Insight's tools behind their routes: a request becomes a call through the gate, its outcome the route's answer.

A tool that ran answers with its result and nothing around it; the receipt's id stands in a header. Whatever went wrong
is a problem payload, and has a receipt too. Roles are asked for here and once more at the gate.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from tallystick.app.gate import Gate
from tallystick.app.rooms import room_in
from tallystick.doors.http.kit import (
    ANONYMOUS,
    CHALLENGE,
    HTTP_SESSION,
    JSON,
    ROLE_MISSING,
    HttpContext,
    endpoint_of,
    json_answer,
)
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import NO_TOKEN
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import ADMIN_ONLY, ANALYST_ROLES, EVERY_ROLE, HISTORY_ROLES
from tallystick.gate.session import Caller, Session
from tallystick.rooms.insight.room import Insight

RECEIPT = "x-tally-receipt"
ROLES: Mapping[str, frozenset[str]] = {
    "tool.analysis.run": ANALYST_ROLES,
    "tool.cluster.run": ANALYST_ROLES,
    "tool.history.list": HISTORY_ROLES,
    "tool.prompts.save": ADMIN_ONLY,
    **dict.fromkeys(
        (
            "tool.ingest.upload", "tool.embed.run", "tool.search.nn", "tool.reports.get", "tool.prompts.list",
            "tool.prompts.load",
        ),
        EVERY_ROLE,
    ),
}  # fmt: skip
"""Asked for at the router; the tools' own cards say the same to the gate."""


def insight_of(gate: Gate) -> Insight:
    """The insight room."""
    return room_in(gate, "insight", Insight)


async def called(desk: HttpContext, request: Request, tool: str, args: Mapping[str, Any] | Rejection) -> Response:
    """Make the call, or have it refused; the answer says which."""
    return answer(await _outcome(desk, request, tool, args), tool, endpoint_of(request.scope))


def may_call(desk: HttpContext, request: Request, tool: str) -> bool:
    """Whether the caller holds a role of the tool, before anything of the body is read."""
    caller = desk.caller(request.scope)
    return isinstance(caller, Caller) and caller.has_any(ROLES[tool])


async def body_args(request: Request) -> dict[str, Any] | Rejection:
    """The arguments that a JSON body holds, read as strictly as any."""
    body = await request.body()
    return parse_json_object(body, len(body))


def answer(outcome: Outcome, tool: str, endpoint: str) -> Response:
    """What a client is told."""
    if outcome.held is not None:
        held = {"approval_id": outcome.held.approval_id, "expires_at": outcome.held.expires_at}
        told = json_answer({"held": held, "receipt_id": outcome.receipt_id}, outcome.http)
    elif outcome.ok:
        told = json_answer(outcome.result)
    else:
        problem = outcome.problem()
        problem["error"]["details"] |= {"tool_name": tool, "endpoint": endpoint}
        told = Response(orjson.dumps(problem), status_code=outcome.http, media_type=JSON)
        if outcome.http == NO_TOKEN.http:
            told.raw_headers.append(CHALLENGE)
    told.headers[RECEIPT] = outcome.receipt_id
    return told


async def _outcome(desk: HttpContext, request: Request, tool: str, args: Mapping[str, Any] | Rejection) -> Outcome:
    caller = desk.caller(request.scope)
    if isinstance(caller, Rejection):
        return await desk.gate.refuse(caller, tool, session=HTTP_SESSION, caller=ANONYMOUS)
    where = Session(session_id=HTTP_SESSION, caller=caller)
    if not caller.has_any(ROLES[tool]):
        missing = replace(ROLE_MISSING, proposed_tool=tool)
        return await desk.gate.refuse(missing, tool, session=where, caller=caller)
    if isinstance(args, Rejection):
        # What was sent instead of arguments may hold anything, so the receipt does without it.
        return await desk.gate.refuse(args, tool, session=where, caller=caller)
    insight_of(desk.gate)
    return await desk.gate.call(tool, args, session=where)
