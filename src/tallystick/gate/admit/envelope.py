"""Model text → Envelope or Rejection.

A model proposes a call with one JSON object and nothing else:

    step one            {"tool": …, "args": {…}, "nonce": …}
    after a result      {"action": "tool", "tool": …, "args": {…}, "nonce": …}
                        {"action": "final", "nonce": …}

Parsing is strict: a code fence, a greeting, a second object or an unknown field is rejected, and nothing runs. The one
exception is a leading thinking block, because some models cannot omit it; it is stripped and counted, or rejected.
"""

import re
from typing import Any

from jiter import from_json

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import (
    EXTRA_TEXT,
    LONE_SURROGATE,
    NOT_AN_OBJECT,
    NOT_UTF8,
    TOO_LARGE,
    check_json_value,
    numbers_unfit,
    parse_json_object,
    parse_strict,
    refuse,
    why_not_json,
)
from tallystick.gate.admit.toolsyntax import looks_like_tool_call
from tallystick.gate.codes import COT, MULTIPLE, NONCE
from tallystick.records import record

__all__ = [
    "MAX_ENVELOPE_BYTES",
    "Envelope",
    "check_json_value",
    "looks_like_tool_call",
    "open_envelope",
    "parse_json_object",
    "parse_strict",
]

MAX_ENVELOPE_BYTES = 64 * 1024
"""Bytes, not characters: one visible letter can carry thousands of combining marks."""

# Reasons are fixed strings: safe to log and count, and free of model output. `docs/protocol.md` lists them word for
# word, so their wording cannot change.

# A thinking block precedes the JSON object.
THINKING = "a thinking block stands before the object"
TWO_OBJECTS = "more than one object"
UNKNOWN_FIELD = "unknown top-level field"
MISSING_FIELD = "a field of the envelope is missing"
UNKNOWN_ACTION = "action is neither tool nor final"
TOOL_NOT_TEXT = "tool is not a string"
ARGS_NOT_OBJECT = "args is not an object"
NONCE_MALFORMED = "nonce is missing or not a string"

# The exact fields of each message form.
_FIRST = frozenset({"tool", "args", "nonce"})
_LATER = frozenset({"action", "tool", "args", "nonce"})
_FINAL = frozenset({"action", "nonce"})

# Only the four white-space characters of JSON; the wider sets of Unicode and Python would admit other text.
_WHITE = b" \t\n\r"
# Only possessive quantifiers and fixed strings, so that no input causes backtracking.
_SPACES = re.compile(rb"[ \t\n\r]*+")
_CLOSES = {b"<think>": b"</think>", b"<thinking>": b"</thinking>", b"[thinking]": b"[/thinking]"}
_OPENING = re.compile(rb"<think>|<thinking>|\[thinking\]", re.IGNORECASE)
_CLOSING = re.compile(rb"</think>|</thinking>|\[/thinking\]", re.IGNORECASE)
# A string token extends to its closing quote or to the end of the text, so that no text is scanned twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


@record
class Envelope:
    """A well-formed message; its nonce is not verified yet and its tool not looked up."""

    final: bool
    """`{"action":"final"}`: the model calls no tool and wants to give its final answer."""
    tool: str
    args: dict[str, Any]
    nonce: str
    cot_leak: bool
    """Whether a thinking block was stripped."""


def open_envelope(
    text: str | bytes, *, first: bool, may_finish: bool = False, cot: str = "strip"
) -> Envelope | Rejection:
    """Parse a model's message as one strict envelope.

    Args:
        text: The message as received.
        first: Whether this is step one of the turn (the model has seen no tool result yet).
        may_finish: Whether `{"action":"final"}` is admitted on step one.
        cot: `strip` removes a thinking block before the object, `reject` rejects the message.
    """
    data = _bytes_of(text)
    if isinstance(data, Rejection):
        return data
    # No cache: arguments may be secrets, and jiter's cache would keep them for the lifetime of the process.
    # The usual message parses at once; errors are diagnosed only if it does not.
    try:
        message = from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        return _open_otherwise(data, str(error), first=first, may_finish=may_finish, cot=cot)
    return _read(message, data, first=first, may_finish=may_finish, cot_leak=False)


def _bytes_of(text: str | bytes) -> bytes | Rejection:
    """Encode the message as UTF-8; reject it if it is too large or cannot be encoded."""
    # UTF-8 has at least one byte per character, so a huge text is rejected before it is encoded.
    if len(text) > MAX_ENVELOPE_BYTES:
        return refuse(TOO_LARGE)
    if isinstance(text, bytes):
        return text
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return refuse(LONE_SURROGATE)
    return data if len(data) <= MAX_ENVELOPE_BYTES else refuse(TOO_LARGE)


