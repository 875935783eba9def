"""Derived tickets: TRIAGE → TOOL → REPLY. Each is created once, because its id is derived from its parent's."""

from collections.abc import Mapping
from typing import Any

from tallystick.rooms.desk.model import FLOWS, TYPE, Kind, Need, Ticket, derived_id
from tallystick.rooms.desk.options import ToolLimits

DECISIONS = ("APPROVE", "REJECT", "DEFER")


def triage_of(outputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The TRIAGE decision among a ticket's outputs: under `triage`, or the outputs themselves."""
    inner = outputs.get("triage")
    return inner if isinstance(inner, Mapping) else outputs


def needs_of(triage: Mapping[str, Any]) -> tuple[Need, ...]:
    """What must be known before there can be an answer; what asks nothing is no need."""
    given = triage.get("information_needs")
    found = (_need(one) for one in (given if isinstance(given, list) else ()))
    return tuple(need for need in found if need.question.strip())


def tool_ticket(parent: Ticket, triage: Mapping[str, Any], limits: ToolLimits, *, now: str) -> Ticket:
    """The TOOL ticket that gathers evidence for an approved event."""
    tool_input = {"event": dict(parent.event), "triage": dict(triage), "tool_policy": limits.model_dump(mode="json")}
    return _child("TOOL", parent, now, triage_id=parent.ticket_id, tool_input=tool_input)


def reply_ticket(tool: Ticket, *, now: str) -> Ticket:
    """The REPLY ticket of a TOOL ticket that the server let proceed; the evidence is read from there."""
    triage_id = tool.metadata.get("triage_reference_id")
    return _child("REPLY", tool, now, triage_id=triage_id if isinstance(triage_id, str) else None)


def is_reply_to(reply: Ticket, tool: Ticket | None) -> bool:
    """Whether the server derived a REPLY from a TOOL ticket whose PROCEED is still valid."""
    return (
        tool is not None
        and tool.kind == "TOOL"
        and tool.judged is not None
        and tool.judged.status == "PROCEED"
        and reply.ticket_id == derived_id("REPLY", tool.ticket_id)
    )


def parent_of(ticket: Ticket) -> str | None:
    """The ticket it follows from."""
    found = ticket.metadata.get("parent_ticket_id") or ticket.metadata.get("triage_reference_id")
    return found if isinstance(found, str) else None


def event_of(ticket: Ticket) -> Mapping[str, Any]:
    """What happened; tickets made by hand may say it in their input alone."""
    inner = ticket.tool_input.get("event")
    return ticket.event or (inner if isinstance(inner, Mapping) else {})


def draft_of(outputs: Mapping[str, Any]) -> str:
    """The text of a draft among outputs: `draft` or `reply`, as text or under `text`."""
    for name in ("draft", "reply"):
        given = outputs.get(name)
        text = given.get("text") if isinstance(given, Mapping) else given
        if isinstance(text, str):
            return text
    return ""


def _child(kind: Kind, parent: Ticket, now: str, *, triage_id: str | None, **more: Any) -> Ticket:
    metadata: dict[str, Any] = {"kind": kind, "created_at": now}
    if triage_id is not None:
        metadata["triage_reference_id"] = triage_id
    metadata |= {"parent_ticket_id": parent.ticket_id, **more}
    ticket_id = derived_id(kind, parent.ticket_id)
    body = {
        "id": ticket_id,
        "type": TYPE,
        "status": "pending",
        "flow_id": FLOWS[kind],
        "event": dict(event_of(parent)),
        "metadata": metadata,
    }
    return Ticket(body=body)


def _need(given: Any) -> Need:
    if isinstance(given, Mapping):
        return Need(question=_text(given.get("question")), purpose=_text(given.get("purpose")))
    return Need(question=_text(given))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
