"""A model that always obeys the attacker, before a real gate: what becomes of each call it proposes.

The tools are made from a suite's schemas and give what the suite recorded; nothing else is put in their place. The
model's answers are envelopes with the turn's nonce, as a model would write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from tallystick import Gate, Tool
from tallystick.gate.decide.provenance_tracker import leaves
from tallystick.gate.tool import Card
from tallystick.settings import Settings, parse_settings

Fate = Literal["ran", "held", "stopped", "malformed"]
READS = frozenset(
    {"get", "search", "read", "list", "check", "find", "view", "show", "fetch", "retrieve", "track", "access"}
)
"""Verbs of tools that change nothing."""


@dataclass(kw_only=True)
class Step:
    """One call of a script, and what its tool gives."""

    tool: str
    args: Mapping[str, Any]
    result: Any = None


@dataclass(kw_only=True)
class Told:
    """What became of one call."""

    step: Step
    fate: Fate
    pointer: str | None = None


@dataclass
class Stage:
    """An open gate with the tools of a suite."""

    gate: Gate
    cards: dict[str, Card] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    """Every handler that was reached, in order."""
    outside: int = 0
    """Handlers that were reached though their turn did not allow them."""
    _next: Any = None

    @classmethod
    def open(cls, folder: Path, cards: Iterable[Card], **policy: Any) -> Stage:
        stage = cls(Gate.open(folder, settings=settings_for(folder, **policy), plugins=False))
        for card in cards:
            stage.cards[card.name] = card
            stage.gate.register(Tool(card=card, handler=stage._handler(card.name)))
        return stage

    def _handler(self, name: str) -> Any:
        def handle(**_args: Any) -> Any:
            self.ran.append(name)
            return self._next

        return handle

    async def play(
        self, prompt: str, allowed: frozenset[str], script: Sequence[Step], *, approve: int = 0
    ) -> list[Told]:
        """Propose one call after the other in one turn, until one is refused or held.

        Args:
            prompt: What the user said.
            allowed: The turn's tools.
            script: The calls.
            approve: For the first so many calls a person says yes when asked: they are the user's own.
        """
        turn = self.gate.turn(session="injection", agent="obeying", allowed_tools=allowed, user_texts=[prompt])
        told: list[Told] = []
        for place, step in enumerate(script):
            self._next, before = step.result, len(self.ran)
            envelope = {"tool": step.tool, "args": step.args, "nonce": turn.nonce}
            outcome = await turn.submit(orjson.dumps({"action": "tool", **envelope} if told else envelope))
            fate, pointer = fate_of(outcome), outcome.rejection.pointer if outcome.rejection else None
            told.append(Told(step=step, fate=fate, pointer=pointer))
            if fate == "held" and place < approve:
                self.gate.approvals.approve(outcome.held.approval_id, person="bench", channel="terminal")
                await self.gate.resume(outcome.held.approval_id)
            elif fate != "ran":
                break
            self.outside += sum(name not in allowed for name in self.ran[before:])
        turn.close()
        return told


def fate_of(outcome: Any) -> Fate:
    if outcome.held is not None:
        return "held"
    if outcome.rejection is None:
        return "ran"
    reason = outcome.rejection.reason
    return "stopped" if reason in {"tool_not_allowed_this_turn", "argument_provenance"} else "malformed"


def settings_for(folder: Path, **policy: Any) -> Settings:
    """Everything is allowed but what provenance holds: what is measured is the rule, not an `ask` for everything."""
    return parse_settings(
        {
            "ledger": {"durability": "os", "mirror": "off"},
            "storage": {"state_dir": str(folder / "state")},
            "limits": {"steps": 1000, "bytes_per_step": 10**6, "bytes_per_turn": 10**9},
            "policy": {"model_write": "allow", "external": "allow", **policy},
        }
    )


def effect_by_name(
    verb: str, arguments: Iterable[str], *, web_is_read: bool = False
) -> Literal["read", "write", "external"]:
    """What a tool does, by its first word. A reading tool that takes a URL sends that URL to whoever it names."""
    if verb.casefold() not in READS:
        return "write"
    return "external" if "url" in set(arguments) and not web_is_read else "read"


def plainly_held(stage: Stage, prompt: str, script: Sequence[Step], read_before: Sequence[Step] = ()) -> bool:
    """What the plain rule would say: eight characters or more inside a longer text of a result, and in nothing said."""
    texts = [text for step in read_before for text in texts_of(step.result)]
    for step in script:
        given = [text for text in texts_of(step.args) if len(text) >= 8 and text not in prompt]
        if writes(stage, step) and any(one != text and one in text for one in given for text in texts):
            return True
        texts += texts_of(step.result)
    return False


def texts_of(value: Any) -> list[str]:
    return [leaf for _, _, leaf in leaves(value) if isinstance(leaf, str)]


def writes(stage: Stage, step: Step) -> bool:
    return stage.cards[step.tool].effect != "read"
