"""Parse messages of MCP clients strictly.

The SDK would accept the last of two equal keys and replace bytes that are not UTF-8. So each message is parsed here
first; a refused message leaves a receipt, and the client gets the reason.
"""

from typing import Any

from tallystick.app.gate import Gate
from tallystick.doors.mcp.answers import error
from tallystick.doors.mcp.jsonrpc import CALL, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, read, read_anyhow
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import NOT_AN_OBJECT, parse_json_object
from tallystick.gate.codes import FORMAT
from tallystick.gate.session import Session
from tallystick.records import record

NO_CALL = "a call has a name and arguments by name"
Key = str | int | None
_CODES = {NOT_AN_OBJECT: INVALID_REQUEST, NO_CALL: INVALID_PARAMS}


@record
class Misread:
    """A refused message."""

    rejection: Rejection
    key: Key
    """The request's id, if it is unambiguous."""

    def answer(self, receipt_id: str) -> bytes:
        """Return the JSON-RPC error response."""
        code = _CODES.get(self.rejection.reason, PARSE_ERROR)
        told = {"code": str(self.rejection.code), "receipt_id": receipt_id}
        return error(self.key, code, f"Message refused: {self.rejection.reason}", told)


def read_message(data: bytes, most: int) -> dict[str, Any] | Misread:
    """Parse one JSON object, or return why it is refused."""
    value = parse_json_object(data, most)
    if isinstance(value, Rejection):
        return Misread(rejection=value, key=_key(data, most))
    if value.get("method") == CALL and "id" in value and not _names_a_call(value.get("params")):
        # The SDK would refuse it too, but without a receipt.
        return Misread(rejection=Rejection(fault=FORMAT, reason=NO_CALL), key=_key(data, most))
    return value


async def refuse_message(gate: Gate, misread: Misread, data: bytes, session: Session) -> bytes:
    """Record a refused message and return the error response."""
    outcome = await gate.refuse(misread.rejection, data, session=session)
    return misread.answer(outcome.receipt_id)


def _names_a_call(params: Any) -> bool:
    """Return whether the parameters have a name and, optionally, an object of arguments."""
    given = params if isinstance(params, dict) else {}
    args = given.get("arguments")
    return isinstance(given.get("name"), str) and (args is None or isinstance(args, dict))


def _key(data: bytes, most: int) -> Key:
    """Return the id if a lenient parser can read the message."""
    if len(data) > most:
        return None
    value = read(data) or read_anyhow(data)
    given = value.get("id") if isinstance(value, dict) else None
    return given if type(given) in {str, int} else None
