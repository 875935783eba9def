"""What is wrong with something that was given, as a value."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.admit.schema import CompiledSchema
from tallystick.records import record


@record
class Problem:
    """Why something is not taken. The code is fixed, the message says what to do."""

    code: str
    message: str
    pointer: str = ""
    """JSON pointer to the part that is wrong; empty: the whole."""

    def as_dict(self) -> dict[str, str]:
        """The wire form."""
        return {"code": self.code, "message": self.message, "pointer": self.pointer}


def misfit(schema: CompiledSchema, value: Any, *, code: str, what: str) -> Problem | None:
    """Where a value does not fit its schema; None if it does. Never what the value was."""
    if schema.accepts(value):
        return None
    pointer, rule = schema.explain(value)
    return Problem(code=code, message=f"{what}: {pointer or '/'} breaks the rule '{rule}'.", pointer=pointer)


def text(longest: int, *, shortest: int = 0) -> Mapping[str, Any]:
    """One line of text that can be seen: it is put into prompts, where a line break would begin a section."""
    return {"type": "string", "minLength": shortest, "maxLength": longest, "pattern": r"^[^\p{C}\p{Zl}\p{Zp}]*$"}


def texts(longest: int, *, most: int) -> Mapping[str, Any]:
    """Several such lines."""
    return {"type": "array", "maxItems": most, "items": text(longest, shortest=1)}
