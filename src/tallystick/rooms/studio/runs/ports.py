"""What a run needs of the room besides the gate: the book's files, the room's own actions, patches, notifications."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from tallystick.agents.problem import Problem
from tallystick.gate.session import Caller
from tallystick.records import record

Level = Literal["info", "warn", "error"]

Action = Callable[[Mapping[str, Any]], Any]
"""From its arguments to what it gives; the second time it changes nothing more. It raises `TallyError` if it cannot."""


class Patches(Protocol):
    """Where an agent's draft goes: a proposal that a person applies or rejects."""

    def __call__(self, path: str, text: str, *, by: str, key: str) -> Mapping[str, Any] | Problem:
        """Propose a file's new text, once for the key; gives what identifies the proposal."""
        ...


class Notify(Protocol):
    """Tells a person."""

    def __call__(self, *, level: Level, text: str, run_id: str) -> None:
        """Tell how a run ended."""
        ...


@record
class Surroundings:
    """The room around a run."""

    book: Callable[[], dict[str, Any]]
    """`scenes` and `cards` (paths, in reading order) and `outline` (a path or null), as they are now."""
    exists: Callable[[str], bool]
    """Whether a file of the workspace is there."""
    actions: Mapping[str, Action]
    patches: Patches
    notify: Notify
    now: Callable[[], str]
    """RFC 3339."""


def caller_of(document: Mapping[str, Any]) -> Caller:
    """On whose behalf a run's steps are done: whoever started it, by way of a worker."""
    given = document["caller"]
    return Caller(subject=given["subject"], roles=frozenset(given["roles"]), channel="worker")
