"""A server made with the official SDK that offers what the public conformance suite asks of a server, over stdio."""

import asyncio
import base64
import json

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
server = MCPServer("reference", log_level="ERROR")


def embedded(uri: str, text: str, kind: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


@server.tool(description="test simple text")
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@server.tool(description="test image content")
def test_image_content() -> list[ImageContent]:
    return [ImageContent(type="image", data=PNG, mime_type="image/png")]


@server.tool(description="test audio content")
def test_audio_content() -> list[AudioContent]:
    return [AudioContent(type="audio", data=WAV, mime_type="audio/wav")]


@server.tool(description="test embedded resource")
def test_embedded_resource() -> list[EmbeddedResource]:
    return [embedded("test://embedded-resource", "This is an embedded resource content.", "text/plain")]


@server.tool(description="test multiple content types")
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    return [
        TextContent(type="text", text="Multiple content types test:"),
        ImageContent(type="image", data=PNG, mime_type="image/png"),
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ]


@server.tool(description="test tool with logging")
async def test_tool_with_logging(ctx: Context) -> str:
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", text)
        await asyncio.sleep(0.05)
    return "logged"


@server.tool(description="test tool with progress")
async def test_tool_with_progress(ctx: Context) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "done"


@server.tool(description="test sampling")
async def test_sampling(prompt: str, ctx: Context) -> str:
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    came = await ctx.session.create_message(messages=[asked], max_tokens=100)
    return f"LLM response: {came.content.text}"


class Answer(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@server.tool(description="test elicitation")
async def test_elicitation(message: str, ctx: Context) -> str:
    came = await ctx.elicit(message=message, schema=Answer)
    return f"User response: {came.action}"


class Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


@server.tool(description="test elicitation sep1034 defaults")
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    came = await ctx.elicit(message="Please review", schema=Defaults)
    return f"Elicitation completed: action={came.action}"


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2"]})  # noqa: N815 - the suite's own
    titledSingle: str = Field(json_schema_extra={"oneOf": [{"const": "v1", "title": "One"}]})  # noqa: N815
    legacyEnum: str = Field(json_schema_extra={"enum": ["a", "b"], "enumNames": ["A", "B"]})  # noqa: N815
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["a", "b"]}})  # noqa: N815
    titledMulti: list[str] = Field(json_schema_extra={"items": {"anyOf": [{"const": "v1", "title": "One"}]}})  # noqa: N815


@server.tool(description="asks with every kind of choice")
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    came = await ctx.elicit(message="Please choose", schema=Choices)
    return f"Elicitation completed: action={came.action}"


@server.tool(description="test error handling")
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PNG)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:  # noqa: A002 - the suite's own name
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt(description="test simple prompt")
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt(description="test prompt with arguments")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt(description="a prompt with a resource")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's own
    return [UserMessage(embedded(resourceUri, "Embedded resource content for testing.", "text/plain"))]


@server.prompt(description="a prompt with a picture")
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(ImageContent(type="image", data=PNG, mime_type="image/png"))]


if __name__ == "__main__":
    server.run("stdio")
