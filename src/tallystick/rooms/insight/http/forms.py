"""What insight's routes take and give, as the documentation shows it: the tools' own schemas."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from tallystick.app.gate import Gate
from tallystick.doors.http.kit import PROBLEM, Refused
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS, Category

MAX_DIGITS = 18
"""A longer number is no id of ours, and no database takes it."""
WHOLE = {"type": "integer", "minimum": 1}
EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "tool.embed.run": {"dataset_id": 1, "backend": "builtin"},
    "tool.cluster.run": {"dataset_id": 1, "algorithm": "ward"},
    "tool.analysis.run": {"dataset_id": 1, "question": "What changed between March and April?"},
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
    """For a route's `responses`: what the tool gives, a held call, and every problem there may be."""
    result = {"description": "The result.", "content": {"application/json": {"schema": _schemas(gate, tool)[1]}}}
    held = {"description": "`held`: a person has to let it through.", "content": {"application/json": {}}}
    return {200: result, 202: held, **PROBLEMS}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {**PROBLEM, "description": words} for status, words in _PROBLEMS.items()
}


def number(text: str, name: str) -> int:
    """A whole number of a path or a query.

    Raises:
        Refused: 400, it is none.
    """
    if not is_number(text):
        raise Refused(400, Category.VALIDATION_ERROR, f"{name} is a whole number from 1", hint=name)
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
