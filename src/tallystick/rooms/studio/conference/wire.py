"""A conference as its file holds it. What does not fit is damage, and is never written over."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, get_args

from tallystick.agents.problem import Problem, misfit
from tallystick.agents.wire import AGENT_ID
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.rooms.studio.conference.nouns import Attendee, Conference, Given, Round, Status
from tallystick.rooms.studio.conference.seating import seats_problem
from tallystick.rooms.studio.conference.states import RoundState

_TEXT: Mapping[str, Any] = {"type": "string"}
_MAYBE: Mapping[str, Any] = {"type": ["string", "null"]}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}


def conference_wire(conference: Conference) -> dict[str, Any]:
    """The form on disk."""
    return {
        "conference_id": conference.conference_id, "name": conference.name, "created_at": conference.created_at,
        "created_by": conference.created_by, "attendees": [asdict(each) for each in conference.attendees],
        "rounds": [each.as_dict() for each in conference.rounds],
    }  # fmt: skip


def conference_from(value: Any) -> Conference | Problem:
    """A conference from that form."""
    problem = misfit(_schema(), value, code="conference_damaged", what="The conference cannot be read")
    if problem is not None:
        return problem
    numbers = [each["number"] for each in value["rounds"]]
    if numbers != list(range(1, len(numbers) + 1)):
        return Problem(code="conference_damaged", message="Rounds are numbered from 1.", pointer="/rounds")
    attendees = tuple(Attendee(**each) for each in value["attendees"])
    problem = seats_problem(attendees)
    if problem is not None:
        return problem
    return Conference(
        conference_id=value["conference_id"], name=value["name"], created_at=value["created_at"],
        created_by=value["created_by"], attendees=attendees,
        rounds=tuple(map(_round, value["rounds"])),
    )  # fmt: skip


def _round(value: Mapping[str, Any]) -> Round:
    replies = tuple(Given(**each) for each in value["replies"])
    return Round(**{**value, "replies": replies, "receipts": tuple(value["receipts"]), "muted": tuple(value["muted"])})


@cache
def _schema() -> CompiledSchema:
    attendee = _object({"agent_id": AGENT_ID, "muted": {"type": "boolean"}})
    given = _object({
        "agent_id": AGENT_ID, "status": {"enum": list(get_args(Status))}, "turn_id": _TEXT, "prompt_sha256": _TEXT,
        "reply_sha256": _MAYBE, "code": _MAYBE, "check_receipt": _MAYBE,
    })  # fmt: skip
    round_ = _object({
        "number": {"type": "integer", "minimum": 1}, "round_id": _TEXT, "state": {"enum": list(get_args(RoundState))},
        "begun_at": _TEXT, "prompt_sha256": _TEXT, "ended_at": _MAYBE, "tool_turn_id": _MAYBE,
        "tool_prompt_sha256": _MAYBE, "receipts": _TEXTS, "stop_hook": _MAYBE,
        "replies": {"type": "array", "items": given}, "muted": _TEXTS, "issue_id": _MAYBE,
    })  # fmt: skip
    whole = _object({
        "conference_id": _TEXT, "name": _TEXT, "created_at": _TEXT, "created_by": _TEXT,
        "attendees": {"type": "array", "items": attendee, "minItems": 1},
        "rounds": {"type": "array", "items": round_}, "version": {"const": 1},
    })  # fmt: skip
    return compile_schema(whole, closed=True)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
