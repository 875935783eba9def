"""What a tool brings of its own to the decision about its calls."""

from collections.abc import Callable
from typing import Any

from tallystick.gate.decide.rules import is_stale, read_snapshot
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.tool import Card
from tallystick.records import record


@record
class OwnRules:
    """A room's rule with what it reads, and which arguments are secret."""

    rule: Callable[..., Any] | None = None
    snapshot: Callable[[], Any] | None = None
    secrets: frozenset[str] = frozenset()
    """Argument names that are secret."""

    def stale(self, card: Card, decision: Decision) -> bool:
        """Whether a write was let through by what the room no longer says."""
        if self.snapshot is None or card.effect == "read" or decision.verdict != "allow":
            return False
        return is_stale(decision, read_snapshot(self.snapshot))


NO_RULES = OwnRules()
