"""A task receipt: the result of a packet, the agent and model that did it, and its evidence."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Self

from tallystick.agents.problem import Problem, misfit
from tallystick.agents.tasks.packet import ID, LINE, LINES, TaskPacket, closed
from tallystick.agents.wire import AGENT_ID
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.records import record

MAX_SUMMARY = 4_000
MAX_EXCERPT = 2_000


@record
class Actor:
    """The agent and model that did the task."""

    agent_id: str
    provider: str
    model: str
    temperature: float | None = None
    max_tokens: int | None = None


@record
class TaskReceipt:
    """The result of one packet."""

    receipt_id: str
    packet_id: str
    issue_id: str
    actor: Actor
    started_at: str
    finished_at: str
    inputs_used: tuple[str, ...] = ()
    """Files of verified citations, and the ids of the tools' receipts."""
    outputs_produced: tuple[str, ...] = ()
    """Only outputs that the packet's contract lists."""
    reasoning_summary: str = ""
    decisions: tuple[str, ...] = ()
    checks_performed: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    next_recommended_action: str = ""
    stop_hook: str | None = None
    """Why the task ended without a result."""
    citations: tuple[Mapping[str, Any], ...] = ()
    """The verified citations of the reply: {kind, source, path?, sha256?, lines?, receipt_id?}."""
    report_excerpt: str = ""
    """The beginning of the reply."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = asdict(self)
        wire |= {name: list(value) for name, value in wire.items() if isinstance(value, tuple)}
        actor = wire["actor"]
        decoding = {"temperature": actor.pop("temperature"), "max_tokens": actor.pop("max_tokens")}
        return {**wire, "actor": {**actor, "decoding": decoding}}

    @classmethod
    def from_dict(cls, value: Any, packet: TaskPacket | None = None) -> Self | Problem:
        """Parse the wire form.

        Args:
            value: The JSON value.
            packet: If given, the packet that the receipt must match.
        """
        problem = misfit(_compiled(), value, code="task_receipt_invalid", what="The task receipt cannot be taken")
        if problem is not None:
            return problem
        actor = dict(value["actor"])
        actor |= actor.pop("decoding")
        given: dict[str, Any] = {**value, "actor": Actor(**actor)}
        given |= {name: tuple(part) for name, part in value.items() if isinstance(part, list)}
        receipt = cls(**given)
        return receipt if packet is None else contract_problem(receipt, packet) or receipt


def contract_problem(receipt: TaskReceipt, packet: TaskPacket) -> Problem | None:
    """Return where a receipt does not match its packet; None if it does."""
    for name, said, meant in (
        ("packet_id", receipt.packet_id, packet.packet_id),
        ("issue_id", receipt.issue_id, packet.parent_issue_id),
    ):
        if said != meant:
            return _invalid(f"/{name}", f"{name} is not the packet's.")
    listed = packet.output_contract.expected_artifacts
    for place, output in enumerate(receipt.outputs_produced):
        if output not in listed:
            return _invalid(f"/outputs_produced/{place}", "The contract does not list this output.")
    if receipt.stop_hook is not None and receipt.outputs_produced:
        return _invalid("/outputs_produced", "A task that was stopped has produced nothing.")
    return None


def _invalid(pointer: str, message: str) -> Problem:
    return Problem(code="task_receipt_invalid", message=message, pointer=pointer)


@cache
def _compiled() -> CompiledSchema:
    return compile_schema(RECEIPT_SCHEMA, closed=True)


SUMMARY: dict[str, Any] = {"type": "string", "maxLength": MAX_SUMMARY}
_TIME = {"type": "string", "format": "date-time"}
_NAME = {"type": "string", "maxLength": 200}

RECEIPT_SCHEMA: dict[str, Any] = closed(
    {
        "receipt_id": ID,
        "packet_id": ID,
        "issue_id": ID,
        "actor": closed(
            {
                "agent_id": AGENT_ID,
                "provider": _NAME,
                "model": _NAME,
                "decoding": closed(
                    {
                        "temperature": {"type": ["number", "null"]},
                        "max_tokens": {"type": ["integer", "null"], "minimum": 1},
                    }
                ),
            }
        ),
        "started_at": _TIME,
        "finished_at": _TIME,
        "inputs_used": LINES,
        "outputs_produced": {**LINES, "uniqueItems": True},
        "reasoning_summary": SUMMARY,
        "decisions": LINES,
        "checks_performed": LINES,
        "assumptions": LINES,
        "risks": LINES,
        "next_recommended_action": LINE,
        "stop_hook": {"type": ["string", "null"], "maxLength": 1000},
        "citations": {
            "type": "array",
            "maxItems": 100,
            "items": closed(
                {
                    "kind": _NAME,
                    "source": {"type": "string", "maxLength": 4_000},
                    "path": {"type": "string", "maxLength": 4_100},
                    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                    "lines": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": ["integer", "null"]}},
                    "receipt_id": _NAME,
                },
                "path",
                "sha256",
                "lines",
                "receipt_id",
            ),
        },
        "report_excerpt": {"type": "string", "maxLength": MAX_EXCERPT},
    }
)
"""JSON Schema draft 2020-12; additional fields are refused."""
