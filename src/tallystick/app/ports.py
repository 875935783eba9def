"""The open workspace as the services in this package see it; `Gate` satisfies it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tallystick.agents.ports import AgentGate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.plugin import Room


class OpenGate(AgentGate, Protocol):
    """What agents use of an open workspace, and its folder, rooms and blocking calls besides."""

    @property
    def workspace(self) -> Path:
        """The project's folder."""
        ...

    def rooms(self) -> Mapping[str, Room]:
        """All open rooms, by name."""
        ...

    def call_sync(
        self,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        session: str | Session,
        allowed_tools: frozenset[str] | None = None,
    ) -> Outcome:
        """Propose one call and wait for its outcome."""
        ...
