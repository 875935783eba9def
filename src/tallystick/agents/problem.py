"""Validation problems as values, and schema helpers."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.admit.schema import CompiledSchema
from tallystick.records import record


@record
class Problem:
    """Why an input is refused. The code is stable; the message says what to do."""

    code: str
    message: str
    pointer: str = ""
    """JSON pointer to the invalid part; empty: the whole value."""

    def as_dict(self) -> dict[str, str]:
        """The wire form."""
        return {"code": self.code, "message": self.message, "pointer": self.pointer}


def misfit(schema: CompiledSchema, value: Any, *, code: str, what: str) -> Problem | None:
    """Return where a value violates its schema, without quoting the value; None if it is valid."""
    if schema.accepts(value):
        return None
    pointer, rule = schema.explain(value)
    return Problem(code=code, message=f"{what}: {pointer or '/'} breaks the rule '{rule}'.", pointer=pointer)


def text(longest: int, *, shortest: int = 0) -> Mapping[str, Any]:
    """Return the schema of one line of visible text: it goes into prompts, where a line break could start a section."""
    return {"type": "string", "minLength": shortest, "maxLength": longest, "pattern": r"^[^\p{C}\p{Zl}\p{Zp}]*$"}


def texts(longest: int, *, most: int) -> Mapping[str, Any]:
    """Return the schema of a list of at most `most` such lines."""
    return {"type": "array", "maxItems": most, "items": text(longest, shortest=1)}
