"""Messages of MCP clients, read as strictly as everything else that comes in.

The SDK would take the last of two equal keys and replace letters that are no UTF-8. So each message is read here
first; what is refused leaves a receipt, and the client is told why.
"""

import contextlib
from typing import Any

import orjson

from tallystick.bootstrap import Gate
from tallystick.doors.mcp.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import NOT_AN_OBJECT, parse_json_object
from tallystick.gate.session import Session
from tallystick.records import record

Key = str | int | None


@record
class Misread:
    """A message that is not taken."""

    rejection: Rejection
    key: Key
    """The request's id, where there is no doubt about it."""

    def answer(self, receipt_id: str) -> bytes:
        """The JSON-RPC error."""
        code = INVALID_REQUEST if self.rejection.reason == NOT_AN_OBJECT else PARSE_ERROR
        told = {"code": str(self.rejection.code), "receipt_id": receipt_id}
        message = {"code": code, "message": f"Message refused: {self.rejection.reason}", "data": told}
        return orjson.dumps({"jsonrpc": "2.0", "id": self.key, "error": message})


def read_message(data: bytes, most: int) -> dict[str, Any] | Misread:
    """One JSON object, or why not."""
    value = parse_json_object(data, most)
    return Misread(rejection=value, key=_key(data, most)) if isinstance(value, Rejection) else value


async def refuse_message(gate: Gate, misread: Misread, data: bytes, session: Session) -> bytes:
    """Record a message that was not taken; gives the answer to it."""
    outcome = await gate.refuse(misread.rejection, data, session=session)
    return misread.answer(outcome.receipt_id)


def _key(data: bytes, most: int) -> Key:
    """The id, if the message is JSON to a reader that minds less."""
    if len(data) > most:
        return None
    with contextlib.suppress(orjson.JSONDecodeError):
        value = orjson.loads(data)
        given = value.get("id") if isinstance(value, dict) else None
        return given if type(given) in {str, int} else None
    return None
