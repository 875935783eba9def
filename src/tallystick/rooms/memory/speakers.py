"""Whose word a proposal is: an agent's, that of whoever owns the workspace, or another caller's.

It decides what an observation weighs, so it is part of what makes an observation that observation. Were it not, whoever
is first to record some words would decide what they weigh when somebody else says them.
"""

from tallystick.gate.role_names import OWNER_ROLE
from tallystick.gate.session import Session
from tallystick.records import record
from tallystick.rooms.memory.naming import agent_group

MODELS_DOORS = frozenset({"mcp"})
"""Doors behind which a model stands even when no turn of ours is open."""
NAMELESS = "turn"
"""Whoever speaks in a turn and gives no name."""
ANOTHER = "another"
"""A caller who is neither an agent nor the owner."""


@record
class Speaker:
    """Who says something."""

    agent: str | None = None
    by_owner: bool = True

    @property
    def mark(self) -> str:
        """What an observation's id holds of him."""
        return mark_of(self.agent, by_owner=self.by_owner)


OWNER = Speaker()


def mark_of(agent: str | None, *, by_owner: bool) -> str:
    """What an observation's id holds of whose word it is; the owner leaves no mark."""
    if agent is not None:
        return agent_group(agent)
    return "" if by_owner else ANOTHER


def speaker_in(session: Session | None) -> Speaker:
    """Who proposes a call; without surroundings it is tried out, by the owner."""
    if session is None:
        return OWNER
    agent = agent_of(session.caller.channel, session.agent_id, in_turn=session.turn_id is not None)
    return Speaker(agent=agent, by_owner=OWNER_ROLE in session.caller.roles)


def agent_of(channel: str, named: str | None, *, in_turn: bool) -> str | None:
    """Whose word it is, if a model's."""
    if named is None and in_turn:
        # Not by the turn: who opens another one is no other agent.
        named = NAMELESS
    return named or (channel if channel in MODELS_DOORS else None)
