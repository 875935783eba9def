"""Whose word a proposal is: an agent's, that of whoever owns the workspace, or an authenticated caller's.

It decides what an observation weighs and what it is independent of, so it is part of what makes an observation that
observation. Were it not, whoever is first to record some words would decide what they weigh when somebody else says
them.
"""

from collections.abc import Collection

from tallystick.gate.role_names import OWNER_ROLE, PERSON_ROLE
from tallystick.gate.session import Session
from tallystick.records import record
from tallystick.rooms.memory.naming import agent_group, caller_group

MODELS_DOORS = frozenset({"mcp"})
"""Doors behind which a model stands even when no turn of ours is open."""
NAMELESS = "turn"
"""Whoever speaks in a turn and gives no name."""
ANOTHER = "another"
"""The mark of a caller who is neither an agent, nor a person, nor the owner."""


@record
class Speaker:
    """Who says something."""

    agent: str | None = None
    subject: str | None = None
    """The authenticated caller; None: the owner."""
    is_person: bool = True
    """The owner, or a caller whose token stands for one human being."""

    @property
    def is_program(self) -> bool:
        """Whether it is believed only so far: an agent, or a caller that is not known to be a person."""
        return self.agent is not None or not self.is_person

    @property
    def is_owner(self) -> bool:
        """The owner, in their own words."""
        return self.subject is None and self.agent is None

    @property
    def group(self) -> str | None:
        """The independence group of all that it reports; None: the owner answers for whom the sources are."""
        if self.subject is not None:
            return caller_group(self.subject)
        return None if self.agent is None else agent_group(self.agent)

    @property
    def mark(self) -> str:
        """What an observation's id holds of whose word it is; the owner leaves no mark."""
        if self.agent is not None:
            return agent_group(self.agent)
        if self.subject is None:
            return ""
        return caller_group(self.subject) if self.is_person else ANOTHER


OWNER = Speaker()


def speaker_in(session: Session | None) -> Speaker:
    """Who proposes a call; without surroundings it is tried out, by the owner."""
    if session is None:
        return OWNER
    caller = session.caller
    agent = agent_of(caller.channel, session.agent_id, in_turn=session.turn_id is not None)
    return speaker_of(agent, caller.subject, caller.roles)


def speaker_of(agent: str | None, subject: str, roles: Collection[str]) -> Speaker:
    """Who speaks, by the agent that is named and the caller that is authenticated."""
    if OWNER_ROLE in roles:
        return Speaker(agent=agent)
    return Speaker(agent=agent, subject=subject, is_person=PERSON_ROLE in roles)


def agent_of(channel: str, named: str | None, *, in_turn: bool) -> str | None:
    """Whose word it is, if a model's."""
    if named is None and in_turn:
        # Not by the turn: who opens another one is no other agent.
        named = NAMELESS
    return named or (channel if channel in MODELS_DOORS else None)
