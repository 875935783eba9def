"""A tool's prompt in the registry, and the checks a prompt must pass."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from hashlib import sha256
from typing import Any, Literal

import orjson

from tallystick.agents.problem import Problem, misfit, text
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.tool import Card
from tallystick.records import record

NONCE = "<TOOL_NONCE>"
"""The placeholder for the nonce in examples."""
Layer = Literal["global", "user", "project"]
MAX_PROMPTS = 200
ID: Mapping[str, Any] = {"type": "string", "pattern": "^[a-z0-9][a-z0-9.-]{0,63}$"}

EXAMPLE: Mapping[str, Any] = {
    "type": "object",
    "properties": {"tool": text(64, shortest=1), "args": {"type": "object"}, "nonce": {"const": NONCE}},
    "required": ["tool", "args", "nonce"],
    "additionalProperties": False,
}
FIELDS: dict[str, Mapping[str, Any]] = {
    "tool": {**text(64, shortest=1), "description": "The tool's id, where it is not the prompt's with underscores."},
    "title": {**text(100, shortest=1), "description": "For people."},
    "description": {
        **text(1000, shortest=1),
        "description": "The description shown to models instead of the tool's own.",
    },
    "example": {**EXAMPLE, "description": f"One call as a model must write it, with {NONCE} for the nonce."},
}
"""The fields a layer may set."""


@record
class Prompt:
    """How one tool is worded."""

    id: str
    """With hyphens: `file-locator`."""
    tool: str
    """As it is called: `file_locator`."""
    title: str
    description: str | None
    """None: the tool's own card says it."""
    example: Mapping[str, Any] | None
    """The envelope of one call."""
    layer: Layer
    """The last layer that changes it."""

    @property
    def digest(self) -> str:
        """Is another after every change."""
        return sha256(orjson.dumps(self.as_dict(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@record
class PromptWarning:
    """A warning about the registry; the rest is valid."""

    code: str
    """`core_override`, `prompt_invalid`, `registry_damaged`."""
    layer: Layer
    id: str
    message: str

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def tool_of(prompt_id: str) -> str:
    """The tool's id of a prompt's id."""
    return prompt_id.replace("-", "_")


def prompt_problem(value: Any) -> Problem | None:
    """Why the fields of a prompt are refused."""
    problem = misfit(_schema(), value, code="prompt_invalid", what="The prompt is not valid")
    if problem is not None:
        return problem
    if value.keys() == {"id"}:
        message = f"Say at least one of {', '.join(FIELDS)}."
        return Problem(code="prompt_invalid", message=message)
    tool, example = value.get("tool") or tool_of(value["id"]), value.get("example")
    if example is not None and example["tool"] != tool:
        message = f"The example must call {tool}."
        return Problem(code="prompt_invalid", message=message, pointer="/example/tool")
    return None


def example_problem(example: Mapping[str, Any], card: Card) -> Problem | None:
    """Why a tool would refuse an example: it would teach every model the wrong call."""
    schema = compile_schema(dict(card.input_schema), closed=card.origin == "local")
    if schema.accepts(dict(example["args"])):
        return None
    pointer, rule = schema.explain(dict(example["args"]))
    message = f"The example's arguments do not fit {card.name}: {pointer or '/'} breaks the rule '{rule}'."
    return Problem(code="prompt_invalid", message=message, pointer=f"/example/args{pointer}")


@cache
def _schema() -> CompiledSchema:
    schema = {"type": "object", "properties": {"id": ID, **FIELDS}, "required": ["id"], "additionalProperties": False}
    return compile_schema(schema, closed=True)
