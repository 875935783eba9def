"""Answers that Tallystick gives to MCP messages itself, each in the form that the revision of its request asks for.

    2024-11-05 to 2025-11-25    `initialize` agrees on one revision for the session; a request names none
    from 2026-07-28 on          no session: each request names its revision in `_meta`, each result names its type

The revisions with a session share one form, so the request alone decides. Errors have the same form in every revision.
Results of a wrapped server pass as they came, and `tally mcp serve` leaves the form of its results to the SDK.
"""

from collections.abc import Iterable
from typing import Any

import orjson

from tallystick.doors.mcp.jsonrpc import Message, written

REVISION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
WITH_SESSION = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
_NOT_CACHED: Message = {"ttlMs": 0, "cacheScope": "private"}


def params_of(request: Message) -> Message:
    """The parameters of a request by name; empty if it has none."""
    params = request.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(request: Message) -> Message:
    """What a request says about itself."""
    meta = params_of(request).get("_meta")
    return meta if isinstance(meta, dict) else {}


def sessionless_revision(request: Message) -> str | None:
    """The revision that a request names, if it is one without a session; None for a request of a session."""
    named = meta_of(request).get(REVISION)
    return named if isinstance(named, str) and named not in WITH_SESSION else None


def tool_error(request: Message, text: str, meta: Message) -> bytes:
    """Answer a call with a tool's result that says why there is none, so that the model reads it.

    Args:
        request: The call that is answered.
        text: For the model.
        meta: For programs, under the keys of `doors.showing.meta`.
    """
    result = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": meta}
    if sessionless_revision(request) is not None:
        result["resultType"] = "complete"
    return orjson.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})


def with_tools(request: Message, response: Message, tools: Iterable[Any]) -> bytes:
    """Answer a request for a list of tools as the server did, but with these tools.

    The client must not keep it: a tool that was left out is shown as soon as a person has accepted it.
    """
    cached = _NOT_CACHED if sessionless_revision(request) is not None else {}
    return written({**response, "result": {**response["result"], "tools": list(tools), **cached}})


def error(ident: Any, code: int, text: str, data: Message | None = None) -> bytes:
    """Answer with an error; to nobody, if the id is none that can be said."""
    said = {"error": {"code": code, "message": text} | ({} if data is None else {"data": data})}
    try:
        return orjson.dumps({"jsonrpc": "2.0", "id": ident, **said})
    except TypeError:
        return orjson.dumps({"jsonrpc": "2.0", "id": None, **said})
