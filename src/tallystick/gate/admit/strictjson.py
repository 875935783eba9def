"""A strict RFC 8259 JSON parser for every interface, and the same checks for arguments passed as Python objects.

It rejects input that two parsers could read differently (a duplicate key, an integer that no double can represent, a
lone surrogate), so that every later reader of the signed receipt interprets its bytes in the same way.

Parsing is done by jiter. It detects duplicate keys, including escaped ones, and lone surrogates; it parses `1e400` as
infinity and allows a depth of 200, so numbers and depth are checked on its result.
"""

from decimal import Decimal
from math import isfinite
from typing import Any

from jiter import LosslessFloat, from_json

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS, FORMAT, Fault

MAX_DEPTH = 64
"""Maximum nesting of objects and arrays; the deepest published tool schema seen has 11 levels."""
MAX_INTEGER = 2**53
"""Up to here a double represents every integer exactly, so any JSON library preserves it."""
POINTER_TOKEN = 100
"""Maximum characters of one name in a pointer: the caller chooses the name, and it may be huge."""

# Reasons are fixed strings: safe to log and count, and free of caller input. `docs/protocol.md` lists them word for
# word, so their wording cannot change; a comment explains those that are not clear by themselves.
TOO_LARGE = "the message is too large"
NOT_UTF8 = "not valid UTF-8"
LONE_SURROGATE = "a string holds half a surrogate pair"
# The text starts with a byte order mark.
BYTE_ORDER_MARK = "a byte order mark stands in front"
NOT_JSON = "not valid JSON"
NOT_AN_OBJECT = "not a JSON object"
EXTRA_TEXT = "extra text around the object"
DUPLICATE_KEY = "duplicate key"
TOO_DEEP = f"nesting is deeper than {MAX_DEPTH}"
# The integer cannot be represented exactly as a double, so other JSON parsers would change it.
BIG_INTEGER = "an integer beyond 2^53 would not survive"
NOT_FINITE = "a number is outside the double range"
NOT_A_JSON_VALUE = "not a JSON value: use dict, list, str, int, float, bool or None"

_WHITE = b" \t\n\r"
# Substring of jiter's error message → reason. The messages can quote the input, so they never leave this module.
_FINDINGS = (
    ("Detected duplicate key", DUPLICATE_KEY),
    ("recursion limit", TOO_DEEP),
    ("trailing characters", EXTRA_TEXT),
    ("invalid unicode", NOT_UTF8),
    ("surrogate", LONE_SURROGATE),
    ("hex escape", LONE_SURROGATE),
    ("number out of range", NOT_FINITE),
)


def parse_json_object(body: bytes, max_bytes: int) -> dict[str, Any] | Rejection:
    """Parse the body of a request: one object, with the same strictness as model text.

    Args:
        body: The bytes as received.
        max_bytes: A longer body is rejected before parsing.
    """
    if len(body) > max_bytes:
        return refuse(TOO_LARGE)
    value: dict[str, Any] | Rejection = parse_strict(body)
    if type(value) is dict or isinstance(value, Rejection):
        return value
    return refuse(NOT_AN_OBJECT)


def parse_strict(data: bytes) -> Any:
    """Parse exactly one JSON value of any type; return a `Rejection` on failure."""
    try:
        value = from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        return refuse(why_not_json(str(error), data))
    unfit = numbers_unfit(value, data)
    return value if unfit is None else unfit


def numbers_unfit(value: Any, data: bytes, *, depth: int = 0) -> Rejection | None:
    """Check what jiter does not: depth, infinity, integer range, and floats that lost digits.

    Args:
        value: The result of parsing `data`, or a part of it.
        data: The whole text, parsed again only if a float is so large that digits may have been lost.
        depth: The number of objects and arrays that enclose `value`.
    """
    found = find_unfit(value, depth)
    # Values that are too deep are rejected here, so the following checks can recurse.
    if found is not None:
        return refuse(found[0], pointer=found[1])
    if has_large_float(value) and not _digits_survive(data):
        return refuse(BIG_INTEGER)
    return None


def check_json_value(value: Any) -> Rejection | None:
    """Check arguments passed as Python objects: a strict parser must be able to produce the same value."""
    found = find_unfit(value, 0)
    return None if found is None else refuse(found[0], fault=BAD_ARGS, pointer=found[1])


