"""Build the MCP responses that Tallystick sends itself, in the form that the request's protocol revision requires.

    2024-11-05 to 2025-11-25    `initialize` agrees on one revision for the session; requests name none
    from 2026-07-28 on          no session: each request names its revision in `_meta`, each result names its type

All revisions with a session share one response form, so the request alone decides. Errors have the same form in every
revision. The relay passes results of a wrapped server on unchanged, and `tally mcp serve` leaves the form of its
results to the SDK.
"""

from collections.abc import Iterable
from typing import Any

import orjson

from tallystick.doors.mcp.jsonrpc import Message, written

REVISION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
WITH_SESSION = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
_NOT_CACHED: Message = {"ttlMs": 0, "cacheScope": "private"}


def params_of(request: Message) -> Message:
    """Return the named parameters of a request; empty if it has none."""
    params = request.get("params")
    return params if isinstance(params, dict) else {}


def meta_of(request: Message) -> Message:
    """Return the `_meta` object of a request; empty if it has none."""
    meta = params_of(request).get("_meta")
    return meta if isinstance(meta, dict) else {}


def sessionless_revision(request: Message) -> str | None:
    """Return the revision a request names if that revision has no sessions; None for a request within a session."""
    named = meta_of(request).get(REVISION)
    return named if isinstance(named, str) and named not in WITH_SESSION else None


def tool_error(request: Message, text: str, meta: Message) -> bytes:
    """Build a tool result with `isError` that tells the model why the call has no result.

    Args:
        request: The call to answer.
        text: The message for the model.
        meta: The details for programs, under the keys of `doors.presentation.meta`.
    """
    result = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": meta}
    if sessionless_revision(request) is not None:
        result["resultType"] = "complete"
    return orjson.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})


def with_tools(request: Message, response: Message, tools: Iterable[Any]) -> bytes:
    """Return the server's `tools/list` response with these tools instead of its own.

    The client must not cache it: a tool that was left out appears as soon as a person accepts it.
    """
    cached = _NOT_CACHED if sessionless_revision(request) is not None else {}
    return written({**response, "result": {**response["result"], "tools": list(tools), **cached}})


def error(ident: Any, code: int, text: str, data: Message | None = None) -> bytes:
    """Build a JSON-RPC error response; its id is null if the given id cannot be serialised."""
    said = {"error": {"code": code, "message": text} | ({} if data is None else {"data": data})}
    try:
        return orjson.dumps({"jsonrpc": "2.0", "id": ident, **said})
    except TypeError:
        return orjson.dumps({"jsonrpc": "2.0", "id": None, **said})
