"""What one agent remembers of issues, on disk, and how its interest decays.

Decay is counted in activations of the agent, not in days: an agent that runs once a month should not have forgotten
everything by then, and one that runs a hundred times a day should not remember everything.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from tallystick.agents.problem import Problem, misfit
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.records import record
from tallystick.rooms.studio.issues.wire import MAX_TAGS, NAMED, TAG
from tallystick.storage.journal.disk import make_folder
from tallystick.storage.json_file import JsonFile

LOWEST, HIGHEST = 1, 5
STEPS: tuple[tuple[int, int], ...] = ((30, 4), (60, 3), (120, 2), (200, 1))
"""After so many activations without touching the issue, interest is at most this."""
DEFAULT_FLOORS: Mapping[str, int] = {"pinned": 5, "blocker": 4, "canon": 3, "decision": 3, "continuity": 2}
"""Tag → minimum interest."""


def interest_after(interest: int, activations: int, *, floor: int = LOWEST) -> int:
    """The current interest.

    Args:
        interest: When the issue was last touched, 1 to 5.
        activations: Of the agent since then.
        floor: What it does not fall below by itself; less interest than that was somebody's wish, and stays.
    """
    most = min((level for after, level in STEPS if activations >= after), default=HIGHEST)
    return min(interest, max(floor, most))


def floor_of(tags: Iterable[str], floors: Mapping[str, int] = DEFAULT_FLOORS) -> int:
    """The highest minimum of the tags."""
    return max((floors[tag] for tag in tags if tag in floors), default=LOWEST)


@record
class Recollection:
    """One agent, one issue."""

    issue_id: str
    interest: int
    """When the agent last had to do with it, 1 to 5."""
    touched: int
    """The agent's activations then."""
    level: int
    """The stored form, L1 to L5."""
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
        """The current interest.

        Args:
            activations: Of the agent until now.
            tags: Of the issue.
            floors: What interest does not fall below, by tag.
        """
        floor = floor_of((*tags, *self.personal_tags), floors)
        return interest_after(self.interest, activations - self.touched, floor=floor)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
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
        """The JSON form."""
        return {**asdict(self), "personal_tags": list(self.personal_tags)}


@cache
def _schema() -> CompiledSchema:
    level = {"type": "integer", "minimum": LOWEST, "maximum": HIGHEST}
    count = {"type": "integer", "minimum": 0}
    properties: dict[str, Any] = {
        "issue_id": NAMED,
        "interest": level,
        "touched": count,
        "level": level,
        "personal_tags": {"type": "array", "items": TAG, "maxItems": MAX_TAGS},
        "wake_at": {"anyOf": [{"type": "null"}, count]},
        "wake_time": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 40}]},
        "reason": {"type": "string"},
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)


CODE = "memory_damaged"


@record
class AgentMemory:
    """One agent's memory."""

    activations: int = 0
    issues: Mapping[str, Recollection]

    def having(self, *kept: Recollection) -> "AgentMemory":
        """With these as they are now."""
        return AgentMemory(
            activations=self.activations, issues={**self.issues, **{each.issue_id: each for each in kept}}
        )


class AgentMemoryFile:
    """The files of one agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = JsonFile(folder / "interests.json", code=CODE)

    def locked(self) -> AbstractContextManager[None]:
        """Around reading and writing."""
        return self._file.locked()

    def load(self) -> AgentMemory:
        """All of it.

        Raises:
            ConfigError: `memory_damaged`; the file stays as it is.
        """
        found = self._file.read()
        if found is None:
            return AgentMemory(issues={})
        activations, listed = found.get("activations"), found.get("issues")
        if type(activations) is not int or activations < 0 or not isinstance(listed, list):
            raise self._file.damaged("it holds 'activations' (a number) and the list 'issues'")
        issues: dict[str, Recollection] = {}
        for place, value in enumerate(listed):
            recollection = Recollection.from_dict(value)
            if isinstance(recollection, Problem):
                raise self._file.damaged(f"/issues/{place}{recollection.pointer}: {recollection.message}")
            issues[recollection.issue_id] = recollection
        return AgentMemory(activations=activations, issues=issues)

    def save(self, mind: AgentMemory) -> None:
        """Put another in its place; only while locked."""
        listed = [each.as_dict() for each in mind.issues.values()]
        self._file.write({"activations": mind.activations, "issues": listed})

    def words(self, issue_id: str) -> dict[str, Any] | None:
        """The stored form of an issue, or None."""
        return self._form(issue_id).read()

    def keep_words(self, issue_id: str, words: Mapping[str, Any]) -> None:
        """Keep another form of an issue; only while locked."""
        make_folder(self._folder)
        self._form(issue_id).write({"issue_id": issue_id, **words})

    def _form(self, issue_id: str) -> JsonFile:
        return JsonFile(self._folder / f"{issue_id}.json", code=CODE)
