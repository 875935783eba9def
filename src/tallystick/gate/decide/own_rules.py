"""A tool's own contribution to the decision about its calls."""

from collections.abc import Callable
from typing import Any

from tallystick.gate.decide.rules import is_stale, read_snapshot
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.tool import Card
from tallystick.records import record


@record
class OwnRules:
    """A room's rule, the snapshot it reads, and the secret arguments."""

    rule: Callable[..., Any] | None = None
    snapshot: Callable[[], Any] | None = None
    secrets: frozenset[str] = frozenset()
    """Names of secret arguments."""

    def stale(self, card: Card, decision: Decision) -> bool:
        """Whether a write was allowed on a snapshot that has changed since."""
        if self.snapshot is None or card.effect == "read" or decision.verdict != "allow":
            return False
        return is_stale(decision, read_snapshot(self.snapshot))


NO_RULES = OwnRules()
