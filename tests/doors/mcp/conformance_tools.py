"""The tools that the public MCP conformance suite asks a server to have, as a workspace's tools file.

`tally mcp serve` serves them like any others. What the suite asks for beyond a registry of tools (prompts, sampling,
elicitation, …) has no counterpart here; `conformance.py` lists it with the reasons.
"""

import asyncio
from base64 import b64encode
from typing import Annotated, Any

from pydantic import Field

from tallystick import ToolError, report_progress, tool

Blocks = Annotated[list[dict[str, Any]], Field(json_schema_extra={"x-mcp-content": True})]
"""A result that is a list of MCP content blocks."""

# One red pixel, and a wave file without sound.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0"
).decode()


@tool(effect="read")
async def test_simple_text() -> str:
    """Give a text."""
    return "This is a simple text response for testing."


@tool(effect="read")
async def test_image_content() -> Blocks:
    """Give an image."""
    return [{"type": "image", "data": PNG, "mimeType": "image/png"}]


@tool(effect="read")
async def test_audio_content() -> Blocks:
    """Give a sound."""
    return [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]


@tool(effect="read")
async def test_embedded_resource() -> Blocks:
    """Give a resource inside the result."""
    return [_resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@tool(effect="read")
async def test_multiple_content_types() -> Blocks:
    """Give several kinds at once."""
    return [
        {"type": "text", "text": "Multiple content types test:"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ]


@tool(effect="read")
async def test_error_handling() -> str:
    """Fail on purpose."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool(effect="read")
async def test_tool_with_progress() -> str:
    """Say three times how far it is."""
    for done in (0, 50, 100):
        report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


@tool(effect="read")
async def test_logging_tool() -> str:
    """Log nothing to the client: logs stay with the server."""
    return "logged"


@tool(
    effect="read",
    name="json_schema_2020_12_tool",
    output_schema={"type": "string"},
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
)
async def json_schema_tool(**_given: Any) -> str:
    """Take arguments that need most of JSON Schema to be checked."""
    return "taken"


@tool(effect="read")
async def test_headers(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Take an argument that proxies may read in a header."""
    return region


def _resource(uri: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}}
