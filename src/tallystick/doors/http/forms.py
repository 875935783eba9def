"""What the body of a request may hold: one schema, for the documentation and for the check.

Bodies are read with the gate's strict parser, so a duplicate key is refused on the wire as it is in an envelope.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallystick.doors.http.problems import Refused
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import FORMAT, Category
from tallystick.gate.session import SESSION_ID

ID: Mapping[str, Any] = {"type": "string", "pattern": f"^{SESSION_ID.pattern}$"}
"""Of sessions and issues: it names a folder."""
NAME: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^\P{C}*$"}
"""Of agents, rounds, tickets …: it stands in every receipt's header, so it is short and can be seen."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The body of one route: a JSON object with these fields and no others."""

    properties: Mapping[str, Any]
    example: Mapping[str, Any]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """As the documentation shows it."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": list(self.required),
            "properties": {name: dict(field) for name, field in self.properties.items()},
            "example": dict(self.example),
        }

    @property
    def documented(self) -> dict[str, Any]:
        """For a route's `openapi_extra`."""
        content = {"application/json": {"schema": self.schema}}
        return {"requestBody": {"required": bool(self.required), "content": content}}

    def read(self, body: bytes, most: int) -> dict[str, Any] | Rejection:
        """The fields, or why not.

        Args:
            body: The bytes as they came; none at all is an empty object where nothing is required.
            most: How many bytes it may have.
        """
        asked = {} if not body and not self.required else parse_json_object(body, most)
        return asked if isinstance(asked, Rejection) else self.misfit(asked) or asked

    def demand(self, body: bytes) -> dict[str, Any]:
        """The fields, for routes that answer a problem payload; how large a body may be is the guard's to say.

        Raises:
            Refused: 400, it is not such an object.
        """
        asked = self.read(body, len(body))
        if isinstance(asked, Rejection):
            raise Refused(400, Category.VALIDATION_ERROR, asked.reason, hint=asked.pointer or "See /api/docs.")
        return asked

    def misfit(self, asked: Mapping[str, Any]) -> Rejection | None:
        """Which field does not fit, by which rule; never what it held."""
        if self._compiled.accepts(asked):
            return None
        pointer, rule = self._compiled.explain(asked)
        return Rejection(fault=FORMAT, reason=f"schema: {rule}", pointer=pointer or None)

    @cached_property
    def _compiled(self) -> CompiledSchema:
        return compile_schema(self.schema, closed=True)


NOTHING = Form(properties={}, example={})
"""For routes that are told everything by their path."""