def _read(message: Any, data: bytes, *, first: bool, may_finish: bool, cot_leak: bool) -> Envelope | Rejection:
    """Extract the fields of a parsed message; the well-formed call is checked first, since it is the usual case."""
    if type(message) is not dict:
        return refuse(NOT_AN_OBJECT)
    # If the field count is right and every expected field is present, there is no unknown field.
    if len(message) == (3 if first else 4) and (first or message.get("action") == "tool"):
        tool, args, nonce = message.get("tool"), message.get("args"), message.get("nonce")
        if type(tool) is str and type(args) is dict and type(nonce) is str and nonce:
            # depth=1: the envelope itself is the first nesting level.
            unfit = numbers_unfit(args, data, depth=1)
            return unfit or Envelope(final=False, tool=tool, args=args, nonce=nonce, cot_leak=cot_leak)
    return _read_rest(message, first=first, may_finish=may_finish, cot_leak=cot_leak)


def _read_rest(message: dict[str, Any], *, first: bool, may_finish: bool, cot_leak: bool) -> Envelope | Rejection:
    """Return the final envelope, or the reason why the message is not an envelope.

    The form is checked before the nonce: in a message of another form, the field `nonce` has no meaning.
    """
    # On step one of a turn that may not finish, `action` is an unknown field.
    final = message.get("action") == "final" and (may_finish or not first)
    fields = _FINAL if final else _FIRST if first else _LATER
    if not message.keys() <= fields:
        return refuse(UNKNOWN_FIELD)
    if not fields - {"nonce"} <= message.keys():
        return refuse(MISSING_FIELD)
    # Missing, null, a number and empty share one reason; distinguishing them would help nobody.
    nonce = message.get("nonce")
    if type(nonce) is not str or not nonce:
        return refuse(NONCE_MALFORMED, fault=NONCE)
    if final:
        return Envelope(final=True, tool="", args={}, nonce=nonce, cot_leak=cot_leak)
    if not first and message["action"] != "tool":
        return refuse(UNKNOWN_ACTION)
    return refuse(TOOL_NOT_TEXT if type(message["tool"]) is not str else ARGS_NOT_OBJECT)


def _open_otherwise(data: bytes, finding: str, *, first: bool, may_finish: bool, cot: str) -> Envelope | Rejection:
    """Strip leading thinking blocks and parse again, or return the reason for the rejection.

    Only messages that do not parse unchanged get here, so tags inside a valid object are never touched.
    """
    start = _end_of_thinking(data)
    if start == 0:
        return _why_refused(data, finding)
    if not _is_text(data[:start]):
        # The stripped block is part of the message, and the whole message must be valid UTF-8.
        return refuse(NOT_UTF8)
    if cot == "reject":
        return refuse(THINKING, fault=COT)
    rest = data[start:]
    try:
        message = from_json(rest, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        return _why_refused(rest, str(error))
    return _read(message, rest, first=first, may_finish=may_finish, cot_leak=True)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _why_refused(data: bytes, finding: str) -> Rejection:
    """Return the rejection; two objects get their own fault, since the model needs a different hint for them."""
    reason = why_not_json(finding, data)
    if reason == EXTRA_TEXT and _after_first_object(data).startswith(b"{"):
        return refuse(TWO_OBJECTS, fault=MULTIPLE)
    return refuse(reason)


def _after_first_object(data: bytes) -> bytes:
    """Return the text after the leading object, without leading white space.

    jiter has parsed that object without error, so its brackets match and only strings must be skipped.
    """
    text = data.lstrip(_WHITE)
    depth = 0
    if text[:1] == b"{":
        for token in _TOKEN.finditer(text):
            bracket = token.group()
            depth += bracket in {b"{", b"["}
            depth -= bracket in {b"}", b"]"}
            if depth == 0:
                return text[token.end() :].lstrip(_WHITE)
    return b""


def _end_of_thinking(data: bytes) -> int:
    """Return the offset after the leading thinking blocks; 0 if there are none.

    A closing tag without an opening one ends a block that the chat template opened, so the text before it is stripped
    too, unless it contains a brace: from the first brace on, tags are data.
    """
    # A byte order mark must be reported as an error, not stripped with a thinking block.
    if data.startswith(b"\xef\xbb\xbf"):
        return 0
    # `bytes.lower` changes only ASCII, so offsets are the same in both.
    lowered = data.lower()
    brace = data.find(b"{")
    position = 0
    while True:
        at = _SPACES.match(data, position).end()  # type: ignore[union-attr] # it also matches the empty string
        opening = _OPENING.match(data, at)
        if opening is not None:
            closing = _CLOSES[opening[0].lower()]
            end = lowered.find(closing, at)
            # In an unclosed block, the start of the object cannot be determined.
            if end < 0:
                return position
            position = end + len(closing)
            continue
        # Ignore a brace inside a stripped block.
        if 0 <= brace < at:
            brace = data.find(b"{", at)
        orphan = _CLOSING.search(data, at, len(data) if brace < 0 else brace)
        if orphan is None:
            return position
        position = orphan.end()
