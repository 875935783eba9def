"""A task packet: one task for one agent, with its inputs, scope and constraints."""

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from functools import cache
from typing import Any, Literal, Self

from tallystick.agents.problem import Problem, misfit
from tallystick.agents.wire import AGENT_ID
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.gate.session import SESSION_ID
from tallystick.records import record

ID: Mapping[str, Any] = {"type": "string", "pattern": f"^{SESSION_ID.pattern}$"}
"""Ids of packets, receipts and issues are used as file names."""
LINE: Mapping[str, Any] = {"type": "string", "maxLength": 1000}
LINES: Mapping[str, Any] = {"type": "array", "maxItems": 100, "items": {**LINE, "minLength": 1}}
MAX_CONTEXT = 100_000
FEWEST_CHOICES, MOST_CHOICES = 2, 4


class Intent(StrEnum):
    """The kind of work."""

    CLARIFY = "clarify"
    PLAN_SCENE = "plan_scene"
    BEAT_ARCHITECT = "beat_architect"
    CONTINUITY_CHECK = "continuity_check"
    WRITE_BEAT = "write_beat"
    CRITIQUE_SCENE = "critique_scene"
    EDIT_SCENE = "edit_scene"
    SUMMARIZE_CONTEXT = "summarize_context"
    FINALIZE = "finalize"
    OTHER = "other"


OutputMode = Literal["patch", "artifact", "json_only"]


@record
class Target:
    """What the task is about."""

    scene_ref: str
    """The name used in the request; empty: none."""
    resolution_method: str
    """How the name was resolved to a file, e.g. `named_in_request`, `file_name`, `slug`, `title`, `not_resolved`."""
    canonical_path: str | None = None
    """The path of an existing file."""


@record
class Scope:
    """What the agent may change, and what it must not."""

    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


@record
class Inputs:
    """The inputs of the task."""

    files: tuple[str, ...] = ()
    canon: str = ""
    context: str = ""
    """The user's request, verbatim."""


@record
class Constraints:
    """Rules for doing the task."""

    rules: tuple[str, ...] = ()
    pov: str = ""
    tense: str = ""
    style: str = ""
    forbidden: tuple[str, ...] = ()


@record
class OutputContract:
    """The expected outputs, and the conditions to stop instead."""

    output_mode: OutputMode
    expected_artifacts: tuple[str, ...] = ()
    stop_conditions: tuple[str, ...] = ()


@record
class Handoff:
    """What happens after the task."""

    required_next_step: str = ""
    report_to_chief_only: bool = False


@record
class RequestedBy:
    """Who requested the task."""

    agent_id: str
    """An agent's id, or `user`."""
    reason: str | None = None


@record
class Clarification:
    """A clarifying question with answers to choose from."""

    question: str
    choices: tuple[str, ...]


@record
class TaskPacket:
    """One task."""

    packet_id: str
    parent_issue_id: str
    intent: Intent
    target: Target
    scope: Scope
    inputs: Inputs
    constraints: Constraints
    output_contract: OutputContract
    handoff: Handoff
    timestamp: str
    requested_by: RequestedBy
    parent_packet_id: str | None = None
    run_id: str | None = None
    step_id: str | None = None
    attempt: int | None = None
    clarification: Clarification | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form; optional fields that are None are omitted."""
        wire: dict[str, Any] = _without_none(_plain(asdict(self)))
        return wire

    @classmethod
    def from_dict(cls, value: Any) -> Self | Problem:
        """Parse the wire form; a problem names the invalid part."""
        problem = misfit(_compiled(), value, code="task_packet_invalid", what="The task packet cannot be taken")
        problem = problem or clarification_problem(value)
        if problem is not None:
            return problem
        given = {**value, "intent": Intent(value["intent"])}
        given |= {name: part(**_tuples(given[name])) for name, part in _PARTS.items() if name in given}
        return cls(**given)


def clarification_problem(value: Mapping[str, Any]) -> Problem | None:
    """Check that exactly the packets with intent `clarify` have a clarification."""
    if (value.get("intent") == Intent.CLARIFY) == ("clarification" in value):
        return None
    message = (
        f"'clarification' (a question with {FEWEST_CHOICES} to {MOST_CHOICES} choices) goes with intent 'clarify'."
    )
    return Problem(code="task_packet_invalid", message=message, pointer="/clarification")


_PARTS: dict[str, Any] = {
    "target": Target,
    "scope": Scope,
    "inputs": Inputs,
    "constraints": Constraints,
    "output_contract": OutputContract,
    "handoff": Handoff,
    "requested_by": RequestedBy,
    "clarification": Clarification,
}


def _tuples(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(item) if isinstance(item, list) else item for name, item in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, StrEnum) else value


def _without_none(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_none(item) for name, item in value.items() if item is not None}


@cache
def _compiled() -> CompiledSchema:
    return compile_schema(PACKET_SCHEMA, closed=True)


def closed(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    """Return the schema of an object with exactly these fields; all but `optional` are required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "additionalProperties": False, "required": required, "properties": dict(properties)}


PACKET_SCHEMA: dict[str, Any] = closed(
    {
        "packet_id": ID,
        "parent_issue_id": ID,
        "intent": {"enum": [str(intent) for intent in Intent]},
        "target": closed(
            {"scene_ref": LINE, "resolution_method": LINE, "canonical_path": {**LINE, "minLength": 1}}, "canonical_path"
        ),
        "scope": closed({"allowed": LINES, "blocked": LINES}),
        "inputs": closed(
            {
                "files": LINES,
                "canon": {"type": "string", "maxLength": MAX_CONTEXT},
                "context": {"type": "string", "maxLength": MAX_CONTEXT},
            }
        ),
        "constraints": closed({"rules": LINES, "pov": LINE, "tense": LINE, "style": LINE, "forbidden": LINES}),
        "output_contract": closed(
            {
                "output_mode": {"enum": ["patch", "artifact", "json_only"]},
                "expected_artifacts": LINES,
                "stop_conditions": LINES,
            }
        ),
        "handoff": closed({"required_next_step": LINE, "report_to_chief_only": {"type": "boolean"}}),
        "timestamp": {"type": "string", "format": "date-time"},
        "requested_by": closed({"agent_id": AGENT_ID, "reason": LINE}, "reason"),
        "parent_packet_id": ID,
        "run_id": ID,
        "step_id": ID,
        "attempt": {"type": "integer", "minimum": 1, "maximum": 1000},
        "clarification": closed(
            {
                "question": {**LINE, "minLength": 1},
                "choices": {
                    "type": "array",
                    "minItems": FEWEST_CHOICES,
                    "maxItems": MOST_CHOICES,
                    "uniqueItems": True,
                    "items": {**LINE, "minLength": 1},
                },
            }
        ),
    },
    "parent_packet_id",
    "run_id",
    "step_id",
    "attempt",
    "clarification",
)
"""JSON Schema draft 2020-12; additional fields are refused."""
