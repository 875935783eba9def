"""What one agent remembers of one issue, and its JSON form."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from tallystick.agents.problem import Problem, misfit
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.records import record
from tallystick.rooms.studio.issues.decay import HIGHEST, LOWEST, floor_of, interest_after
from tallystick.rooms.studio.issues.wire import MAX_TAGS, NAMED, TAG


@record
class Recollection:
    """One agent, one issue."""

    issue_id: str
    interest: int
    """When the agent last had to do with it, 1 to 5."""
    touched: int
    """The agent's activations then."""
    level: int
    """The form that is kept, L1 to L5."""
    personal_tags: tuple[str, ...] = ()
    wake_at: int | None = None
    """Deferred until the agent has so many activations."""
    wake_time: str | None = None
    """Deferred until then, RFC 3339 in UTC."""
    reason: str = ""
    """Why it is deferred."""

    @property
    def deferred(self) -> bool:
        """Put off until later."""
        return self.wake_at is not None or self.wake_time is not None

    def due(self, activations: int, now: str) -> bool:
        """Whether it was put off until now or earlier."""
        by_count = self.wake_at is not None and activations >= self.wake_at
        return by_count or (self.wake_time is not None and now >= self.wake_time)

    def now(self, activations: int, *, tags: tuple[str, ...], floors: Mapping[str, int]) -> int:
        """What interest has come to.

        Args:
            activations: Of the agent until now.
            tags: Of the issue.
            floors: What interest does not fall below, by tag.
        """
        floor = floor_of((*tags, *self.personal_tags), floors)
        return interest_after(self.interest, activations - self.touched, floor=floor)

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**asdict(self), "personal_tags": list(self.personal_tags)}

    @classmethod
    def from_dict(cls, value: Any) -> "Recollection | Problem":
        """From the wire form."""
        problem = misfit(_schema(), value, code="memory_damaged", what="A recollection cannot be read")
        return problem or cls(**{**value, "personal_tags": tuple(value["personal_tags"])})


@record
class View:
    """A recollection as it stands now."""

    agent_id: str
    issue_id: str
    interest: int
    level: int
    personal_tags: tuple[str, ...]
    deferred: bool
    wake_in: int | None
    """Activations until it wakes."""
    wake_time: str | None
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {**asdict(self), "personal_tags": list(self.personal_tags)}


@cache
def _schema() -> CompiledSchema:
    level = {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST}
    count = {"type": "integer", "minimum": 0}
    properties: dict[str, Any] = {
        "issue_id": NAMED, "interest": level, "touched": count, "level": level,
        "personal_tags": {"type": "array", "items": TAG, "maxItems": MAX_TAGS},
        "wake_at": {"anyOf": [{"type": "null"}, count]},
        "wake_time": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 40}]},
        "reason": {"type": "string"},
    }  # fmt: skip
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)
