"""Tool calls behind the routes: a request becomes a call through the gate, its outcome the response.

A tool that ran answers with its result and nothing around it; the receipt's id stands in a header. Whatever went wrong
is a problem payload, and has a receipt too. Roles are asked for here and once more at the gate.
"""

from collections.abc import Mapping, Sequence
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
    PROBLEM,
    ROLE_MISSING,
    HttpContext,
    RequestRefused,
    endpoint_of,
    json_answer,
)
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import BAD_ARGS, NO_TOKEN, Category
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import ADMIN_ONLY, ANALYST_ROLES, EVERY_ROLE, HISTORY_ROLES
from tallystick.gate.session import Caller, Session
from tallystick.rooms.insight.room import Insight

MAX_DIGITS = 18
"""No id is longer, and databases reject longer numbers."""
WHOLE = {"type": "integer", "minimum": 1}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "tool.embed.run": {"dataset_id": 1, "backend": "builtin"},
    "tool.cluster.run": {"dataset_id": 1, "algorithm": "ward"},
    "tool.analysis.run": {"dataset_id": 1, "question": "How many tickets were created in March, by department?"},
    "tool.analysis.query": {"dataset_id": 1, "measure": "count", "by": [{"column": "department"}]},
    "tool.prompts.save": {"version": "v2", "template": "Answer in two sentences, with ticket ids: {question}"},
}
_PROBLEMS = {
    400: "`validation_error`: what was sent does not fit; the hint says where.",
    401: "`rbac_denied`: no valid token.",
    403: "`rbac_denied`: the role is missing.",
    404: "`downstream_error`: it is not there.",
    409: "`downstream_error`: something has to be done first, or it changed meanwhile.",
    413: "`validation_error`: the body is too large.",
    422: "`tool_unavailable`: an optional part is not installed.",
    429: "`budget_exceeded`: steps, tokens or cost are spent.",
    502: "`downstream_error`: the tool failed.",
    503: "`tool_unavailable`: the room or the ledger cannot be used.",
    504: "`downstream_error`: it took too long.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {**PROBLEM, "description": words} for status, words in _PROBLEMS.items()
}
RECEIPT = "x-tally-receipt"
ROLES: Mapping[str, frozenset[str]] = {
    "tool.analysis.run": ANALYST_ROLES,
    "tool.cluster.run": ANALYST_ROLES,
    "tool.history.list": HISTORY_ROLES,
    "tool.prompts.save": ADMIN_ONLY,
    **dict.fromkeys(
        (
            "tool.analysis.query",
            "tool.ingest.upload",
            "tool.embed.run",
            "tool.search.nn",
            "tool.reports.get",
            "tool.prompts.list",
            "tool.prompts.load",
        ),
        EVERY_ROLE,
    ),
}
"""Asked for at the router; the tools' own cards say the same to the gate."""


def insight_of(gate: Gate) -> Insight:
    """The insight room."""
    return room_in(gate, "insight", Insight)


async def called(context: HttpContext, request: Request, tool: str, args: Mapping[str, Any] | Rejection) -> Response:
    """Make the call, or have it refused; the answer says which."""
    return answer(await _outcome(context, request, tool, args), tool, endpoint_of(request.scope))


def may_call(context: HttpContext, request: Request, tool: str) -> bool:
    """Whether the caller holds a role of the tool, before anything of the body is read."""
    caller = context.caller(request.scope)
    return isinstance(caller, Caller) and caller.has_any(ROLES[tool])


async def body_args(request: Request) -> dict[str, Any] | Rejection:
    """The arguments that a JSON body holds, read as strictly as any."""
    body = await request.body()
    return parse_json_object(body, len(body))


def answer(outcome: Outcome, tool: str, endpoint: str) -> Response:
    """The response to the client."""
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


async def _outcome(context: HttpContext, request: Request, tool: str, args: Mapping[str, Any] | Rejection) -> Outcome:
    caller = context.caller(request.scope)
    if isinstance(caller, Rejection):
        return await context.gate.refuse(caller, tool, session=HTTP_SESSION, caller=ANONYMOUS)
    where = Session(session_id=HTTP_SESSION, caller=caller)
    if not caller.has_any(ROLES[tool]):
        missing = replace(ROLE_MISSING, proposed_tool=tool)
        return await context.gate.refuse(missing, tool, session=where, caller=caller)
    if isinstance(args, Rejection):
        # What was sent instead of arguments may hold anything, so the receipt does without it.
        return await context.gate.refuse(args, tool, session=where, caller=caller)
    insight_of(context.gate)
    return await context.gate.call(tool, args, session=where)


def body_of(gate: Gate, tool: str) -> dict[str, Any]:
    """For a route's `openapi_extra`: its body is what the tool takes."""
    takes = _schemas(gate, tool)[0]
    schema = takes | {"example": dict(EXAMPLES[tool]) if takes["properties"] else {}}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def query_of(required: Sequence[str] = (), **fields: Mapping[str, Any]) -> dict[str, Any]:
    """For a route's `openapi_extra`: its parameters."""
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": dict(schema)}
            for name, schema in fields.items()
        ]
    }


def answers_of(gate: Gate, tool: str) -> dict[int | str, dict[str, Any]]:
    """For a route's `responses`: the tool's result, a held call, and every problem."""
    result = {"description": "The result.", "content": {"application/json": {"schema": _schemas(gate, tool)[1]}}}
    held = {"description": "`held`: a person has to let it through.", "content": {"application/json": {}}}
    return {200: result, 202: held, **PROBLEMS}


def number(text: str, name: str) -> int:
    """A whole number of a path or a query.

    Raises:
        RequestRefused: 400, it is none.
    """
    if not is_number(text):
        raise RequestRefused(400, Category.VALIDATION_ERROR, f"{name} is a whole number from 1", hint=name)
    return int(text)


def is_number(text: str) -> bool:
    """Whether it is a whole number from 1; `int` would also read other scripts' digits, signs and underscores."""
    return text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS and int(text) > 0


def query_args(request: Request, kinds: Mapping[str, str]) -> dict[str, Any] | Rejection:
    """The parameters of a request as arguments: numbers and truths as such; what is neither stays for the schema.

    One that there is not, and one that is given twice, is refused.

    Args:
        request: The request.
        kinds: Name → `number`, `truth`, `text` or `list`; a list may also be named with `[]` behind it.
    """
    found: dict[str, Any] = {}
    for given, value in request.query_params.multi_items():
        name = given.removesuffix("[]") if kinds.get(given.removesuffix("[]")) == "list" else given
        kind = kinds.get(name)
        if kind is None:
            return Rejection(fault=BAD_ARGS, reason="there is no such parameter")
        if kind == "list":
            found.setdefault(name, []).append(value)
        elif name in found:
            return Rejection(fault=BAD_ARGS, reason="the parameter is given twice", pointer=f"/{name}")
        else:
            found[name] = _read(kind, value)
    return found


def _read(kind: str, text: str) -> Any:
    if kind == "number" and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return int(text)
    if kind == "truth":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    return text


def _schemas(gate: Gate, tool: str) -> tuple[dict[str, Any], dict[str, Any]]:
    card = next((card for card in gate.tools() if card.name == tool), None)
    if card is None:  # the room is not installed; the route says so
        return {"type": "object", "additionalProperties": False, "properties": {}}, {}
    return _plain(card.input_schema), _plain(card.output_schema or {})


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without its own name, which would be another document's to the reader of this one."""
    return {name: value for name, value in schema.items() if name not in {"$schema", "$id"}}
