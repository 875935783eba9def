"""A packet and a receipt that fit, to be broken one field at a time."""

from typing import Any

from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.receipt import TaskReceipt

PACKET: dict[str, Any] = {
    "packet_id": "pkt_1",
    "parent_issue_id": "ISSUE-7",
    "intent": "critique_scene",
    "target": {"scene_ref": "the storm", "resolution_method": "named_in_request", "canonical_path": "Story/storm.md"},
    "scope": {"allowed": ["critique"], "blocked": ["rewriting"]},
    "inputs": {"files": ["Story/storm.md"], "canon": "", "context": "Does the storm scene work?"},
    "constraints": {"rules": ["quote"], "pov": "", "tense": "past", "style": "", "forbidden": []},
    "output_contract": {"output_mode": "artifact", "expected_artifacts": ["critique"], "stop_conditions": []},
    "handoff": {"required_next_step": "the author reads it", "report_to_chief_only": True},
    "timestamp": "2026-01-01T10:00:00.000Z",
    "requested_by": {"agent_id": "user"},
}
RECEIPT: dict[str, Any] = {
    "receipt_id": "trc_1",
    "packet_id": "pkt_1",
    "issue_id": "ISSUE-7",
    "actor": {
        "agent_id": "critic", "provider": "offline", "model": "offline",
        "decoding": {"temperature": None, "max_tokens": 600},
    },
    "started_at": "2026-01-01T10:00:00.000Z",
    "finished_at": "2026-01-01T10:00:01.000Z",
    "inputs_used": ["Story/storm.md"],
    "outputs_produced": ["critique"],
    "reasoning_summary": "Read it twice.",
    "decisions": [],
    "checks_performed": ["quotes"],
    "assumptions": [],
    "risks": [],
    "next_recommended_action": "",
    "stop_hook": None,
    "citations": [{"kind": "content", "source": "Story/storm.md", "path": "Story/storm.md", "sha256": "0" * 64, "lines": [1, 2]}],
    "report_excerpt": "It works.",
}  # fmt: skip


def packet(**changes: Any) -> TaskPacket:
    made = TaskPacket.from_dict({**PACKET, **changes})
    assert isinstance(made, TaskPacket), made
    return made


def receipt(**changes: Any) -> TaskReceipt:
    made = TaskReceipt.from_dict({**RECEIPT, **changes})
    assert isinstance(made, TaskReceipt), made
    return made
