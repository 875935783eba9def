"""The JSON Schema of the body of `POST /v1/chat/completions`, for validation and documentation."""

from typing import Any

from tallystick.doors.http.forms import ID
from tallystick.gate.admit.schema import compile_schema

MAX_MESSAGES = 2_000
MAX_TOOLS = 128
"""The limit of the OpenAI API."""

_TEXT_PART = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"type": "string"}, "text": {"type": "string"}},
}
_MESSAGE = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"enum": ["system", "developer", "user", "assistant", "tool"]},
        "content": {"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": _TEXT_PART}]},
        "tool_call_id": {"type": "string", "maxLength": 256},
        "tool_calls": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "required": ["id", "function"],
                "properties": {
                    "id": {"type": "string", "maxLength": 256},
                    "function": {
                        "type": "object",
                        "required": ["name", "arguments"],
                        "properties": {"name": {"type": "string"}, "arguments": {"type": "string"}},
                    },
                },
            },
        },
    },
}
_TOOL = {
    "type": "object",
    "required": ["type", "function"],
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "description": {"type": ["string", "null"]},
                "parameters": {"type": ["object", "null"]},
            },
        },
    },
}
_OURS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "session": {**ID, "description": "The session the receipts belong to; a new one if not given."},
        "evidence": {"enum": ["annotate", "enforce"]},
        "allowedTools": {"type": "array", "items": {"type": "string"}, "description": "Of this server's own tools."},
        "effects": {
            "type": "object",
            "additionalProperties": {"enum": ["read", "write", "external"]},
            "description": "What the client's tools do, by name; `write` where nothing is said.",
        },
    },
}
ASKED: dict[str, Any] = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": {
            "type": "string",
            "minLength": 1,
            "maxLength": 256,
            "description": "An agent, an endpoint, or `offline`.",
        },
        "messages": {"type": "array", "minItems": 1, "maxItems": MAX_MESSAGES, "items": _MESSAGE},
        "tools": {
            "type": ["array", "null"],
            "maxItems": MAX_TOOLS,
            "items": _TOOL,
            "description": "Tools the client runs.",
        },
        "tool_choice": {"type": ["string", "object", "null"], "description": "auto, none, required, or one function."},
        "stream": {"type": ["boolean", "null"]},
        "stream_options": {"type": ["object", "null"]},
        "n": {"type": ["integer", "null"]},
        "max_tokens": {"type": ["integer", "null"], "minimum": 1},
        "max_completion_tokens": {"type": ["integer", "null"], "minimum": 1},
        "evidence": {"enum": ["annotate", "enforce"], "description": "`enforce`: a reply that fails is withheld."},
        "tallystick": _OURS,
    },
    "example": {
        "model": "offline",
        "messages": [{"role": "user", "content": "Where does Ada say that she never sailed?"}],
    },
}

FORM = compile_schema(ASKED, closed=False)
DOCUMENTED: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/json": {"schema": ASKED}}}}
"""The value for a route's `openapi_extra`."""
