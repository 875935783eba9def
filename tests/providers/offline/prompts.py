"""Prompts as a turn composes them, for tests that need no gate."""

import json
from collections.abc import Sequence
from typing import Any

from tallystick.turns.model import Message
from tallystick.turns.prompt.evidence_rules import GROUNDING
from tallystick.turns.prompt.results import result_section
from tallystick.turns.prompt.sections import final_section, first_step, next_step, role_section
from tallystick.turns.result import Injected
from tests.offline_turns import GUEST

NONCE = "n0nce"
BOUNDARY = "0123456789abcdef"


def card(name: str, description: str, properties: dict[str, Any], required: Sequence[str], effect: str = "read") -> str:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return json.dumps({"name": name, "description": description, "effect": effect, "args": schema})


def prompt(
    message: str, *cards: str, results: Sequence[tuple[str, dict[str, Any], str]] = (), required: bool = False,
    final: bool = False, error: str | None = None,
) -> list[Message]:  # fmt: skip
    """A step of a turn: the request, and what was called so far (tool, arguments, result as text)."""
    system = "\n\n".join([role_section(GUEST), GROUNDING, "\n".join(["# Tools", *cards])])
    asked = f"{message}\n\n{first_step(NONCE, required=required, may_finish=False)}"
    messages = [Message(role="system", content=system), Message(role="user", content=asked)]
    for at, (tool, args, text) in enumerate(results):
        call = {"tool": tool, "args": args, "nonce": "old"}
        shown = Injected(
            tool=tool, receipt_id=f"rcpt_{at:024}", text=text, sha256="0" * 64, full_size=len(text), error=error
        )
        messages.append(Message(role="assistant", content=json.dumps(call if not at else {"action": "tool", **call})))
        messages.append(Message(role="user", content=f"{result_section(shown, BOUNDARY)}\n\n{next_step(NONCE)}"))
    if final:
        messages.append(Message(role="assistant", content=json.dumps({"action": "final", "nonce": NONCE})))
        messages.append(Message(role="user", content=final_section()))
    return messages
