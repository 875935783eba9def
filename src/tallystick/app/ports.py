"""The interface of an open workspace for the services in this package; `Gate` implements it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tallystick.agents.ports import AgentGate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Session
from tallystick.plugin import Room


class OpenGate(AgentGate, Protocol):
    """The agents' interface of an open workspace, plus its folder, rooms and blocking calls."""

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
