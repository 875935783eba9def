"""Convert a tool's return value to the bytes that are recorded and shown."""

import math
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.execute.outcome import Output, Shown


class NotJsonError(ValueError):
    """The tool returned a value that JSON cannot represent."""


def to_output(value: Any) -> Output:
    """Serialize a tool's result as JSON.

    Raises:
        NotJsonError: Not JSON, NaN or infinite (orjson would silently write null), nested too deep, or bad Unicode.
    """
    try:
        data = orjson.dumps(value, default=_as_json)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError(type(error).__name__) from None
    # orjson writes NaN as null, so walk the value only if the bytes contain null.
    if b"null" in data and _has_non_finite(value):
        raise NotJsonError("not a finite number")
    # Parse the bytes again, so that tuples, dataclasses and models become the data that the receipt holds.
    return Output(value=orjson.loads(data), data=data)


def show(output: Output, *, step_bytes: int, left_bytes: int) -> Shown:
    """Truncate an output to the bytes left for the step and the turn, never inside a character."""
    text = output.value if isinstance(output.value, str) else output.data.decode()
    raw = text.encode()
    room = max(0, min(step_bytes, left_bytes))
    truncated = len(raw) > room
    if truncated:
        text = raw[:room].decode(errors="ignore")
    return Shown(text=text, truncated=truncated, sha256=sha256(output.data).hexdigest(), full_size=len(output.data))


def _as_json(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        plain = dump(mode="json")
        if _has_non_finite(plain):
            raise TypeError("not a finite number")
        return plain
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(type(value).__name__)


def _has_non_finite(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                return True
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            stack.extend(item)
        elif is_dataclass(item):
            stack.extend(getattr(item, part.name) for part in fields(item))
    return False
