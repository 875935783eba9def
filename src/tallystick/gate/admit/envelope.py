"""Model text → Envelope or Rejection.

A model proposes a call with one JSON object and nothing else:

    step one            {"tool": …, "args": {…}, "nonce": …}
    after a result      {"action": "tool", "tool": …, "args": {…}, "nonce": …}
                        {"action": "final", "nonce": …}

There is no lenient reading. A fence, a greeting, a second object, an unknown field: nothing runs. The one thing that
is put aside is a thinking block in front, because some models cannot leave it out; it is counted, or refused.
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
"""Bytes, not characters: a letter with thousands of combining marks is short only to the eye."""

# Reasons are fixed strings: they can be logged and counted, and nothing a model wrote can hide in one.
THINKING = "a thinking block stands before the object"
TWO_OBJECTS = "more than one object"
UNKNOWN_FIELD = "unknown top-level field"
MISSING_FIELD = "a field of the envelope is missing"
UNKNOWN_ACTION = "action is neither tool nor final"
TOOL_NOT_TEXT = "tool is not a string"
ARGS_NOT_OBJECT = "args is not an object"
NONCE_MALFORMED = "nonce is missing or not a string"

# The fields of each form, exactly.
_FIRST = frozenset({"tool", "args", "nonce"})
_LATER = frozenset({"action", "tool", "args", "nonce"})
_FINAL = frozenset({"action", "nonce"})

# White space is JSON's four; what Unicode or Python count besides would let other text through.
_WHITE = b" \t\n\r"
# Possessive and fixed texts only: no input makes these look at a place twice.
_SPACES = re.compile(rb"[ \t\n\r]*+")
_CLOSES = {b"<think>": b"</think>", b"<thinking>": b"</thinking>", b"[thinking]": b"[/thinking]"}
_OPENING = re.compile(rb"<think>|<thinking>|\[thinking\]", re.IGNORECASE)
_CLOSING = re.compile(rb"</think>|</thinking>|\[/thinking\]", re.IGNORECASE)
# A string runs to its closing quote or to the end of the text, so that no text is looked at twice.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


@record
class Envelope:
    """A well-formed message. The nonce has not been compared yet, the tool not looked up."""

    final: bool
    """`{"action":"final"}`: no tool, the model wants to answer."""
    tool: str
    args: dict[str, Any]
    nonce: str
    cot_leak: bool
    """A thinking block was put aside."""


def open_envelope(
    text: str | bytes, *, first: bool, may_finish: bool = False, cot: str = "strip"
) -> Envelope | Rejection:
    """Read a model's message as one strict envelope.

    Args:
        text: The message as it came.
        first: Step one of the turn (no tool result has been shown yet).
        may_finish: Whether `{"action":"final"}` is admitted on step one.
        cot: `strip` puts a thinking block before the object aside, `reject` refuses it.
    """
    data = _bytes_of(text)
    if isinstance(data, Rejection):
        return data
    # No cache: arguments may be secrets, and jiter's would keep them for the whole process.
    # The usual message parses as it stands; what is wrong with the others is worked out only then.
    try:
        message = from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        return _open_otherwise(data, str(error), first=first, may_finish=may_finish, cot=cot)
    return _read(message, data, first=first, may_finish=may_finish, cot_leak=False)


def _bytes_of(text: str | bytes) -> bytes | Rejection:
    """The message as UTF-8, if it is not too large and can be written as such."""
    # Text is never shorter in bytes than in characters, so a huge one is refused before it is encoded.
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
    """Take the fields out of a parsed message; the well-formed call first, since it is the usual one."""
    if type(message) is not dict:
        return refuse(NOT_AN_OBJECT)
    # So many fields, and each of these among them: then there is no other.
    if len(message) == (3 if first else 4) and (first or message.get("action") == "tool"):
        tool, args, nonce = message.get("tool"), message.get("args"), message.get("nonce")
        if type(tool) is str and type(args) is dict and type(nonce) is str and nonce:
            # The envelope around the arguments is the first level.
            unfit = numbers_unfit(args, data, depth=1)
            return unfit or Envelope(final=False, tool=tool, args=args, nonce=nonce, cot_leak=cot_leak)
    return _read_rest(message, first=first, may_finish=may_finish, cot_leak=cot_leak)


def _read_rest(message: dict[str, Any], *, first: bool, may_finish: bool, cot_leak: bool) -> Envelope | Rejection:
    """The wish to finish, or the reason why this is no envelope.

    Form comes before the nonce: a message of another form has no nonce, only a field of that name.
    """
    # On step one of a turn that may not finish, `action` is simply an unknown field.
    final = message.get("action") == "final" and (may_finish or not first)
    fields = _FINAL if final else _FIRST if first else _LATER
    if not message.keys() <= fields:
        return refuse(UNKNOWN_FIELD)
    if not fields - {"nonce"} <= message.keys():
        return refuse(MISSING_FIELD)
    # Missing, null, a number, empty: one answer for all, since none of them is a guess worth telling apart.
    nonce = message.get("nonce")
    if type(nonce) is not str or not nonce:
        return refuse(NONCE_MALFORMED, fault=NONCE)
    if final:
        return Envelope(final=True, tool="", args={}, nonce=nonce, cot_leak=cot_leak)
    if not first and message["action"] != "tool":
        return refuse(UNKNOWN_ACTION)
    return refuse(TOOL_NOT_TEXT if type(message["tool"]) is not str else ARGS_NOT_OBJECT)


def _open_otherwise(data: bytes, finding: str, *, first: bool, may_finish: bool, cot: str) -> Envelope | Rejection:
    """Put a thinking block aside and read again, or say what is wrong.

    Only what does not parse as it stands comes here, so tags inside an object are never touched.
    """
    start = _end_of_thinking(data)
    if start == 0:
        return _why_refused(data, finding)
    if not _is_text(data[:start]):
        # What is put aside is part of the message too, and the whole message is text.
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
    """The reason, with two objects told apart from other extra text: a model that does that needs another hint."""
    reason = why_not_json(finding, data)
    if reason == EXTRA_TEXT and _after_first_object(data).startswith(b"{"):
        return refuse(TWO_OBJECTS, fault=MULTIPLE)
    return refuse(reason)


def _after_first_object(data: bytes) -> bytes:
    """What follows the object the text begins with, without white space.

    jiter has read that object without complaint, so brackets match here and only strings must be stepped over.
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
    """Where the text begins after the thinking blocks in front; 0 if there are none.

    A closing tag without its opening one ends a block that the chat template began, so what stands before it goes
    too, as long as no brace does: from the first brace on, tags are data.
    """
    # A byte order mark is no thought, and must not go with one.
    if data.startswith(b"\xef\xbb\xbf"):
        return 0
    # Bytes lower only ASCII, so places in both are the same.
    lowered = data.lower()
    brace = data.find(b"{")
    position = 0
    while True:
        at = _SPACES.match(data, position).end()  # type: ignore[union-attr] # it matches nothing, too
        opening = _OPENING.match(data, at)
        if opening is not None:
            closing = _CLOSES[opening[0].lower()]
            end = lowered.find(closing, at)
            # A block that never ends hides where the object would begin.
            if end < 0:
                return position
            position = end + len(closing)
            continue
        # A brace inside a block that was put aside is not the object's.
        if 0 <= brace < at:
            brace = data.find(b"{", at)
        orphan = _CLOSING.search(data, at, len(data) if brace < 0 else brace)
        if orphan is None:
            return position
        position = orphan.end()
