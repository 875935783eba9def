"""Opens issues and the agents' memory of them together, as configured in `[rooms.studio.issues]`."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from secrets import token_hex

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tallystick.records import record
from tallystick.rooms.studio.issues.memory import IssueMemory
from tallystick.rooms.studio.issues.memory_file import DEFAULT_FLOORS, HIGHEST, LOWEST
from tallystick.rooms.studio.issues.rules import DEFAULT_LIMITS, Limits
from tallystick.rooms.studio.issues.store import Issues


class IssueSettings(BaseModel):
    """`[rooms.studio.issues]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    comments_per_agent: int = Field(default=DEFAULT_LIMITS.comments_per_agent, ge=1)
    min_chars: int = Field(default=DEFAULT_LIMITS.min_chars, ge=1)
    ping_pong: int = Field(default=DEFAULT_LIMITS.ping_pong, ge=3)
    floors: dict[str, int] = Field(default_factory=lambda: dict(DEFAULT_FLOORS))
    """Tag → minimum interest, 1 to 5."""

    @field_validator("floors")
    @classmethod
    def _within_bounds(cls, floors: dict[str, int]) -> dict[str, int]:
        for tag, floor in floors.items():
            if not LOWEST <= floor <= HIGHEST:
                raise ValueError(f"'{tag}' is {LOWEST} to {HIGHEST}")
        return floors


@record
class IssueTracker:
    """The issues of a workspace, and its agents' memory of them."""

    issues: Issues
    memory: IssueMemory


def open_tracker(
    workspace: Path,
    settings: IssueSettings | None = None,
    *,
    now: Callable[[], str] | None = None,
    new_id: Callable[[str], str] | None = None,
) -> IssueTracker:
    """Open both.

    Args:
        workspace: The project's folder.
        settings: `[rooms.studio.issues]`; the defaults if not given.
        now: Gives the time, RFC 3339; the clock's if not given.
        new_id: Gives an id of a kind; a random one if not given.
    """
    settings = settings or IssueSettings()
    limits = Limits(
        comments_per_agent=settings.comments_per_agent, min_chars=settings.min_chars, ping_pong=settings.ping_pong
    )
    issues = Issues(workspace, now=now or _now, new_id=new_id or _new_id, limits=limits)
    return IssueTracker(issues=issues, memory=IssueMemory(workspace, issues, now=now or _now, floors=settings.floors))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _new_id(kind: str) -> str:
    return f"{kind}_{token_hex(12)}"


CHAT = "chat"
"""The tag of an issue that was made of a conversation."""
MOST_CHATS = 200
"""Latest conversations that are searched."""


def texts_of(issues: Issues, agent_id: str) -> Iterator[str]:
    """Texts an agent wrote: issues it opened, and its part of chats stored as issues."""
    headings = issues.matching()
    for heading in headings:
        if heading.opened_by == agent_id:
            yield f"{heading.title}\n{heading.summary}"
    chats = (each for each in headings if CHAT in each.tags and agent_id in each.summary)
    for heading in islice(chats, MOST_CHATS):
        issue = issues.get(heading.issue_id)
        for part in [] if issue is None else issue.body.split("\n\n## "):
            name, _, said = part.partition("\n\n")
            if name == agent_id:
                yield said
