"""Schemas of request bodies, for both documentation and validation.

Bodies are parsed with the gate's strict parser, so duplicate keys are refused as in an envelope.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallystick.doors.http.problems import RequestRefused
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.codes import FORMAT, Category
from tallystick.gate.session import SESSION_ID

ID: Mapping[str, Any] = {"type": "string", "pattern": f"^{SESSION_ID.pattern}$"}
"""Id of a session or issue; it is used as a folder name."""
NAME: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": r"^\P{C}*$"}
"""Name of an agent, round, ticket …; it is stored in every receipt's header, so it is short and visible text."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """The body of one route: a JSON object with these fields and no others."""

    properties: Mapping[str, Any]
    example: Mapping[str, Any]
    required: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema, with the example."""
        return {
            "type": "object",
            "additionalProperties": False,
            "required": list(self.required),
            "properties": {name: dict(field) for name, field in self.properties.items()},
            "example": dict(self.example),
        }

    @property
    def documented(self) -> dict[str, Any]:
        """The value for a route's `openapi_extra`."""
        content = {"application/json": {"schema": self.schema}}
        return {"requestBody": {"required": bool(self.required), "content": content}}

    def read(self, body: bytes, most: int) -> dict[str, Any] | Rejection:
        """Parse and validate a body.

        Args:
            body: The raw bytes; an empty body means an empty object if no field is required.
            most: The maximum size in bytes.
        """
        asked = {} if not body and not self.required else parse_json_object(body, most)
        return asked if isinstance(asked, Rejection) else self.misfit(asked) or asked

    def demand(self, body: bytes) -> dict[str, Any]:
        """Parse and validate a body for routes that answer with a problem payload; the guard limits its size.

        Raises:
            RequestRefused: 400 if the body is invalid.
        """
        asked = self.read(body, len(body))
        if isinstance(asked, Rejection):
            raise RequestRefused(400, Category.VALIDATION_ERROR, asked.reason, hint=asked.pointer or "See /api/docs.")
        return asked

    def misfit(self, asked: Mapping[str, Any]) -> Rejection | None:
        """Return the invalid field and the rule it breaks, without its value; None if the body is valid."""
        if self._compiled.accepts(asked):
            return None
        pointer, rule = self._compiled.explain(asked)
        return Rejection(fault=FORMAT, reason=f"schema: {rule}", pointer=pointer or None)

    @cached_property
    def _compiled(self) -> CompiledSchema:
        return compile_schema(self.schema, closed=True)


NOTHING = Form(properties={}, example={})
"""For routes without a body."""
