"""JSON read as RFC 8259 writes it, and nothing more.

One parser for every door: model text, HTTP bodies, arguments handed over as Python objects. What two parsers could
read differently (a duplicate key, an integer no double holds, half a surrogate pair) is refused here, so that the
bytes that are signed later mean the same to everyone.

jiter does the reading. It finds duplicate keys, escaped ones too, and half surrogates; it lets `1e400` become
infinity and nests to 200, so numbers and depth are checked on what it gives back.
"""

from decimal import Decimal
from math import isfinite
from typing import Any

from jiter import LosslessFloat, from_json

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import BAD_ARGS, FORMAT, Fault

MAX_DEPTH = 64
"""Objects and arrays inside each other; the deepest published tool schema seen nests 11 levels."""
MAX_INTEGER = 2**53
"""Up to here every integer has a double of its own, so it survives any JSON library."""
POINTER_TOKEN = 100
"""Characters of one name shown in a pointer: a name is chosen by the caller and may be huge."""

# Reasons are fixed strings: they can be logged and counted, and nothing a caller sent can hide in one.
TOO_LARGE = "the message is too large"
NOT_UTF8 = "not valid UTF-8"
LONE_SURROGATE = "a string holds half a surrogate pair"
BYTE_ORDER_MARK = "a byte order mark stands in front"
NOT_JSON = "not valid JSON"
NOT_AN_OBJECT = "not a JSON object"
EXTRA_TEXT = "extra text around the object"
DUPLICATE_KEY = "duplicate key"
TOO_DEEP = f"nesting is deeper than {MAX_DEPTH}"
BIG_INTEGER = "an integer beyond 2^53 would not survive"
NOT_FINITE = "a number is outside the double range"
NOT_A_JSON_VALUE = "not a JSON value: use dict, list, str, int, float, bool or None"

_WHITE = b" \t\n\r"
# jiter's words for what it found, and ours. Its messages can quote the text, so they never leave this module.
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
    """Read the body of a request: one object, with the same strictness as model text.

    Args:
        body: The bytes as they came.
        max_bytes: Refused above this, before anything is read.
    """
    if len(body) > max_bytes:
        return refuse(TOO_LARGE)
    value: dict[str, Any] | Rejection = parse_strict(body)
    if type(value) is dict or isinstance(value, Rejection):
        return value
    return refuse(NOT_AN_OBJECT)