def find_unfit(value: Any, depth: int) -> tuple[str, str] | None:
    """Return reason and pointer of the first part of a value that is not plain, portable JSON, or None."""
    kind = type(value)
    if kind is dict or kind is list:
        return (TOO_DEEP, "") if depth >= MAX_DEPTH else _find_inside(value, depth + 1)
    reason = _unfit_scalar(value)
    return None if reason is None else (reason, "")


def refuse(reason: str, *, fault: Fault = FORMAT, pointer: str | None = None) -> Rejection:
    """Build a rejection with a fixed reason."""
    return Rejection(fault=fault, reason=reason, pointer=pointer or None)


def why_not_json(finding: str, data: bytes) -> str:
    """Translate jiter's error message to a reason; a byte order mark in front is reported before errors inside."""
    text = data.lstrip(_WHITE)
    # jiter stops at the first byte of the mark and reports a missing value.
    if text.startswith(b"\xef\xbb\xbf"):
        return BYTE_ORDER_MARK
    for words, reason in _FINDINGS:
        if words in finding:
            return reason
    # Either not an object, or an object with text around it; the latter is the more common mistake.
    if text[:1] != b"{":
        return EXTRA_TEXT if b"{" in text and text[:1] != b"[" else NOT_AN_OBJECT
    return NOT_JSON


def pointer_token(name: str | int) -> str:
    """Return one step of a JSON pointer, truncated and escaped as in RFC 6901."""
    return "/" + str(name)[:POINTER_TOKEN].replace("~", "~0").replace("/", "~1")


def _find_inside(value: Any, depth: int) -> tuple[str, str] | None:
    """Check the contents of an object or array; the pointer is built while the recursion returns."""
    # Check keys too: jiter's are valid, but those of a Python caller may not be.
    pairs = value.items() if type(value) is dict else enumerate(value)
    for key, item in pairs:
        if type(value) is dict and (type(key) is not str or not _well_formed(key)):
            # A pointer cannot contain such a key, so it points to the object.
            return NOT_A_JSON_VALUE if type(key) is not str else LONE_SURROGATE, ""
        # Most values are ASCII strings; skip the function call for them.
        if type(item) is str and item.isascii():
            continue
        found = find_unfit(item, depth)
        if found is not None:
            return found[0], pointer_token(key) + found[1]
    return None


def _unfit_scalar(value: Any) -> str | None:
    """Return the reason why a scalar is not portable JSON, or None."""
    # Exact types only: a subclass of str or int may behave differently on each access.
    kind = type(value)
    if kind is int:
        return None if -MAX_INTEGER <= value <= MAX_INTEGER else BIG_INTEGER
    if kind is float:
        return None if isfinite(value) else NOT_FINITE
    if kind is str:
        return None if _well_formed(value) else LONE_SURROGATE
    return None if kind is bool or value is None else NOT_A_JSON_VALUE


def _well_formed(text: str) -> bool:
    """Whether a text can be encoded as UTF-8; `isascii` answers the common case in constant time."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_numbers(value: Any) -> Any:
    """Return a copy in which each integral float up to `MAX_INTEGER` in magnitude is an integer.

    Some parsers read `7.0` as a float, others as an integer; after this the tool receives the same object from both,
    and -0.0 becomes 0.
    """
    kind = type(value)
    if kind is dict:
        # Most values are strings; skip the function call for them.
        return {key: item if type(item) is str else whole_numbers(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) is str else whole_numbers(item) for item in value]
    if kind is float and value.is_integer() and -MAX_INTEGER <= value <= MAX_INTEGER:
        return int(value)
    return value


def has_large_float(value: Any) -> bool:
    """Whether any float is so large that its last digits may have been lost to rounding."""
    kind = type(value)
    if kind is float:
        return bool(abs(value) >= MAX_INTEGER)
    if kind is dict:
        return any(has_large_float(item) for item in value.values() if type(item) is not str)
    return kind is list and any(has_large_float(item) for item in value if type(item) is not str)


def _digits_survive(data: bytes) -> bool:
    """Whether each large float equals the number in the text: 1e22 does, 9007199254740993.0 does not."""
    # The text has been parsed once without error, so this cannot fail.
    return _same_numbers(from_json(data, float_mode="lossless-float"))


def _same_numbers(value: Any) -> bool:
    # `repr` gives the shortest digits that identify this double, so 1e23 counts as preserved.
    if type(value) is LosslessFloat:
        number = float(value)
        return abs(number) < MAX_INTEGER or Decimal(repr(number)) == Decimal(str(value))
    if type(value) is dict:
        return all(_same_numbers(item) for item in value.values())
    return type(value) is not list or all(_same_numbers(item) for item in value)
