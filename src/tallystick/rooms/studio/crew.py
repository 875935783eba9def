"""The agents of a workspace, as the router needs them."""

from pathlib import Path

from tallystick.errors import ConfigError, ToolError
from tallystick.storage.agents import Registry
from tallystick.turns.agent import Agent


def crew_of(workspace: Path) -> tuple[Agent, ...]:
    """The agents that are switched on now.

    Raises:
        ToolError: The registry is damaged; the message says where.
    """
    try:
        return Registry(workspace).list(enabled_only=True)
    except ConfigError as damaged:
        raise ToolError(str(damaged), hint="Repair or remove the agents file.") from None