def parse_strict(data: bytes) -> Any:
    """Read any one JSON value; a `Rejection` says why not."""
    try:
        value = from_json(data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none")
    except ValueError as error:
        return refuse(why_not_json(str(error), data))
    unfit = numbers_unfit(value, data)
    return value if unfit is None else unfit


def numbers_unfit(value: Any, data: bytes, *, depth: int = 0) -> Rejection | None:
    """Check what jiter does not: depth, infinity, integers, and floats that stand for another number.

    Args:
        value: What jiter made of `data`, or a part of it.
        data: The whole text, read again only if a float is so large that its digits may have been lost.
        depth: How many objects and arrays stand around `value`.
    """
    found = find_unfit(value, depth)
    # A value that is too deep ends here, so what follows may walk it by recursion.
    if found is not None:
        return refuse(found[0], pointer=found[1])
    if has_large_float(value) and not _digits_survive(data):
        return refuse(BIG_INTEGER)
    return None


def check_json_value(value: Any) -> Rejection | None:
    """Check arguments that came as Python objects: they must be what a strict parser could have made."""
    found = find_unfit(value, 0)
    return None if found is None else refuse(found[0], fault=BAD_ARGS, pointer=found[1])


def find_unfit(value: Any, depth: int) -> tuple[str, str] | None:
    """The reason and the pointer of the first part of a value that is not plain, portable JSON."""
    kind = type(value)
    if kind is dict or kind is list:
        return (TOO_DEEP, "") if depth >= MAX_DEPTH else _find_inside(value, depth + 1)
    reason = _unfit_scalar(value)
    return None if reason is None else (reason, "")


def refuse(reason: str, *, fault: Fault = FORMAT, pointer: str | None = None) -> Rejection:
    """A rejection with a fixed reason."""
    return Rejection(fault=fault, reason=reason, pointer=pointer or None)


def why_not_json(finding: str, data: bytes) -> str:
    """Translate jiter's finding; what stands in front of the object is told before what is wrong inside it."""
    text = data.lstrip(_WHITE)
    # jiter stops at its first byte and calls it a missing value.
    if text.startswith(b"\xef\xbb\xbf"):
        return BYTE_ORDER_MARK
    for words, reason in _FINDINGS:
        if words in finding:
            return reason
    # Not an object at all, or one with words around it: the second is the more common slip.
    if text[:1] != b"{":
        return EXTRA_TEXT if b"{" in text and text[:1] != b"[" else NOT_AN_OBJECT
    return NOT_JSON


def pointer_token(name: str | int) -> str:
    """One step of a JSON pointer, escaped as RFC 6901 says and cut."""
    return "/" + str(name)[:POINTER_TOKEN].replace("~", "~0").replace("/", "~1")


def _find_inside(value: Any, depth: int) -> tuple[str, str] | None:
    """The same for what an object or array holds; the pointer is put together on the way back."""
    # Keys are checked with their values: jiter's are sound, a Python program's need not be.
    pairs = value.items() if type(value) is dict else enumerate(value)
    for key, item in pairs:
        if type(value) is dict and (type(key) is not str or not _well_formed(key)):
            # Such a key cannot stand in a pointer, so the object is named.
            return NOT_A_JSON_VALUE if type(key) is not str else LONE_SURROGATE, ""
        # Strings are most of what comes; the call for the rest is saved here.
        if type(item) is str and item.isascii():
            continue
        found = find_unfit(item, depth)
        if found is not None:
            return found[0], pointer_token(key) + found[1]
    return None


def _unfit_scalar(value: Any) -> str | None:
    """Why a value that holds no others is unfit."""
    # Exact types: a subclass of str or int may answer differently each time it is asked.
    kind = type(value)
    if kind is int:
        return None if -MAX_INTEGER <= value <= MAX_INTEGER else BIG_INTEGER
    if kind is float:
        return None if isfinite(value) else NOT_FINITE
    if kind is str:
        return None if _well_formed(value) else LONE_SURROGATE
    return None if kind is bool or value is None else NOT_A_JSON_VALUE


def _well_formed(text: str) -> bool:
    """Whether a text can be written as UTF-8; for ASCII Python knows without looking."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_numbers(value: Any) -> Any:
    """A copy in which each integral float that an integer can stand for is that integer.

    A parser that reads `7.0` as a float and one that reads it as an integer mean the same number; after this they
    also hand the tool the same object, and -0.0 is plain 0.
    """
    kind = type(value)
    if kind is dict:
        # Text is most of what comes, and stays as it is.
        return {key: item if type(item) is str else whole_numbers(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) is str else whole_numbers(item) for item in value]
    if kind is float and value.is_integer() and -MAX_INTEGER <= value <= MAX_INTEGER:
        return int(value)
    return value


def has_large_float(value: Any) -> bool:
    """Whether any float is so large that its last digits may have been rounded away."""
    kind = type(value)
    if kind is float:
        return bool(abs(value) >= MAX_INTEGER)
    if kind is dict:
        return any(has_large_float(item) for item in value.values() if type(item) is not str)
    return kind is list and any(has_large_float(item) for item in value if type(item) is not str)


def _digits_survive(data: bytes) -> bool:
    """Whether each large float is written as the number it became: 1e22 is, 9007199254740993.0 is not."""
    # The text has been read once without complaint, so this cannot fail.
    return _same_numbers(from_json(data, float_mode="lossless-float"))


def _same_numbers(value: Any) -> bool:
    # repr gives the shortest digits that mean this double, so 1e23 is the number it was written as.
    if type(value) is LosslessFloat:
        number = float(value)
        return abs(number) < MAX_INTEGER or Decimal(repr(number)) == Decimal(str(value))
    if type(value) is dict:
        return all(_same_numbers(item) for item in value.values())
    return type(value) is not list or all(_same_numbers(item) for item in value)
