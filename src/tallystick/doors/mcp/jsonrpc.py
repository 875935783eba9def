"""Parse JSON-RPC messages for the relay, which forwards them as the bytes it received.

A line from the client is parsed strictly if it may contain `tools/call` in any spelling that JSON allows: plain, with
an escaped slash, with escaped letters, or in another encoding. A message that two parsers could read differently
(duplicate keys, a carriage return that some servers treat as the end of a line) is never forwarded unchanged.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson
from jiter import from_json

from tallystick.records import record

LEAST_ID, MOST_ID = -(2**63), 2**64 - 1
"""Many parsers round or wrap integers outside this range."""

CALL = "tools/call"
LIST = "tools/list"
INITIALIZE = "initialize"
DISCOVER = "server/discover"
CANCELLED = "notifications/cancelled"
LIST_CHANGED = b"notifications/tools/list_changed"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
SERVER_ERROR = -32000

Message = dict[str, Any]
Key = tuple[str, Any]
"""An id with its type: 1 and "1" are different requests."""

_SPELLED = re.compile(rb"tools/call|tools/list|\\[u/]|\x00|notifications/cancelled|\"initialize\"").search
_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_CALLED = frozenset({"name", "arguments", "_meta", "task", "inputResponses", "requestState"})
_RESULT_BEFORE = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|-?[0-9]+)\s*,\s*){0,2}"result"\s*:\s*', re.DOTALL
)
_MEMBER = rb'\s*,\s*"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|-?[0-9]+)'
_RESULT_AFTER = tuple(re.compile(rb"(?:%b){%d}\s*\}\s*\Z" % (_MEMBER, count)) for count in range(3))
_MEMBERS = frozenset({"jsonrpc", "id", "result"})
_TAIL = 512
"""Number of bytes at the end of a line that are searched for the members after the result."""
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,19}(?![0-9.eE])|"[^"\\]{0,256}")')


@record
class Ambiguous:
    """A message that parsers could read in more than one way."""

    ident: Any = None
    """The request's id if the id itself is unambiguous, so that the client gets an error response."""


def read_clients(line: bytes) -> Any | Ambiguous:
    """Parse a line from the client, strictly if it may contain a call; None if it is not a message."""
    if _SPELLED(line) is not None:
        message = read_strict(line)
    else:
        message = read(line)
        message = read_anyhow(line) if message is None else message
    parts = message if isinstance(message, list) else [message]
    odd = next((part for part in parts if isinstance(part, dict) and _otherwise_spelled(part)), None)
    return message if odd is None else Ambiguous(ident=odd.get("id"))


def _otherwise_spelled(message: Message) -> bool:
    """Return whether a key differs from a protocol key in case only: some servers treat the two as equal."""
    params = message.get("params")
    named = params if isinstance(params, dict) and message.get("method") == CALL else {}
    return any(
        key not in ours and key.casefold() in ours
        for keys, ours in ((message, _ENVELOPE), (named, _CALLED))
        for key in keys
    )


def read_strict(line: bytes) -> Any | Ambiguous:
    """Parse a line from the client that may contain a call; duplicate keys at any depth make it ambiguous."""
    try:
        return from_json(line, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError:
        pass
    # A lone surrogate is still valid JSON: a sampling response may contain one, and the relay does not judge those.
    try:
        message = json.loads(line.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return Ambiguous()
    return Ambiguous(ident=message.get("id") if isinstance(message, dict) else None) if calls_in(message) else message


def calls_in(message: Any) -> bool:
    """Return whether a message is a call, or a batch that contains one at any depth."""
    return any(part.get("method") == CALL for part in messages_in(message))


def messages_in(message: Any) -> Iterator[Message]:
    """Yield the message itself, or every message in a batch at any depth, in order."""
    left = [message]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += reversed(part)
        elif isinstance(part, dict):
            yield part


def _once(pairs: list[tuple[str, Any]]) -> Message:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key twice")
    return made


def read(line: bytes) -> Any:
    """Parse a line from the server; None if it is not JSON."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def read_anyhow(line: bytes) -> Message | None:
    """Parse a line that only some parsers accept, such as one with a lone surrogate or NaN."""
    try:
        message = json.loads(line) if looks_like_message(line) else None
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def looks_like_message(line: bytes) -> bool:
    """Return whether a line may be a message at all: servers also print other output."""
    text = line.strip()
    return text[:1] in (b"{", b"[") and text[-1:] in (b"}", b"]")


def key_of(message: Message) -> Key | None:
    """Return the key of a request or response; None if it has no valid id."""
    given = message.get("id")
    if type(given) is int:
        return ("int", given) if LEAST_ID <= given <= MOST_ID else None
    return ("str", given) if type(given) is str else None


def is_answer(message: Message) -> bool:
    """Return whether a client could treat this message as a response, whatever other members it has."""
    return "result" in message or "error" in message or not isinstance(message.get("method"), str)


def lenient(ident: Any) -> int | float | str | None:
    """Return an id as a lenient client compares it: 3, 3.0, "3" and " 0x3" may be equal. None if it is invalid."""
    if type(ident) is float:
        return int(ident) if ident.is_integer() else ident
    if type(ident) is not str:
        return ident if type(ident) is int else None
    for reading in (int, lambda text: int(text, 0), lambda text: lenient(float(text))):
        with suppress(ValueError):
            return reading(ident)
    return ident


def key_in_ends(head: bytes, tail: bytes) -> Key | None:
    """Return the id of a message of which only the beginning and the end were kept."""
    before = _ID.search(head[: head.find(b'"result"') if b'"result"' in head else len(head)])
    found = before or next(iter(reversed(list(_ID.finditer(tail[-_TAIL:])))), None)
    value = None if found is None else read(found[1])
    return None if value is None else (type(value).__name__, value)


def one_line(line: bytes) -> bytes:
    """Replace carriage returns inside a message with spaces: some servers treat one as the end of a line."""
    body = line.removesuffix(b"\r")
    return body.replace(b"\r", b" ") if b"\r" in body else line


def result_bytes(line: bytes, message: Message) -> bytes:
    """Return the bytes of a response's result exactly as received.

    The other members are small and their order is known, so both ends of the result are found without scanning it.
    """
    names = list(message)
    before = _RESULT_BEFORE.match(line)
    if before is not None and _MEMBERS.issuperset(names) and "result" in names:
        behind = len(names) - 1 - names.index("result")
        if not behind:
            return line.rstrip()[before.end() : -1].rstrip()
        after = _RESULT_AFTER[behind].search(line, max(before.end(), len(line) - _TAIL))
        if after is not None:
            return line[before.end() : after.start()]
    return orjson.dumps(message.get("result"))


def with_arguments(message: Message, args: Message) -> bytes:
    """Serialise a call with its arguments replaced."""
    params = message.get("params")
    return written({**message, "params": {**(params if isinstance(params, dict) else {}), "arguments": args}})


def written(message: Message) -> bytes:
    """Serialise a message; values that orjson rejects are written by the standard library."""
    try:
        return orjson.dumps(message)
    except TypeError:
        return json.dumps(message, separators=(",", ":")).encode()


def dumped(value: Any) -> bytes:
    """Serialise any JSON value."""
    return orjson.dumps(value)


def request(key: str, method: str, params: Message) -> bytes:
    """Serialise a request that the relay sends itself."""
    return written({"jsonrpc": "2.0", "id": key, "method": method, "params": params})


def notification(method: str, params: Message) -> bytes:
    """Serialise a notification that the relay sends itself."""
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})
